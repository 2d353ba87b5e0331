#include "core/frontend/onnx.h"
#include "core/support/message.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_open_dimensions {

using namespace lathe;
using frontend::ImportOptions;
using frontend::OpenDimension;
using frontend::OpenInputs;
using test::must;

namespace {

using Shape = std::vector<std::int64_t>;

std::filesystem::path kind(const char* name)
{
    return std::filesystem::path(LATHE_TEST_DATA "/kinds") / (std::string(name) + ".onnx");
}

/// "height: height, 224, images 2; width: ..."
QString written(const OpenInputs& open)
{
    QStringList rows;
    for (const OpenDimension& dimension : open.dimensions) {
        QString row = QString("%1: %2, %3")
                          .arg(QString::fromStdString(dimension.name),
                               QString::fromUtf8(toString(dimension.role).data(),
                                                 static_cast<int>(toString(dimension.role).size())),
                               QString::number(dimension.guess));
        for (const OpenDimension::Place& place : dimension.places)
            row += QString(", %1 %2").arg(QString::fromStdString(place.input)).arg(place.axis);
        rows << row;
    }
    for (const std::string& input : open.shapeless)
        rows << QString::fromStdString("shape of " + input);
    return rows.join("; ");
}

Result<graph::Graph> imported(const char* name, std::vector<std::pair<std::string, std::int64_t>> sizes)
{
    ImportOptions options;
    options.sizes = std::move(sizes);
    return importOnnx(kind(name), options);
}

QString refusal(const Result<graph::Graph>& result)
{
    return result ? QString("none")
                  : QString::fromStdString(std::string(toString(result.error().code)) + ": " + result.error().message);
}

} // namespace

/// What models leave open, and how it is said.
class TestOpenDimensions : public QObject
{
    Q_OBJECT

private slots:
    void whatIsOpenIsReadWithAGuess_data()
    {
        QTest::addColumn<QString>("open");
        QTest::newRow("images_by_name") << "batch: batch, 1, images 0; height: height, 224, images 2; "
                                           "width: width, 224, images 3";
        QTest::newRow("images_by_number") << "images:0: batch, 1, images 0; images:2: height, 224, images 2; "
                                             "images:3: width, 224, images 3";
        QTest::newRow("images_batch") << "N: batch, 1, images 0";
        QTest::newRow("images_nhwc") << "unk__1: batch, 1, images 0; unk__2: height, 224, images 1; "
                                        "unk__3: width, 224, images 2";
        QTest::newRow("texts") << "batch_size: batch, 1, input_ids 0, attention_mask 0; "
                                  "sequence_length: sequence, 128, input_ids 1, attention_mask 1";
        QTest::newRow("frames") << "time: frames, 100, mel 2";
        QTest::newRow("volume") << "N: batch, 1, scan 0; D: depth, 16, scan 2; H: height, 112, scan 3; "
                                   "W: width, 112, scan 4";
        QTest::newRow("no_shape") << "shape of x";
        QTest::newRow("unsupported") << "";
    }
    void whatIsOpenIsReadWithAGuess()
    {
        QFETCH(QString, open);
        QCOMPARE(written(must(frontend::readOpenInputs(kind(QTest::currentDataTag())))), open);
    }

    void sizesByNameSetEveryInputThatHasThem()
    {
        const auto images = imported("images_by_name", {{"height", 64}, {"width", 96}});
        QVERIFY2(images, qPrintable(refusal(images)));
        QCOMPARE(images->value(images->inputs[0]).shape, (Shape{1, 3, 64, 96}));
        const auto texts = imported("texts", {{"sequence_length", 7}, {"batch_size", 2}});
        QVERIFY2(texts, qPrintable(refusal(texts)));
        QCOMPARE(texts->value(texts->inputs[0]).shape, (Shape{2, 7}));
        QCOMPARE(texts->value(texts->inputs[1]).shape, (Shape{2, 7}));
        const auto numbers = imported("images_by_number", {{"images:2", 32}, {"images:3", 48}, {"images:0", 2}});
        QVERIFY2(numbers, qPrintable(refusal(numbers)));
        QCOMPARE(numbers->value(numbers->inputs[0]).shape, (Shape{2, 3, 32, 48}));
    }

    void theSizesThatWereUsedAreTold()
    {
        std::vector<OpenDimension> used;
        ImportOptions options;
        options.sizes = {{"width", 96}};
        options.shapes["images"] = {4, 3, 64, 96}; // says the same of the width
        options.dimensions = &used;
        QVERIFY(importOnnx(kind("images_by_name"), options));
        QCOMPARE(frontend::sizesOf(used),
                 (std::vector<std::pair<std::string, std::int64_t>>{{"batch", 4}, {"height", 64}, {"width", 96}}));
    }

    void oneErrorNamesAllThatIsStillOpen()
    {
        const auto all = imported("images_by_name", {});
        QVERIFY(!all);
        const QString text = refusal(all);
        for (const char* part : {"InvalidArgument", "height (dimension 2 of input \"images\")",
                                 "width (dimension 3 of input \"images\")", "--dim NAME=N"})
            QVERIFY2(text.contains(part), qPrintable(text + " lacks " + part));
        QVERIFY2(!text.contains("batch"), qPrintable(text)); // is 1
        QVERIFY(all.error().about != nullptr && all.error().about->id == Msg::Noted);
        const QString rest = refusal(imported("images_by_name", {{"height", 64}}));
        QVERIFY2(rest.contains("width") && !rest.contains("height"), qPrintable(rest));
        const QString shared = refusal(imported("texts", {}));
        QVERIFY2(shared.contains("sequence_length (dimension 1 of input \"input_ids\", and elsewhere)"),
                 qPrintable(shared));
        QVERIFY(refusal(imported("no_shape", {})).contains("--shape"));
    }

    void whatIsUnknownOrContradictsItselfIsRefused()
    {
        const QString unknown = refusal(imported("images_by_name", {{"length", 64}}));
        QVERIFY2(unknown.startsWith("InvalidArgument") && unknown.contains("\"length\"")
                     && unknown.contains("\"height\", \"width\""),
                 qPrintable(unknown));
        QVERIFY(refusal(imported("unsupported", {{"length", 64}})).contains("fixed"));
        const QString twice = refusal(imported("images_by_name", {{"height", 64}, {"height", 65}, {"width", 1}}));
        QVERIFY2(twice.contains("height is set both to 64 and to 65"), qPrintable(twice));
        ImportOptions options;
        options.shapes["images"] = {1, 3, 64, 64};
        options.sizes = {{"width", 96}};
        QVERIFY(refusal(importOnnx(kind("images_by_name"), options)).contains("width is set both to 64 and to 96"));
        options.sizes.clear();
        options.batch = 2;
        QVERIFY(refusal(importOnnx(kind("images_by_name"), options)).contains("batch is set both to 1 and to 2"));
        QVERIFY(refusal(imported("images_by_name", {{"height", std::int64_t{1} << 40}, {"width", 1}}))
                    .startsWith("InvalidArgument"));
    }

    void filesThatAreNoModelsAreRefused()
    {
        const auto folder = frontend::readOpenInputs(LATHE_TEST_DATA "/kinds/make_kinds.py");
        QVERIFY(!folder && folder.error().code == Errc::BadFile);
        QVERIFY(frontend::readOpenInputs("/nowhere/model.onnx").error().code == Errc::NotFound);
    }
};

LATHE_TEST(TestOpenDimensions)

} // namespace tst_open_dimensions

#include "tst_open_dimensions.moc"
