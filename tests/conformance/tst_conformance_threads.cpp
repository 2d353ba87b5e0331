#include "tests/conformance/back_ends.h"
#include "tests/support/test_program.h"

#include <QProcess>

#include <array>
#include <barrier>
#include <thread>

namespace tst_conformance_threads {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr std::size_t kThreads = 4;
constexpr int kRounds = 25;

/// A kernel of several launches or phases with scratch between them, and one of a single sum; so that they are of
/// different lengths.
std::vector<Case> kernels(KernelForm form)
{
    if (form == KernelForm::Phases)
        return {{"convolution", convolution(), R"([["AN", 1, 1, 3], ["AN", 3, 1, 3]])"},
                {"product", matmul(8, 32, 9), R"([["SP", 2, 1, 32, [16], 1], ["AN", 2, 0, 3], ["AN", 2, 2, 2]])"}};
    return {{"convolution", convolution(),
             R"([["AN", 1, 1, 5], ["AN", 1, 2, 6], ["AN", 3, 1, 5], ["AN", 3, 3, 6], ["AN", 4, 2, 6]])"},
            {"product", matmul(7, 8, 5),
             R"([["CHR", 0, "shared", [2]], ["AN", 3, 0, 5], ["AN", 3, 1, 6], ["CA", 1, 3, 0], ["AN", 1, 1, 6]])"}};
}

/// What a thread does with a device of its own: opens it, loads the artifact, and runs its kernels in turns, each time
/// on other inputs. Empty: all was right.
std::string drive(const std::string& target, const measure::BuiltProduct& product, const std::vector<Case>& list,
                  std::size_t thread, std::barrier<>& start)
{
    start.arrive_and_wait();
    const auto device = BackEnds::open(target);
    if (!device)
        return device.error().message;
    for (int round = 0; round < kRounds; ++round) {
        const std::size_t kernel = (static_cast<std::size_t>(round) + thread) % list.size();
        const std::uint64_t seed = 1000 * (thread + 1) + static_cast<std::uint64_t>(round);
        const auto outputs = runKernel(**device, product, static_cast<std::uint32_t>(kernel), *list[kernel].dag, seed);
        const std::string problem = outputs ? compare(list[kernel].dag, *outputs, 1e-5, seed) : outputs.error().message;
        if (!problem.empty())
            return "thread " + std::to_string(thread) + ", round " + std::to_string(round) + ": " + problem;
    }
    return {};
}

} // namespace

/// The same device half, driven by several threads at once, each with a device of its own (device_abi.h).
class TestConformanceThreads : public QObject, BackEnds
{
    Q_OBJECT

private slots:
    void initTestCase() { prepareDrivers(); }
    void init() { skipWhereThereIsNoDevice(); }

    void severalThreadsDriveADeviceEach_data() { eachTarget(); }
    void severalThreadsDriveADeviceEach()
    {
        QFETCH(QString, target);
        const std::vector<Case> list = kernels(formOf(target.toStdString()));
        const auto product = build(target.toStdString(), list);
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        for (const measure::KernelStatus& status : product->kernels)
            QVERIFY2(status.code == Errc::Ok, status.text.c_str());
        std::array<std::string, kThreads> problems;
        {
            std::barrier<> start(kThreads);
            std::vector<std::jthread> threads;
            for (std::size_t t = 0; t < kThreads; ++t)
                threads.emplace_back([&, t] { problems[t] = drive(target.toStdString(), *product, list, t, start); });
        }
        for (const std::string& problem : problems)
            QCOMPARE(QString::fromStdString(problem), QString());
    }

    /// What one device refuses or loses is nothing to the others.
    void aDeviceGoesOnBesideOneThatIsClosed_data() { eachTarget(); }
    void aDeviceGoesOnBesideOneThatIsClosed()
    {
        QFETCH(QString, target);
        const std::vector<Case> list = kernels(formOf(target.toStdString()));
        const auto product = build(target.toStdString(), list);
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        const auto stays = open(target.toStdString());
        QVERIFY2(stays, stays ? "" : stays.error().message.c_str());
        std::string problem;
        {
            const std::jthread other([&] {
                for (int i = 0; i < 5 && problem.empty(); ++i) { // each is opened, used, and closed
                    const auto goes = open(target.toStdString());
                    problem = goes ? problemOf(**goes, *product, 0, list[0], 1e-5) : goes.error().message;
                    if (goes && (*goes)->load(std::as_bytes(std::span(problem)), "{}"))
                        problem = "an artifact of nothing was loaded";
                }
            });
            for (int i = 0; i < kRounds; ++i)
                QCOMPARE(QString::fromStdString(problemOf(**stays, *product, 1, list[1], 1e-5)), QString());
        }
        QCOMPARE(QString::fromStdString(problem), QString());
    }

    /// The same in several processes, as runs of several projects are. What was compiled for one is there for all.
    void severalProcessesDriveDevices_data() { eachTarget(); }
    void severalProcessesDriveDevices()
    {
        QFETCH(QString, target);
        std::array<QProcess, 3> processes;
        for (QProcess& process : processes) {
            process.setProcessChannelMode(QProcess::MergedChannels);
            process.start(QString::fromStdString(executablePath().string()),
                          {QStringLiteral("tst_conformance_threads"),
                           QStringLiteral("severalThreadsDriveADeviceEach:") + target});
        }
        for (QProcess& process : processes) {
            QVERIFY(process.waitForFinished(120000));
            const QByteArray said = process.readAll();
            QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, said.constData());
        }
    }
};

LATHE_TEST_GUILESS(TestConformanceThreads)

} // namespace tst_conformance_threads

#include "tst_conformance_threads.moc"
