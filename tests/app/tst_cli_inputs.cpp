#include "tests/core/frontend/wire_writer.h"
#include "tests/support/command_line.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <cstring>

namespace tst_cli_inputs {

namespace {

constexpr auto kBfloat16 = static_cast<wire::DataType>(16);

/// A vocabulary of five, a mask as transformers have it, and a tensor of bfloat16.
wire::Model smallVocabulary()
{
    wire::Model model;
    model.inputs = {wire::info("ids", {2, 3}, wire::Int64), wire::info("mask", {2, 3}, wire::Int64),
                    wire::info("brain", {2, 2}, kBfloat16)};
    std::vector<float> table;
    for (int i = 0; i < 20; ++i)
        table.push_back(0.25F * static_cast<float>(i) - 2);
    model.initializers = {wire::tensor("table", wire::Float, {5, 4}, wire::floats(table)),
                          wire::tensor("one", wire::Float, {}, wire::floats({1})),
                          wire::tensor("far", wire::Float, {}, wire::floats({-1e9F}))};
    model.nodes = {wire::node("Gather", {"table", "ids"}, {"rows"}, "rows"),
                   wire::node("Cast", {"mask"}, {"m"}, "m", wire::intAttribute("to", wire::Float)),
                   wire::node("Sub", {"one", "m"}, {"off"}, "off"),
                   wire::node("Mul", {"off", "far"}, {"added"}, "added"),
                   wire::node("Add", {"brain", "brain"}, {"twice"}, "twice")};
    model.outputs = {wire::info("rows", {}), wire::info("added", {}), wire::info("twice", {}, kBfloat16)};
    return model;
}

template<typename T>
QByteArray npy(const char* descr, const char* shape, const std::vector<T>& values)
{
    QByteArray file("\x93NUMPY\x01\x00\x76\x00", 10);
    file += (QByteArray("{'descr': '") + descr + "', 'fortran_order': False, 'shape': " + shape + ", }")
                .leftJustified(117, ' ')
            + '\n';
    return file
           + QByteArray(reinterpret_cast<const char*>(values.data()),
                        static_cast<qsizetype>(values.size() * sizeof(T)));
}

} // namespace

/// What networks are checked, timed and run on.
class TestCliInputs : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    using Output = lathe::test::CliOutput;
    Output cli(const QStringList& words) const { return lathe::test::runCli(m_dir.path(), words); }
    static const QJsonObject object(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }
    void put(const QString& name, const QByteArray& bytes) const
    {
        QFile file(m_dir.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
    }
    QByteArray get(const QString& name) const
    {
        QFile file(m_dir.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private slots:
    void initTestCase()
    {
        const std::string model = smallVocabulary().write();
        put("small.onnx", QByteArray(model.data(), static_cast<qsizetype>(model.size())));
        put("ids.npy", npy<std::int64_t>("<i8", "(2, 3)", {4, 3, 2, 1, 0, 4}));
        put("mask.npy", npy<std::int64_t>("<i8", "(2, 3)", {1, 1, 0, 1, 0, 0}));
        put("brain.npy", npy<std::uint16_t>("<u2", "(2, 2)", {0x3f80, 0xc000, 0x4048, 0x7f80})); // 1, -2, 3.125, inf
        put("wrong.npy", npy<std::int64_t>("<i8", "(2, 3)", {4, 3, 2, 1, 0, 5}));
        const Output compiled = cli(
            {"compile", "small.onnx", "--allow-default", "--no-bench", "-o", "libsmall.so", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        const QJsonObject report = object(compiled.out);
        QVERIFY2(!report.contains("not_verified"), compiled.out);
        QVERIFY(report["max_rel_error"].isDouble());
    }

    void theDescriptionTellsWhatSuits()
    {
        const QJsonArray inputs = object(get("small.json"))["inputs"].toArray();
        QCOMPARE(inputs[0]["range"].toArray(), (QJsonArray{0, 4}));
        QCOMPARE(inputs[1]["range"].toArray(), (QJsonArray{0, 1}));
        QVERIFY(!inputs[2].toObject().contains("range"));
        QCOMPARE(inputs[2]["dtype"].toString(), QString("bfloat16"));
        QCOMPARE(inputs[2]["npy_dtype"].toString(), QString("uint16"));
        QVERIFY(!inputs[0].toObject().contains("npy_dtype"));
    }

    void severalKindsAreVerified()
    {
        const auto kinds = [this](const QStringList& more) {
            const Output verified = cli(QStringList{"verify", "libsmall.so", "--json"} + more);
            QStringList words;
            for (const QJsonValue& kind : object(verified.out)["inputs"].toArray()) {
                words << kind["kind"].toString();
                if (!kind["passed"].toBool())
                    words << verified.out;
            }
            return words.join(' ') + verified.err;
        };
        QCOMPARE(kinds({}), "normal large zeros integers");
        QCOMPARE(kinds({"--inputs", "all"}), "normal large zeros integers nan");
        QCOMPARE(kinds({"--inputs", "nan,zeros"}), "nan zeros");
        QCOMPARE(kinds({"--input", "ids=ids.npy", "--input", "mask=mask.npy", "--input", "brain=brain.npy"}), "given");
        const Output unknown = cli({"verify", "libsmall.so", "--inputs", "odd"});
        QVERIFY(unknown.code != 0);
        QVERIFY2(unknown.err.contains("--inputs"), unknown.err);
    }

    void valuesOfAPersonAreUsed()
    {
        const Output compiled = cli(
            {"compile", "small.onnx", "--allow-default", "--input", "ids=ids.npy", "-o", "libgiven.so", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        QVERIFY(object(compiled.out)["max_rel_error"].isDouble());
        // What the reference executor refuses is an error where somebody gave it.
        const Output refused = cli({"compile", "small.onnx", "--allow-default", "--no-bench", "--input",
                                    "ids=wrong.npy", "--input", "mask=mask.npy", "--input", "brain=brain.npy", "-o",
                                    "libwrong.so"});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains("index 5 is outside of the 5 entries"), refused.err);
        const Output timed = cli({"bench", "libsmall.so", "--input", "ids=ids.npy", "--repeat", "3", "--json"});
        QVERIFY2(timed.code == 0, timed.err);
        for (const char* command : {"compile", "bench", "verify"}) {
            QStringList words = {command, "small.onnx", "--input", "nothing=ids.npy"};
            if (words[0] == "compile")
                words += {"--allow-default", "-o", "libno.so"};
            const Output named = cli(words);
            QCOMPARE(named.code, 1);
            QCOMPARE(named.err,
                     QByteArray("lathe-cli: the network has no input named nothing; it has ids, mask, brain\n"));
        }
        QVERIFY(!QFile::exists(m_dir.filePath("libno.so")));
    }

    void brainFloatsAreReadAndWritten()
    {
        const Output ran = cli({"run", "libsmall.so", "--input", "ids=ids.npy", "--input", "mask=mask.npy", "--input",
                                "brain=brain.npy", "--output", "out", "--json"});
        QVERIFY2(ran.code == 0, ran.err);
        QCOMPARE(object(ran.out)["outputs"][2]["dtype"].toString(), QString("bfloat16"));
        QCOMPARE(object(ran.out)["outputs"][2]["npy_dtype"].toString(), QString("uint16"));
        const QByteArray twice = get("out/twice.npy");
        QVERIFY(twice.contains("'<u2'"));
        const std::uint16_t expected[] = {0x4000, 0xc080, 0x40c8, 0x7f80};
        QCOMPARE(twice.last(8), QByteArray(reinterpret_cast<const char*>(expected), 8));
        // As a folder to compare with, beside what went in.
        for (const char* name : {"ids.npy", "mask.npy", "brain.npy"})
            put(QString("out/") + name, get(name));
        const Output compared = cli({"verify", "libsmall.so", "--reference", "out"});
        QVERIFY2(compared.code == 0, compared.err);
        put("out/twice.npy", twice.chopped(2) + QByteArray("\x00\x40", 2));
        QVERIFY2(cli({"verify", "libsmall.so", "--reference", "out"}).err.contains("'twice' differs"), "");
    }

    void aFolderToCompareWithHasOutputsOfTheirTrueSize()
    {
        wire::Model model{{wire::node("NonZero", {"x"}, {"p"}, "p")}, {}, {wire::info("x", {2, 3})}, {}, 17};
        model.outputs = {wire::info("p", {}, wire::Int64)};
        const std::string bytes = model.write();
        put("pick.onnx", QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())));
        put("x.npy", npy<float>("<f4", "(2, 3)", {0, 1, 0, 0, 0, 5}));
        const Output compiled = cli({"compile", "pick.onnx", "--allow-default", "--no-bench", "-o", "libpick.so"});
        QVERIFY2(compiled.code == 0, compiled.err);
        const Output ran = cli({"run", "libpick.so", "--input", "x=x.npy", "--output", "picked"});
        QVERIFY2(ran.code == 0, ran.err);
        put("picked/x.npy", get("x.npy"));
        const Output compared = cli({"verify", "libpick.so", "--reference", "picked"});
        QVERIFY2(compared.code == 0, compared.err);
        put("picked/p.npy", npy<std::int64_t>("<i8", "(2, 1)", {0, 1}));
        QCOMPARE(cli({"verify", "libpick.so", "--reference", "picked"}).code, 1);
    }
};

LATHE_TEST_GUILESS(TestCliInputs)

} // namespace tst_cli_inputs

#include "tst_cli_inputs.moc"
