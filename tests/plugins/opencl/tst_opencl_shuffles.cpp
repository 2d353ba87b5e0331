#include "core/backend/c_source.h"
#include "core/backend/kernel_info.h"
#include "plugins/opencl/device/subgroups.h"
#include "tests/plugins/opencl/library_fixture.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <array>
#include <cstring>

namespace tst_opencl_shuffles {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr std::int64_t kBlocks = 2;

/// y = the numbers of the threads, in rows of blocks, each from the lane that differs in the bit `distance`.
ir::LoopNest exchanging(const std::array<std::int64_t, 3>& block, std::int32_t warp, std::int32_t distance)
{
    const std::int64_t threads = block[0] * block[1] * block[2];
    ir::LoopNest nest;
    nest.name = "exchange";
    nest.buffers = {{"y", DType::I32, ir::Scope::Parameter, {kBlocks * threads}, {1}, false, false},
                    {"other", DType::I32, ir::Scope::Register, {1}, {1}, false, false}};
    nest.parameters = {0};
    ir::Launch launch;
    launch.name = "exchange";
    launch.grid = {kBlocks, 1, 1};
    launch.block = block;
    ir::Expr number = ir::intImm(0);
    for (std::size_t d = 3; d-- > 0;) {
        launch.blockIndex[d] = ir::var("block");
        launch.threadIndex[d] = ir::var("thread");
        number = number * ir::intImm(block[d]) + launch.threadIndex[d];
    }
    launch.body = ir::makeBlock(
        {ir::makeShuffle(1, {0}, number, distance, warp),
         ir::makeStore(0, {launch.blockIndex[0] * ir::intImm(threads) + number}, ir::load(1, DType::I32, {0}))});
    nest.launches = {std::move(launch)};
    return nest;
}

struct Printed
{
    KernelInfo info;
    std::string source;
    std::int64_t threads = 0; ///< of a block
};

Printed printed(const std::array<std::int64_t, 3>& block, std::int32_t warp, std::int32_t distance)
{
    Printed made;
    made.threads = block[0] * block[1] * block[2];
    const ir::LoopNest nest = exchanging(block, warp, distance);
    const backend::KernelSource source = must(backend::printOpenCl(nest));
    made.source = source.text();
    made.info.name = "k";
    made.info.form = KernelForm::Launches;
    made.info.parameters = {{"y", ArgRole::Output, DType::I32, vectorOf(kBlocks * made.threads)}};
    made.info.launches = {{source.launches.at(0).symbol, {0}, {kBlocks, 1, 1}, block, 0}};
    return made;
}

/// Of the numbers that such a kernel leaves.
QString problemOf(const std::vector<std::int32_t>& numbers, std::int64_t threads, std::int32_t distance)
{
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto expected = static_cast<std::int32_t>(i % static_cast<std::size_t>(threads)) ^ distance;
        if (numbers[i] != expected)
            return QStringLiteral("thread %1 has %2, not %3").arg(i).arg(numbers[i]).arg(expected);
    }
    return {};
}

/// A driver that says what a test has it say.
struct ToldDriver
{
    static inline std::string s_extensions;
    static inline std::vector<std::size_t> s_widths;
    static inline bool s_answers = true; ///< which widths there are

    static cl_int tell(const void* value, std::size_t size, std::size_t bytes, void* to, std::size_t* needed)
    {
        if (needed != nullptr)
            *needed = size;
        if (to != nullptr && bytes < size)
            return CL_INVALID_VALUE;
        if (to != nullptr && size > 0)
            std::memcpy(to, value, size);
        return CL_SUCCESS;
    }

    static opencl::Driver driver()
    {
        opencl::Driver driver;
        driver.getDeviceInfo = [](cl_device_id, cl_device_info what, std::size_t bytes, void* to,
                                  std::size_t* needed) -> cl_int {
            if (what == CL_DEVICE_EXTENSIONS)
                return tell(s_extensions.c_str(), s_extensions.size() + 1, bytes, to, needed);
            if (what == 0x4108 && s_answers)
                return tell(s_widths.data(), s_widths.size() * sizeof(std::size_t), bytes, to, needed);
            return CL_INVALID_VALUE;
        };
        return driver;
    }
};

} // namespace

/// Subgroups whose threads exchange registers: which devices have them, and that kernels know their neighbours there.
class TestOpenClShuffles : public QObject
{
    Q_OBJECT

    std::shared_ptr<serve::Device> m_device;
    opencl::SubgroupWidths m_widths; ///< of it

    /// What is wrong with what the kernel computes on the device; its own words where it is refused.
    QString problemOnDevice(const std::array<std::int64_t, 3>& block, std::int32_t warp, std::int32_t distance)
    {
        const Printed kernel = printed(block, warp, distance);
        serve::DeviceModule module = must(load(*m_device, kernel.info, {kernel.source, {}, {}}));
        std::vector<std::int32_t> numbers(static_cast<std::size_t>(kBlocks * kernel.threads), -1);
        const auto bytes = std::as_writable_bytes(std::span(numbers));
        const serve::DeviceBuffer y = must(m_device->allocate(bytes.size()));
        void* const buffers[] = {y.get()};
        const LatheLaunch launch = {module.get(), 0, buffers, 1, 1};
        if (const auto ran = m_device->run({&launch, 1}, 1, 0); !ran)
            return QString::fromStdString(ran.error().message);
        must(m_device->copyOut(bytes, y));
        return problemOf(numbers, kernel.threads, distance);
    }

private slots:
    void widthsAreWhatTheDriverTells_data()
    {
        QTest::addColumn<QString>("extensions");
        QTest::addColumn<QList<int>>("widths");
        QTest::addColumn<int>("best");
        const char* const both = "cl_khr_fp16 cl_intel_subgroups cl_intel_required_subgroup_size";
        QTest::newRow("of Intel's GPUs") << both << QList<int>{8, 16, 32} << 32;
        QTest::newRow("without 8") << both << QList<int>{16, 32} << 32;
        QTest::newRow("wider ones, too") << both << QList<int>{4, 8, 16, 32, 64} << 32;
        QTest::newRow("of 16 at most") << both << QList<int>{8, 16} << 16;
        QTest::newRow("too wide") << both << QList<int>{64} << 0;
        QTest::newRow("of one thread") << both << QList<int>{1} << 0;
        QTest::newRow("no powers of two") << both << QList<int>{8, 24} << 8;
        QTest::newRow("none") << both << QList<int>{} << 0;
        QTest::newRow("more than there are") << both << QList<int>(17, 32) << 0;
        QTest::newRow("as the driver likes") << "cl_intel_subgroups" << QList<int>{8, 16, 32} << 0;
        QTest::newRow("nothing exchanged") << "cl_intel_required_subgroup_size cl_khr_subgroups" << QList<int>{32} << 0;
        QTest::newRow("of short alone") << "cl_intel_subgroups_short cl_intel_required_subgroup_size" << QList<int>{32}
                                        << 0;
    }
    void widthsAreWhatTheDriverTells()
    {
        QFETCH(QString, extensions);
        QFETCH(QList<int>, widths);
        QFETCH(int, best);
        ToldDriver::s_extensions = extensions.toStdString();
        ToldDriver::s_widths.assign(widths.begin(), widths.end());
        const opencl::Driver driver = ToldDriver::driver();
        ToldDriver::s_answers = true;
        const opencl::SubgroupWidths known = opencl::readSubgroupWidths(driver, nullptr);
        QCOMPARE(known.best(), std::size_t(best));
        QCOMPARE(known.has(std::size_t(best)), best > 0);
        QVERIFY(!known.has(24));
        ToldDriver::s_answers = false;
        QCOMPARE(opencl::readSubgroupWidths(driver, nullptr).count, std::size_t{0});
    }

    void sourcesSayWhatTheyRequire()
    {
        QCOMPARE(opencl::requiredWidth(printed({64, 1, 1}, 16, 1).source), std::size_t{16});
        QCOMPARE(opencl::requiredWidth(kDoubledAndOne), std::size_t{0});
        QCOMPARE(opencl::requiredWidth("__attribute__((intel_reqd_sub_group_size(8"), std::size_t{8});
        QCOMPARE(opencl::requiredWidth("__attribute__((intel_reqd_sub_group_size("), std::size_t{0});
    }

    void initTestCase()
    {
        auto device = openDevice();
        if (!device) {
            QVERIFY2(!isDeviceDemanded(), device.error().message.c_str());
            QSKIP(device.error().message.c_str());
        }
        m_device = *std::move(device);
        std::string problem;
        m_widths = opencl::readSubgroupWidths(*opencl::findDriver(problem), firstDevice().id);
    }

    void theLimitIsTheDevices()
    {
        const auto hardware = nlohmann::json::parse(m_device->description()).at("hardware");
        QCOMPARE(hardware.contains("shuffle_width"), m_widths.best() > 0);
        if (m_widths.best() > 0)
            QCOMPARE(hardware["shuffle_width"]["value"].get<std::size_t>(), m_widths.best());
    }

    void whatTheDeviceLacksItRefusesInOneSentence()
    {
        QVERIFY(!m_widths.has(128));
        const QString says = problemOnDevice({128, 1, 1}, 128, 64);
        const char* const sentence = m_widths.count == 0
                                         ? "this device has no subgroups of a required width whose threads exchange "
                                           "registers (cl_intel_required_subgroup_size, cl_intel_subgroups)"
                                         : "the kernel requires subgroups of 128 threads, which this device does not "
                                           "have";
        QVERIFY2(says.contains(sentence), qPrintable(says));
    }

    void threadsKnowTheirNeighbours_data()
    {
        QTest::addColumn<int>("x");
        QTest::addColumn<int>("y");
        QTest::addColumn<int>("z");
        const auto row = [](int x, int y, int z) { QTest::addRow("%d x %d x %d", x, y, z) << x << y << z; };
        row(1, 1, 1);
        row(3, 1, 1);
        row(1, 3, 2);
        row(4, 2, 1);
    }
    /// Blocks of rows of so many warps, of parts of warps, and less than one warp.
    void threadsKnowTheirNeighbours()
    {
        if (m_widths.count == 0)
            QSKIP("this device has no subgroups whose width a kernel can require");
        QFETCH(int, x);
        QFETCH(int, y);
        QFETCH(int, z);
        for (std::size_t i = 0; i < m_widths.count; ++i) {
            const auto warp = static_cast<std::int32_t>(m_widths.widths[i]);
            for (const std::int32_t distance : {1, warp / 2})
                QCOMPARE(problemOnDevice({x * warp, y, z}, warp, distance), QString());
            QCOMPARE(problemOnDevice({2, y * warp, z}, warp, 1), QString());
            if (y == 1)
                QCOMPARE(problemOnDevice({2, 1, 1}, warp, 1), QString());
        }
    }

    void librariesBuildTheirSource()
    {
        if (m_widths.best() == 0)
            QSKIP("this device has no subgroups whose width a kernel can require");
        const auto warp = static_cast<std::int32_t>(m_widths.best());
        const Printed kernel = printed({2 * warp, 1, 1}, warp, 1);
        const opencl::PackedProgram program = {kernel.source, {}, {}, kernel.info.launches[0].symbol + '\n'};
        const std::vector<std::byte> code = opencl::pack({&program, 1});
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        std::vector<std::int32_t> numbers(static_cast<std::size_t>(kBlocks * kernel.threads), -1);
        const std::size_t bytes = numbers.size() * sizeof numbers[0];
        const Memory memory = must(allocate(context, bytes));
        const Launch launch = must(prepare(queue, kernel.info.launches[0], {memory.get()}));
        QCOMPARE(test::problemOf(kLibrary.launch, queue.get(), launch.get()), std::string());
        QCOMPARE(
            test::problemOf(kLibrary.read, queue.get(), static_cast<void*>(numbers.data()), memory.get(), bytes, true),
            std::string());
        QCOMPARE(problemOf(numbers, kernel.threads, 1), QString());
    }
};

LATHE_TEST_GUILESS(TestOpenClShuffles)

} // namespace tst_opencl_shuffles

#include "tst_opencl_shuffles.moc"
