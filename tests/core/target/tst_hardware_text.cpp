#include "core/target/hardware_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

namespace tst_hardware_text {

using namespace lathe;

/// Hardware parameters in files, by name, and as the project keeps them.
class TestHardwareText : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

    std::string file(const char* name, const std::string& text) const
    {
        const std::string path = m_dir.filePath(QLatin1String(name)).toStdString();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

private slots:
    void linesAndJsonSayTheSame()
    {
        const auto lines = parseHardware("# this board\nl2_bytes = 1048576\r\n\n  num_cores=4 # of them\n", "file a");
        QVERIFY(lines);
        QCOMPARE(lines->limits.size(), std::size_t{2});
        QCOMPARE(lines->get("l2_bytes"), std::int64_t{1048576});
        QCOMPARE(lines->limits.at("num_cores").origin, std::string("file a"));
        const auto object = parseHardware(
            "{\"l2_bytes\": {\"value\": 1048576, \"origin\": \"detected\"},\n \"num_cores\": 4}", "file b");
        QVERIFY(object);
        QCOMPARE(object->get("num_cores"), std::int64_t{4});
        QCOMPARE(object->limits.at("l2_bytes").origin, std::string("detected"));
        QCOMPARE(object->limits.at("num_cores").origin, std::string("file b"));
        const auto again = parseHardware(hardwareText(*object), "elsewhere");
        QVERIFY(again);
        QCOMPARE(again->limits.at("num_cores").origin, std::string("file b"));
    }

    void badTextIsRefusedWithItsPlace_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("names");
        QTest::newRow("no equals") << QByteArray("l2_bytes 5") << QByteArray("line 1");
        QTest::newRow("no number") << QByteArray("num_cores = 2\nl2_bytes = many") << QByteArray("line 2");
        QTest::newRow("a fraction") << QByteArray("l2_bytes = 1.5") << QByteArray("line 1");
        QTest::newRow("too large") << QByteArray("l2_bytes = 99999999999999999999") << QByteArray("line 1");
        QTest::newRow("broken JSON") << QByteArray("{\"l2_bytes\": ") << QByteArray("JSON");
        QTest::newRow("text in JSON") << QByteArray("{\"l2_bytes\": \"5\"}") << QByteArray("l2_bytes");
    }
    void badTextIsRefusedWithItsPlace()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, names);
        const auto parsed = parseHardware(text.toStdString(), "file");
        QVERIFY(!parsed);
        QVERIFY(parsed.error().code == Errc::InvalidArgument);
        QVERIFY2(parsed.error().message.find(names.toStdString()) != std::string::npos, parsed.error().message.c_str());
    }

    void filesAndNamesOfProcessorsAreRead()
    {
        const auto read = readHardware(file("board.txt", "l1d_bytes = 32768\n"));
        QVERIFY(read);
        QCOMPARE(read->limits.at("l1d_bytes").origin, std::string("file board.txt"));
        const auto preset = readHardware("znver4");
        QVERIFY(preset);
        QCOMPARE(preset->get("vector_unit_bytes"), std::int64_t{64});
        QCOMPARE(preset->limits.at("l2_bytes").origin, std::string("preset znver4"));
        QVERIFY(!preset->limits.contains("num_cores"));
        QVERIFY(readHardware("/no/such/file").error().code == Errc::NotFound);
        QVERIFY(readHardware("abacus").error().code == Errc::NotFound);
        QVERIFY(readHardware("native").error().code == Errc::NotFound);
        QVERIFY(readHardware(file("empty.txt", "# nothing\n")).error().code == Errc::InvalidArgument);
    }

    /// Widths are divided by, and blocks are counted one by one.
    void whatADeviceSaysThatIsTrueOfNoneIsLeftOut()
    {
        const Hardware figures = deviceFigures(
            R"({"warp_size": {"value": 32}, "shuffle_width": {"value": 4294967296}, "simd_width": 48,)"
            R"( "blocks_per_core": 4000000000000000000, "threads_per_core": 1536, "l2_bytes": -1, "num_cores": 84})");
        QCOMPARE(figures.limits.size(), std::size_t{3});
        QCOMPARE(figures.get("warp_size"), std::int64_t{32});
        QCOMPARE(figures.get("threads_per_core"), std::int64_t{1536});
        QCOMPARE(figures.get("num_cores"), std::int64_t{84});
        QVERIFY(deviceFigures("{\"warp_size\": \"wide\"}").limits.empty());
        QVERIFY(deviceFigures("").limits.empty());
    }

    void onlyWhatTheTargetHasCanBeSet()
    {
        const auto target = Target::parse("cpu -mcpu=znver4 -threads=2");
        QVERIFY(target);
        QVERIFY(checkLimit(*target, "l2_bytes", 2048));
        QVERIFY(checkLimit(*target, "l3_bytes", 1 << 20));
        QVERIFY(!checkLimit(*target, "l2_bytes", 0));
        QVERIFY(!checkLimit(*target, "num_cores", 5000));
        QVERIFY(!checkLimit(*target, "vector_unit_bytes", 48));
        const auto gpu = Target::parse("opencl");
        QVERIFY(gpu && checkLimit(*gpu, "warp_size", 32) && !checkLimit(*gpu, "warp_size", 48));
        const auto unknown = checkLimit(*target, "wings", 2);
        QVERIFY(!unknown && unknown.error().code == Errc::InvalidArgument);
        QVERIFY(unknown.error().message.find("l2_bytes") != std::string::npos);
    }
};

LATHE_TEST(TestHardwareText)

} // namespace tst_hardware_text

#include "tst_hardware_text.moc"
