#include "tests/app/worker.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <unistd.h>

#include <csignal>

namespace tst_runner {

using namespace lathe;
using lathe::test::plantedJob;
using lathe::test::Worker;

namespace {

std::string planted()
{
    const auto bytes = readFile(executablePath().parent_path() / "planted.so");
    return bytes ? *bytes : std::string();
}

/// A runner with the cpu device open and the planted kernels sent.
Result<Worker> cpuRunner(const Hash128& hash, const std::string& artifact,
                         const std::string& options = "-threads=2 -pin=off")
{
    LATHE_TRY_ASSIGN(Worker worker, Worker::start("lathe-runner"));
    wire::Message open;
    open.mutable_open_device()->set_kind("cpu");
    open.mutable_open_device()->set_options(options);
    LATHE_TRY_ASSIGN(const wire::Message opened, worker.ask(open));
    if (!opened.has_device_opened() || opened.device_opened().failure().code() != 0)
        return makeError(Errc::DeviceLost, opened.device_opened().failure().text());
    worker.channel->queueBlob(hash, artifact);
    return worker;
}

} // namespace

class TestRunner : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
        m_artifact = planted();
        QVERIFY(!m_artifact.empty());
        m_hash = contentHash(m_artifact);
    }

    void runsAndTimesAKernel_data()
    {
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<int>("phases");
        QTest::newRow("one phase") << "good" << 1;
        QTest::newRow("two phases with scratch") << "staged" << 2;
    }
    void runsAndTimesAKernel()
    {
        QFETCH(QString, kernel);
        QFETCH(int, phases);
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY2(worker, worker ? "" : worker.error().message.c_str());
        const auto answer = worker->ask(plantedJob(kernel.toStdString(), m_hash, phases));
        QVERIFY2(answer, answer ? "" : answer.error().message.c_str());
        QVERIFY(answer->has_run_result());
        const wire::RunResult& result = answer->run_result();
        QCOMPARE(QString::fromStdString(result.failure().text()), QString());
        QCOMPARE(result.stage(), 0u);
        QVERIFY(result.verified());
        QCOMPARE(result.costs_ns_size(), 3);
        for (const double cost : result.costs_ns())
            QVERIFY(cost > 0);
    }

    void aBadKernelCostsOneTrialAndSaysWhy_data()
    {
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<int>("stage");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("text");
        QTest::newRow("wrong value") << "wrong" << 5 << int(Errc::WrongAnswer) << "output \"output\" is";
        QTest::newRow("right once only") << "again" << 5 << int(Errc::WrongAnswer) << "output \"output\" is";
        QTest::newRow("writes nothing") << "silent" << 5 << int(Errc::WrongAnswer) << "nan";
        QTest::newRow("write into the margin")
            << "margin" << 4 << int(Errc::WrongAnswer) << "wrote outside of \"output\"";
        QTest::newRow("write behind a part's scratch")
            << "part" << 4 << int(Errc::WrongAnswer) << "outside of its scratch";
        QTest::newRow("write before the team's scratch")
            << "team" << 4 << int(Errc::WrongAnswer) << "outside of its scratch";
        QTest::newRow("gives a code") << "code" << 4 << int(Errc::DeviceLost) << "code 7";
        QTest::newRow("no such symbol") << "absent" << 3 << int(Errc::BadFile) << "absent_p0";
    }
    void aBadKernelCostsOneTrialAndSaysWhy()
    {
        QFETCH(QString, kernel);
        QFETCH(int, stage);
        QFETCH(int, code);
        QFETCH(QString, text);
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY(worker);
        const auto answer = worker->ask(plantedJob(kernel.toStdString(), m_hash));
        QVERIFY(answer && answer->has_run_result());
        const wire::RunResult& result = answer->run_result();
        QVERIFY2(result.failure().text().find(text.toStdString()) != std::string::npos,
                 result.failure().text().c_str());
        QCOMPARE(int(result.failure().code()), code);
        QCOMPARE(int(result.stage()), stage);
        QVERIFY(!result.verified());
        QCOMPARE(result.costs_ns_size(), 0);
        // The runner lives, and the next trial is measured.
        const auto next = worker->ask(plantedJob("good", m_hash));
        QVERIFY(next && next->run_result().stage() == 0);
    }

    void aCrashEndsTheRunnerWithASentence_data()
    {
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<QString>("text");
        QTest::newRow("null pointer") << "crash"
                                      << "memory that is not its own";
        QTest::newRow("one element past the end") << "beyond"
                                                  << "wrote 0 bytes past the end of \"output\"";
        QTest::newRow("one element before the start") << "before"
                                                      << "wrote 4 bytes before the start of \"output\"";
    }
    void aCrashEndsTheRunnerWithASentence()
    {
        QFETCH(QString, kernel);
        QFETCH(QString, text);
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY(worker);
        const auto answer = worker->ask(plantedJob(kernel.toStdString(), m_hash));
        QVERIFY(!answer);
        QCOMPARE(int(answer.error().code), int(Errc::WorkerCrashed));
        const auto exit = worker->process.wait(Deadline::inSeconds(10));
        QVERIFY(exit && exit->signalled);
        QCOMPARE(exit->code, SIGSEGV);
        const std::string said = worker->errors();
        QVERIFY2(said.find(text.toStdString()) != std::string::npos, said.c_str());
    }

    void anEndlessKernelIsStoppedByItsDeadline()
    {
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY(worker);
        const auto answer = worker->ask(plantedJob("hang", m_hash), 0.3);
        QVERIFY(!answer);
        QCOMPARE(int(answer.error().code), int(Errc::RunTimeout));
        const ProcessExit exit = worker->process.kill();
        QVERIFY(exit.signalled);
        QCOMPARE(exit.code, SIGKILL);
    }

    void aMissingBlobIsAskedFor()
    {
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY(worker);
        const Hash128 other{1, 2};
        const auto answer = worker->ask(plantedJob("good", other));
        QVERIFY(answer && answer->has_missing());
        QCOMPARE(answer->missing().blobs_size(), 1);
        QVERIFY(wire::fromWire(answer->missing().blobs(0)) == other);
    }

    void anotherVersionIsRefused()
    {
        auto worker = Worker::start("lathe-runner", "0.0.1/0");
        QVERIFY(worker); // its own hello is sent first
        const auto exit = worker->process.wait(Deadline::inSeconds(10));
        QVERIFY(exit);
        QVERIFY(!exit->ok());
    }

    void garbageEndsTheRunner()
    {
        auto worker = Worker::start("lathe-runner");
        QVERIFY(worker);
        QCOMPARE(::write(worker->process.input(), "GET / HTTP/1.1\r\n\r\n", 18), ssize_t(18));
        const auto exit = worker->process.wait(Deadline::inSeconds(10));
        QVERIFY(exit && !exit->ok());
    }

    void aJobThatDoesNotFitItsArtifactIsRefused()
    {
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY(worker);
        wire::Message message = plantedJob("good", m_hash);
        ArgSpec small = test::plantedDescriptor("good").kernels[0].parameters[1];
        small.map.logicalShape[0] = small.map.axes[0].extent = 16;
        message.mutable_run_job()->mutable_buffers(1)->set_spec(toJson(small).dump());
        message.mutable_run_job()->clear_checks();
        const auto answer = worker->ask(message);
        QVERIFY(answer && answer->has_run_result());
        QCOMPARE(int(answer->run_result().failure().code()), int(Errc::InvalidArgument));
    }

    void coldRunsAreTimedOneByOne()
    {
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY(worker);
        wire::Message message = plantedJob("good", m_hash);
        message.mutable_run_job()->mutable_plan()->set_cold_bytes(1 << 20);
        message.mutable_run_job()->mutable_plan()->set_number(100);
        message.mutable_run_job()->mutable_plan()->set_min_repeat_ms(50);
        const auto answer = worker->ask(message);
        QVERIFY(answer && answer->has_run_result());
        QCOMPARE(answer->run_result().number(), 1u);
        QCOMPARE(answer->run_result().costs_ns_size(), 3);
    }

    void outputsAreFetchedInPlainLayout()
    {
        auto worker = cpuRunner(m_hash, m_artifact);
        QVERIFY(worker);
        wire::Message message = plantedJob("good", m_hash);
        message.mutable_run_job()->add_fetch(1);
        const auto blob = worker->ask(message);
        QVERIFY(blob && blob->has_blob());
        const std::string& values = blob->blob().data();
        QCOMPARE(values.size(), std::size_t(4096));
        for (const std::int64_t i : {0, 77, 1023})
            QCOMPARE(wire::readElement(values.data(), i, DType::F32),
                     double(float(wire::seededValue(42, std::uint64_t(i), DType::F32)) + 1.0f));
        const auto answer = worker->receive();
        QVERIFY(answer && answer->has_run_result());
        QVERIFY(answer->run_result().fetched(0).low() == blob->blob().hash().low());
    }

    void devicesAreListed()
    {
        auto worker = Worker::start("lathe-runner");
        QVERIFY(worker);
        wire::Message list;
        list.mutable_list_devices()->set_id(9);
        const auto answer = worker->ask(list);
        QVERIFY(answer && answer->has_device_list());
        const auto devices = nlohmann::json::parse(answer->device_list().json());
        bool cpu = false;
        for (const auto& device : devices)
            cpu = cpu || device.value("kind", std::string()) == "cpu";
        QVERIFY(cpu);
    }

private:
    std::string m_artifact;
    Hash128 m_hash;
};

LATHE_TEST(TestRunner)

} // namespace tst_runner

#include "tst_runner.moc"
