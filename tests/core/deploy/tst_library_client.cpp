#include "core/deploy/library_client.h"
#include "core/deploy/verify.h"
#include "core/measure/builder_client.h"
#include "hand_library.h"
#include "tests/support/in_process_library.h"
#include "tests/support/must.h"
#include "tests/support/processes.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <unistd.h>

#include <csignal>
#include <numeric>
#include <thread>

namespace tst_library_client {

using namespace lathe;
using namespace lathe::deploy;
using namespace lathe::test;

/// Exported libraries in lathe-runner, references in lathe-builder: neither in the process that asks.
class TestLibraryClient : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder, m_scratch;
    std::map<std::string, StagedLibrary> m_libraries; ///< by kernel
    HandNetwork m_network;

    const std::filesystem::path& library(const char* relu)
    {
        const auto known = m_libraries.find(relu);
        if (known != m_libraries.end())
            return known->second.file;
        const auto file = m_folder.filePath(QString::fromLatin1(relu) + ".so").toStdString();
        return m_libraries.emplace(relu, must(stageHandLibrary(file, relu, m_scratch.path()))).first->second.file;
    }

    static bool isOneSentence(const Error& error)
    {
        const bool is = error.message.size() > 10 && error.message.find('\n') == std::string::npos
                        && !error.message.ends_with('.');
        if (!is)
            qWarning("%s", error.message.c_str());
        return is;
    }
    static bool says(const Error& error, const char* text)
    {
        const bool is = error.message.find(text) != std::string::npos;
        if (!is)
            qWarning("%s", error.message.c_str());
        return is;
    }

    /// A product of matrices, which takes the reference executor many seconds.
    static graph::Graph longWork()
    {
        graph::Graph g;
        g.name = "long";
        constexpr std::int64_t n = 3000;
        const auto x = g.addValue("x", DType::F32, {n, n});
        const auto w = g.addConstant("w", DType::F32, {n, n}, seededConstant(n * n, 3));
        const auto y = g.addValue("y", DType::F32, {n, n});
        g.inputs = {x};
        g.outputs = {y};
        graph::Node node;
        node.name = "dense";
        node.op = "dense";
        node.inputs = {x, w};
        node.outputs = {y};
        g.addNode(node);
        return g;
    }

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid() && m_scratch.isValid());
        makeHandNetwork(m_network);
    }

    void aRunnerGivesWhatTheLibraryGivesHere()
    {
        const auto remote = must(LibraryClient::open(library("hand_relu"), {.threads = 2, .programs = {}}));
        const auto here = must(InProcessLibrary::open(library("hand_relu"), {.threads = 2}));
        QCOMPARE(remote->threads(), 2U);
        QCOMPARE(remote->inputs().size(), std::size_t(1));
        QCOMPARE(remote->inputs()[0].name, std::string("x"));
        QCOMPARE(remote->inputs()[0].layout, std::string("NCHW"));
        QVERIFY(remote->inputs()[0].type == here->inputs()[0].type
                && remote->outputs()[0].type == here->outputs()[0].type);
        LibraryRunRequest request;
        request.seed = 7;
        request.returnInputs = true;
        request.observe = {"positive", "scaled", "nothing"};
        const LibraryRun there = must(remote->run(request));
        const LibraryRun local = must(here->run(request));
        QVERIFY(there.inputs[0].bytes == local.inputs[0].bytes);
        QVERIFY(there.outputs[0].bytes == local.outputs[0].bytes);
        QCOMPARE(there.observed.size(), std::size_t(2)); // in the order of execution
        QCOMPARE(there.observed[0].first, std::string("scaled"));
        QCOMPARE(there.observed[1].first, std::string("positive"));
        QVERIFY(there.observed[0].second.bytes == local.observed[0].second.bytes);
        request.inputs = {graph::HostTensor::zeros(remote->inputs()[0].type)}; // instead of the seed's
        QVERIFY(must(remote->run(request)).outputs[0].bytes == must(here->run(request)).outputs[0].bytes);
        QVERIFY(must(remote->run(request)).outputs[0].bytes != there.outputs[0].bytes);
    }

    void aBuilderGivesTheReference()
    {
        const auto remote = must(LibraryClient::open(library("hand_relu"), {}));
        const VerifyReport right = must(verifyByBuilder(*remote, m_network.graph, &m_network.graph, {}, 60));
        QVERIFY2(right.passed, right.text.c_str());
        QVERIFY(right.maxRelError < 1e-6);
        const auto builder = must(measure::BuilderClient::start({}));
        const std::vector<graph::HostTensor> inputs = {graph::HostTensor::zeros({DType::F32, {1, 20, 4, 4}})};
        const auto there = must(builder->evaluate(m_network.graph, inputs, Deadline::inSeconds(60)));
        QVERIFY(there[0].bytes == must(graph::interpret(m_network.graph, inputs))[0].bytes);
        const auto refused = builder->evaluate(m_network.graph, {}, Deadline::inSeconds(60));
        QVERIFY(!refused && refused.error().code == Errc::InvalidArgument);
    }

    void aWrongKernelIsFoundByItsTensor()
    {
        const auto remote = must(LibraryClient::open(library("hand_wrong_relu"), {}));
        const VerifyReport wrong = must(verifyByBuilder(*remote, m_network.graph, &m_network.graph, {}, 60));
        QVERIFY(!wrong.passed);
        QCOMPARE(wrong.firstDifferent, std::string("positive"));
    }

    void timesAreOfTheWholeAndOfItsFunctions()
    {
        const auto remote = must(LibraryClient::open(library("hand_relu"), {}));
        wire::LibraryPlan plan;
        plan.repeat = 12;
        const wire::LibraryTimes times = must(remote->time(plan));
        QCOMPARE(times.runsNs.size(), std::size_t(12));
        QCOMPARE(times.functions.size(), std::size_t(4));
        QCOMPARE(times.functions[0].name, std::string("scale"));
        QCOMPARE(times.functions[2].kind, std::string("transform"));
        double sum = times.callMs;
        for (const wire::FunctionTime& function : times.functions) {
            QVERIFY(function.ms > 0 && function.minMs > 0 && function.minMs <= function.ms * 1.5);
            sum += function.ms;
        }
        QVERIFY(times.callMs > 0 && qAbs(times.sumMs() - sum) < 1e-12);
        plan.repeat = 0; // the method's
        QVERIFY(must(remote->time(plan)).runsNs.size() >= 30);
        plan.maxSeconds = 1e-9; // three at least
        QCOMPARE(must(remote->time(plan)).runsNs.size(), std::size_t(3));
    }

    void aCrashCostsOneSentence()
    {
        const auto remote = must(LibraryClient::open(library("hand_crash_relu"), {}));
        for (int i = 0; i < 2; ++i) { // and the next call has a runner again
            const auto run = remote->run({});
            QVERIFY(!run && run.error().code == Errc::WorkerCrashed);
            QVERIFY(says(run.error(), "SIGSEGV") && says(run.error(), "hand_crash_relu") && isOneSentence(run.error()));
        }
        const auto timed = remote->time({});
        QVERIFY(!timed && timed.error().code == Errc::WorkerCrashed);
        const auto verified = verifyByBuilder(*remote, m_network.graph, nullptr, {}, 60);
        QVERIFY(!verified && verified.error().code == Errc::WorkerCrashed);
    }

    void aHangCostsOneSentence()
    {
        const auto remote = must(LibraryClient::open(library("hand_hang_relu"), {.runSeconds = 1, .programs = {}}));
        QElapsedTimer timer;
        timer.start();
        const auto run = remote->run({});
        QVERIFY(!run && run.error().code == Errc::RunTimeout);
        QVERIFY(says(run.error(), "longer than 1 s") && isOneSentence(run.error()));
        QVERIFY2(timer.elapsed() < 20000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(childrenOf(::getpid()).empty());
    }

    void aStopEndsWorkInTheMiddle()
    {
        const auto stopped = [](auto work) {
            std::stop_source stop;
            QElapsedTimer timer;
            timer.start();
            std::jthread other([&stop] {
                std::this_thread::sleep_for(std::chrono::milliseconds(500));
                stop.request_stop();
            });
            const Error error = work(stop.get_token());
            const bool is = error.code == Errc::Cancelled && timer.elapsed() >= 400 && timer.elapsed() < 20000;
            if (!is)
                qWarning("after %lld ms: %s", timer.elapsed(), error.message.c_str());
            return is && isOneSentence(error);
        };
        QVERIFY(stopped([&](std::stop_token stop) {
            const auto remote = must(LibraryClient::open(library("hand_hang_relu"), {}, stop));
            auto run = remote->run({});
            return run ? Error{} : run.error();
        }));
        QVERIFY(stopped([&](std::stop_token stop) {
            const graph::Graph network = longWork();
            const auto builder = must(measure::BuilderClient::start({}, {}, stop));
            auto outputs = builder->evaluate(network, {graph::HostTensor::zeros({DType::F32, {3000, 3000}})},
                                             Deadline::inSeconds(300));
            return outputs ? Error{} : outputs.error();
        }));
        QVERIFY(childrenOf(::getpid()).empty());
        std::stop_source before;
        before.request_stop();
        const auto late = LibraryClient::open("nowhere.so", {}, before.get_token());
        QVERIFY(!late && late.error().code == Errc::Cancelled);
    }

    void aReferenceThatTakesTooLongIsEnded()
    {
        const auto builder = must(measure::BuilderClient::start({}));
        const auto outputs = builder->evaluate(longWork(), {graph::HostTensor::zeros({DType::F32, {3000, 3000}})},
                                               Deadline::inSeconds(1));
        QVERIFY(!outputs && outputs.error().code == Errc::RunTimeout);
        QVERIFY(says(outputs.error(), "reference executor") && isOneSentence(outputs.error()));
    }

    void aRunnerThatSomebodyKillsIsReplaced()
    {
        const auto remote = must(LibraryClient::open(library("hand_relu"), {}));
        const LibraryRun before = must(remote->run({}));
        const auto children = childrenOf(::getpid());
        QCOMPARE(children.size(), std::size_t(1));
        QCOMPARE(::kill(children.front(), SIGKILL), 0);
        QTest::qWait(200);
        const auto after = remote->run({});
        QVERIFY2(after, after ? "" : after.error().message.c_str());
        QVERIFY(after->outputs[0].bytes == before.outputs[0].bytes);
    }

    void filesThatAreNoLibraryAreRefused()
    {
        QVERIFY(LibraryClient::open("nowhere.so", {}).error().code == Errc::NotFound);
        const auto source = LibraryClient::open(HAND_KERNELS, {});
        QVERIFY(!source && source.error().code == Errc::BadFile);
    }

    void coreStartsNoCommandLine()
    {
        QDirIterator it(QStringLiteral(LATHE_SOURCE_DIR) + "/core", {"*.cpp", "*.h"}, QDir::Files,
                        QDirIterator::Subdirectories);
        int files = 0;
        while (it.hasNext()) {
            QFile file(it.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray text = file.readAll();
            QVERIFY2(!text.contains("findProgram(\"lathe-cli\")") && !text.contains("findProgram(\"lathe\")"),
                     qPrintable(file.fileName()));
            ++files;
        }
        QVERIFY(files > 300);
    }
};

LATHE_TEST_GUILESS(TestLibraryClient)

} // namespace tst_library_client

#include "tst_library_client.moc"
