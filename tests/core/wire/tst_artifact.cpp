#include "core/wire/artifact.h"
#include "core/wire/seeded.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

namespace tst_artifact {

using namespace lathe;
using nlohmann::json;

namespace {

ArtifactDescriptor example()
{
    ArgSpec blocked{"weight", ArgRole::Constant, DType::F32, {}};
    const std::int64_t shape[] = {1, 20, 7, 7};
    blocked.map = IndexMap::plain(shape, 4);
    blocked.map.physicalRank = 5;
    const IndexMap::Axis axes[] = {{0, 1, 1, 1568}, {1, 16, 2, 784}, {2, 1, 7, 112}, {3, 1, 7, 16}, {1, 1, 16, 1}};
    std::copy(std::begin(axes), std::end(axes), blocked.map.axes);
    const std::int64_t none[] = {1};
    KernelInfo kernel;
    kernel.name = "k";
    kernel.phases = {"k_p0", "k_p1"};
    kernel.teamScratchBytes = 128;
    kernel.partScratchBytes = 64;
    kernel.parameters = {blocked, {"out", ArgRole::Output, DType::I8, IndexMap::plain(none, 0)}};
    return {"cpu-so", "cpu -threads=2", {kernel}};
}

/// Two launches that hand over a buffer of scratch.
ArtifactDescriptor launched()
{
    ArtifactDescriptor descriptor = example();
    KernelInfo& kernel = descriptor.kernels[0];
    kernel.form = KernelForm::Launches;
    kernel.phases.clear();
    kernel.teamScratchBytes = kernel.partScratchBytes = 0;
    kernel.scratch = {4096};
    kernel.launches = {{"k_0", {0, 2}, {7, 2, 1}, {32, 4, 1}, 1024}, {"k_1", {2, 1}, {1, 1, 1}, {64, 1, 1}, 0}};
    return descriptor;
}

} // namespace

class TestArtifact : public QObject
{
    Q_OBJECT

private slots:
    void jsonRoundTrips()
    {
        const json first = toJson(example());
        const auto read = artifactDescriptorFromJson(first);
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(toJson(*read).dump(), first.dump());
        QVERIFY(read->kernels[0].parameters[0].map == example().kernels[0].parameters[0].map);
        QCOMPARE(read->kernels[0].phases.size(), std::size_t(2));
    }

    void launchesRoundTrip()
    {
        const json first = toJson(launched());
        const auto read = artifactDescriptorFromJson(first);
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(toJson(*read).dump(), first.dump());
        QCOMPARE(int(read->kernels[0].form), int(KernelForm::Launches));
        QVERIFY(read->kernels[0].launches == launched().kernels[0].launches);
        QVERIFY(read->kernels[0].scratch == std::vector<std::int64_t>{4096});
        QVERIFY(read->kernels[0].phases.empty());
    }

    void hostileDescriptionsAreRefused_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        const char* spec = "/kernels/0/parameters/0";
        const auto row = [&](const char* name, const QString& path, const char* value) {
            QTest::newRow(name) << path << value;
        };
        row("no format", "/format", "3");
        row("kernels no list", "/kernels", "{}");
        row("kernel no object", "/kernels/0", "7");
        row("negative scratch", "/kernels/0/team_scratch_bytes", "-1");
        row("huge scratch", "/kernels/0/part_scratch_bytes", "18446744073709551615");
        row("unknown role", QString(spec) + "/role", "\"king\"");
        row("unknown dtype", QString(spec) + "/dtype", "\"float31\"");
        row("zero dimension", QString(spec) + "/map/shape/1", "0");
        row("overflowing shape", QString(spec) + "/map/shape", "[1000000000000,1000000000000]");
        row("axis of no dimension", QString(spec) + "/map/axes/0", "[4,1,1,1]");
        row("axis too short", QString(spec) + "/map/axes/0", "[0,1,1]");
        row("zero divisor", QString(spec) + "/map/axes/0", "[0,0,1,1]");
        row("negative stride", QString(spec) + "/map/axes/0", "[0,1,1,-4]");
        row("physical overflow", QString(spec) + "/map/axes/0", "[0,1,1099511627776,1099511627776]");
        row("fractional", QString(spec) + "/map/axes/0", "[0,1,1.5,1]");
        row("elements without a place", QString(spec) + "/map/shape/2", "1000000");
        row("two elements in one place", QString(spec) + "/map/axes/2", "[2,1,7,16]");
        row("no axes for a large tensor", QString(spec) + "/map", R"({"shape": [1099511627776], "axes": []})");
        row("too many axes", QString(spec) + "/map/axes",
            "[[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],"
            "[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],"
            "[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1],"
            "[0,1,1,1],[0,1,1,1],[0,1,1,1],[0,1,1,1]]");
        row("no form", "/kernels/0/form", "null");
        row("unknown form", "/kernels/0/form", "\"dances\"");
        row("launches without a list", "/kernels/0/form", "\"launches\"");
    }
    void hostileDescriptionsAreRefused()
    {
        QFETCH(QString, path);
        QFETCH(QString, value);
        json changed = toJson(example());
        changed[json::json_pointer(path.toStdString())] = json::parse(value.toStdString());
        const auto read = artifactDescriptorFromJson(changed);
        QVERIFY(!read);
        QCOMPARE(int(read.error().code), int(Errc::BadFile));
    }

    void hostileLaunchesAreRefused_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        const auto row = [](const char* name, const char* path, const char* value) {
            QTest::newRow(name) << QString("/kernels/0/") + path << value;
        };
        row("none", "launches", "[]");
        row("no list", "launches", "{}");
        row("no object", "launches/0", "1");
        row("no symbol", "launches/0/symbol", "\"\"");
        row("no blocks", "launches/0/grid", "[0,1,1]");
        row("negative blocks", "launches/0/grid", "[1,-1,1]");
        row("too many blocks", "launches/0/grid", "[2147483648,1,1]");
        row("blocks of a fraction", "launches/0/grid", "[1.5,1,1]");
        row("two axes", "launches/0/grid", "[1,1]");
        row("no threads", "launches/0/block", "[32,0,1]");
        row("too many threads", "launches/0/block", "[256,256,2]");
        row("threads beyond any number", "launches/0/block", "[18446744073709551615,1,1]");
        row("negative shared memory", "launches/0/shared_bytes", "-1");
        row("huge shared memory", "launches/0/shared_bytes", "1073741825");
        row("a buffer that is not there", "launches/0/buffers", "[0,3]");
        row("a negative buffer", "launches/0/buffers", "[-1]");
        row("a buffer of text", "launches/0/buffers", "[\"data\"]");
        row("scratch without bytes", "scratch", "[0]");
        row("scratch without end", "scratch", "[68719476736,1]");
        row("scratch no list", "scratch", "7");
        row("phases of launches", "form", "\"phases\"");
    }
    void hostileLaunchesAreRefused()
    {
        QFETCH(QString, path);
        QFETCH(QString, value);
        json changed = toJson(launched());
        changed[json::json_pointer(path.toStdString())] = json::parse(value.toStdString());
        const auto read = artifactDescriptorFromJson(changed);
        QVERIFY(!read);
        QCOMPARE(int(read.error().code), int(Errc::BadFile));
        QVERIFY(read.error().message.find("artifact description: ") == 0);
    }

    void seededDataIsTheSameElementByElement_data()
    {
        QTest::addColumn<int>("dtype");
        for (int t = 0; t <= static_cast<int>(DType::F64); ++t)
            QTest::newRow(toString(static_cast<DType>(t))) << t;
    }
    void seededDataIsTheSameElementByElement()
    {
        QFETCH(int, dtype);
        const auto t = static_cast<DType>(dtype);
        std::vector<std::byte> bytes(static_cast<std::size_t>(100 * sizeOf(t)));
        wire::fillSeeded(5, t, {}, bytes);
        bool varies = false;
        for (std::int64_t i = 0; i < 100; ++i) {
            const double value = wire::seededValue(5, static_cast<std::uint64_t>(i), t);
            QCOMPARE(wire::readElement(bytes.data(), i, t), value);
            varies = varies || value != wire::readElement(bytes.data(), 0, t);
            QVERIFY(isFloat(t) ? std::fabs(value) <= 1 : value == std::floor(value));
        }
        QVERIFY(varies);
        QVERIFY(wire::inputSeed(5, 0) != wire::inputSeed(5, 1));
    }

    void narrowFloatsRoundToNearestEven()
    {
        std::uint16_t cell = 0;
        const auto through = [&](double value, DType dtype) {
            wire::writeElement(&cell, 0, dtype, value);
            return wire::readElement(&cell, 0, dtype);
        };
        QCOMPARE(through(1.0 + 1.0 / 2048, DType::F16), 1.0); // half way, to even
        QCOMPARE(through(1.0 + 3.0 / 2048, DType::F16), 1.0 + 2.0 / 1024);
        QCOMPARE(through(65504, DType::F16), 65504.0);
        QVERIFY(std::isinf(through(65520, DType::F16)));
        QCOMPARE(through(std::ldexp(1, -24), DType::F16), std::ldexp(1, -24)); // the least subnormal
        QCOMPARE(through(-2.5, DType::BF16), -2.5);
        QCOMPARE(through(1.0 + 1.0 / 256, DType::BF16), 1.0);
        QVERIFY(std::isnan(through(std::nan(""), DType::F16)));
    }
};

LATHE_TEST(TestArtifact)

} // namespace tst_artifact

#include "tst_artifact.moc"
