#include "core/graph/plan/conversion.h"
#include "core/graph/plan/layout.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>

namespace tst_layouts {

using namespace lathe;
using namespace lathe::graph::plan;
using Shape = std::vector<std::int64_t>;

namespace {

Layout layout(const char* text)
{
    auto parsed = Layout::parse(text);
    if (!parsed)
        qFatal("%s", parsed.error().message.c_str());
    return *std::move(parsed);
}

/// Index maps as texts: "{dim,div,extent,stride}" by axis.
QString axesOf(const IndexMap& map)
{
    QStringList axes;
    for (int i = 0; i < map.physicalRank; ++i) {
        const IndexMap::Axis& a = map.axes[i];
        axes << QString("{%1,%2,%3,%4}").arg(a.dim).arg(a.div).arg(a.extent).arg(a.stride);
    }
    return axes.join(' ');
}

Conversion conversion(const Shape& shape, const char* from, const char* to)
{
    return {shape, "NCHW", DType::F32, layout(from), layout(to)};
}

} // namespace

class TestLayouts : public QObject
{
    Q_OBJECT

private slots:
    void textsAreReadAndWritten_data();
    void textsAreReadAndWritten();
    void whatIsNoLayoutIsRefused_data();
    void whatIsNoLayoutIsRefused();
    void indexMapsSayWhereElementsLie_data();
    void indexMapsSayWhereElementsLie();
    void aLayoutOfOtherDimensionsIsRefused();
    void theReferencesLayoutsOfAConvolution();
    void aTileMustDivideTheChannels();
    void equalConversionsAreOne();
    void aTableKnowsWhatItHas();
    void estimatesGrowWithTheElements();
};

void TestLayouts::textsAreReadAndWritten_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("channelBlock");
    QTest::newRow("plain") << "NCHW" << 1;
    QTest::newRow("channels last") << "NHWC" << 1;
    QTest::newRow("blocked") << "NCHW16c" << 16;
    QTest::newRow("weights") << "OIHW16i8o" << 1;
    QTest::newRow("a block in a block") << "NCHW4n16c4c" << 64;
}

void TestLayouts::textsAreReadAndWritten()
{
    QFETCH(const QString, text);
    QFETCH(const int, channelBlock);
    const Layout read = layout(qPrintable(text));
    QCOMPARE(QString::fromStdString(read.text()), text);
    QCOMPARE(read.blockOf('C'), channelBlock);
    QCOMPARE(read == Layout::plain(read.axes), read.blocks.empty());
}

void TestLayouts::whatIsNoLayoutIsRefused_data()
{
    QTest::addColumn<QString>("text");
    for (const char* text : {"", "16c", "nchw", "NCHC", "NCHW16", "NCHWc", "NCHW0c", "NCHW016c", "NCHW16C", "NCHW16d",
                             "NCHW-16c", "NCHW16c ", "NCHW1048577c", "NCHW99999999999999999999c", "N HW"})
        QTest::newRow(text) << text;
}

void TestLayouts::whatIsNoLayoutIsRefused()
{
    QFETCH(const QString, text);
    const auto read = Layout::parse(text.toStdString());
    QVERIFY(!read);
    QVERIFY(read.error().code == Errc::InvalidArgument);
    QVERIFY(read.error().message.starts_with("'" + text.toStdString() + "'"));
}

void TestLayouts::indexMapsSayWhereElementsLie_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("order");
    QTest::addColumn<QVector<qint64>>("shape");
    QTest::addColumn<QString>("axes");
    QTest::newRow("plain") << "NCHW"
                           << "NCHW" << QVector<qint64>{1, 20, 7, 5} << "{0,1,1,700} {1,1,20,35} {2,1,7,5} {3,1,5,1}";
    // The example of index_map.h: channels 20 to 31 are filled up.
    QTest::newRow("blocked") << "NCHW16c"
                             << "NCHW" << QVector<qint64>{1, 20, 7, 7}
                             << "{0,1,1,1568} {1,16,2,784} {2,1,7,112} {3,1,7,16} {1,1,16,1}";
    QTest::newRow("blocked, of a graph with channels last")
        << "NCHW16c"
        << "NHWC" << QVector<qint64>{1, 7, 7, 20} << "{0,1,1,1568} {3,16,2,784} {1,1,7,112} {2,1,7,16} {3,1,16,1}";
    QTest::newRow("a block in a block") << "CN4c2c"
                                        << "NC" << QVector<qint64>{3, 16} << "{1,8,2,24} {0,1,3,8} {1,2,4,2} {1,1,2,1}";
}

void TestLayouts::indexMapsSayWhereElementsLie()
{
    QFETCH(const QString, text);
    QFETCH(const QString, order);
    QFETCH(const QVector<qint64>, shape);
    QFETCH(const QString, axes);
    const auto map = indexMapOf(layout(qPrintable(text)), order.toStdString(), Shape(shape.begin(), shape.end()));
    QVERIFY(map);
    QCOMPARE(axesOf(*map), axes);
    QCOMPARE(map->logicalRank, static_cast<int>(shape.size()));
    QCOMPARE(map->isPlain(), text == order);
}

void TestLayouts::aLayoutOfOtherDimensionsIsRefused()
{
    const Shape image{1, 8, 4, 4};
    QVERIFY(!indexMapOf(layout("NCW"), "NCHW", image));
    QVERIFY(!indexMapOf(layout("NCDW"), "NCHW", image));
    QVERIFY(!indexMapOf(layout("NCHW"), "NCHW", Shape{1, 8, 4}));
    QVERIFY(!indexMapOf(layout("ABCDEFGHI"), "ABCDEFGHI", Shape(9, 1)));
    QVERIFY(indexMapOf(layout("NCW"), "NCHW", image).error().code == Errc::InvalidArgument);
}

void TestLayouts::theReferencesLayoutsOfAConvolution()
{
    // autotvm.md 18, 3: a convolution from 64 to 128 channels, stride 2, tile_ic 16 and tile_oc 32.
    const auto layouts = inferLayouts("NCHW", Shape{1, 64, 56, 56}, Shape{1, 128, 28, 28}, 16, 32);
    QVERIFY(layouts);
    QCOMPARE(layouts->input.shape, (Shape{1, 4, 56, 56, 16}));
    QCOMPARE(layouts->input.layout.text(), std::string("NCHW16c"));
    QCOMPARE(layouts->output.shape, (Shape{1, 4, 28, 28, 32}));
    QCOMPARE(layouts->output.layout.text(), std::string("NCHW32c"));
}

void TestLayouts::aTileMustDivideTheChannels()
{
    const Shape image{1, 64, 56, 56};
    for (const std::int64_t tile : {0, -16, 24})
        QVERIFY(inferLayouts("NCHW", image, image, tile, 32).error().code == Errc::InvalidArgument);
    QVERIFY(!inferLayouts("NCHW", image, image, 16, 24));
    QVERIFY(!inferLayouts("NCHW", Shape{64}, image, 16, 16));
}

void TestLayouts::equalConversionsAreOne()
{
    const Conversion one = conversion({1, 64, 7, 7}, "NCHW16c", "NCHW");
    QVERIFY(one == conversion({1, 64, 7, 7}, "NCHW16c", "NCHW"));
    ConversionTable table;
    for (const Conversion& c :
         {one, conversion({1, 32, 7, 7}, "NCHW16c", "NCHW"), conversion({1, 64, 7, 7}, "NCHW8c", "NCHW"),
          conversion({1, 64, 7, 7}, "NCHW", "NCHW16c")})
        table[c] = 1;
    Conversion half = one;
    half.dtype = DType::F16;
    table[half] = 1;
    QCOMPARE(table.size(), std::size_t{5});
    QCOMPARE(QString::fromStdString(textOf(one)), QString("float32[1, 64, 7, 7] of NCHW from NCHW16c to NCHW"));
}

void TestLayouts::aTableKnowsWhatItHas()
{
    const Conversion one = conversion({1, 64, 7, 7}, "NCHW16c", "NCHW");
    const ConversionCost cost = costFrom({{one, 0.25}});
    QCOMPARE(cost(one), 0.25);
    QVERIFY(std::isnan(cost(conversion({1, 64, 7, 7}, "NCHW", "NCHW16c"))));
}

void TestLayouts::estimatesGrowWithTheElements()
{
    const Conversion measured = conversion({1, 32, 2, 2}, "NCHW16c", "NCHW"); // 128 elements
    const Conversion other = conversion({1, 32, 4, 2}, "NCHW", "NCHW16c"); // 256
    const Conversion failed = conversion({1, 32, 8, 8}, "NCHW", "NCHW16c");
    const double never = std::numeric_limits<double>::infinity();
    const ConversionCost cost = estimateFrom({{measured, 1.0}, {other, 5.0}, {failed, never}});
    QCOMPARE(cost(measured), 1.0);
    QCOMPARE(cost(failed), never);
    // 6 s of 384 elements.
    QCOMPARE(cost(conversion({1, 64, 1, 1}, "NCHW", "NCHW16c")), 1.0);
    // 20 channels fill two blocks of 16, whichever side they are on.
    QCOMPARE(cost(conversion({1, 20, 2, 1}, "NCHW", "NCHW16c")), 1.0);
    QCOMPARE(cost(conversion({1, 20, 2, 1}, "NCHW16c", "NCHW")), 1.0);
    QVERIFY(std::isnan(estimateFrom({})(measured)));
    QVERIFY(std::isnan(cost(conversion({1, 20}, "NCHW16c", "NCHW"))));
}

LATHE_TEST(TestLayouts)

} // namespace tst_layouts

#include "tst_layouts.moc"
