#include "core/support/subprocess.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stop_token>
#include <thread>

namespace tst_subprocess {

using namespace lathe;

namespace {

SubprocessOptions shell(const char* script)
{
    SubprocessOptions options;
    options.program = "/bin/sh";
    options.arguments = {"-c", script};
    return options;
}

/// Running, and no zombie.
bool alive(pid_t pid)
{
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(stat, text))
        return false;
    return text[text.rfind(')') + 2] != 'Z';
}

} // namespace

class TestSubprocess : public QObject
{
    Q_OBJECT

private slots:
    void inputOutputAndStatusGoThrough()
    {
        const auto done = runProcess(shell("cat; echo problem >&2; exit 3"), "hello", Deadline::inSeconds(20));
        QVERIFY(done);
        QCOMPARE(QString::fromStdString(done->output), QString("hello"));
        QCOMPARE(QString::fromStdString(done->errors), QString("problem\n"));
        QVERIFY(!done->exit.signalled);
        QCOMPARE(done->exit.code, 3);
    }

    void muchOutputDoesNotDeadlock()
    {
        const std::string input(3 << 20, 'x');
        const auto done = runProcess(shell("cat"), input, Deadline::inSeconds(20));
        QVERIFY(done);
        QCOMPARE(done->output.size(), input.size());
    }

    void aReaderThatGoesAwayDoesNotEndUs()
    {
        const auto done = runProcess(shell("exec 0<&-; exit 0"), std::string(3 << 20, 'x'), Deadline::inSeconds(20));
        QVERIFY(done);
        QVERIFY(done->exit.ok());
    }

    void environmentIsAdded()
    {
        SubprocessOptions options = shell("printf %s \"$LATHE_TEST_WORD\"");
        options.environment = {{"LATHE_TEST_WORD", "grain"}};
        const auto done = runProcess(options, "", Deadline::inSeconds(20));
        QVERIFY(done);
        QCOMPARE(QString::fromStdString(done->output), QString("grain"));
    }

    void aMissingProgramIsAnError()
    {
        SubprocessOptions options;
        options.program = "/nowhere/at/all";
        const auto started = Subprocess::start(options);
        QVERIFY(!started);
        QCOMPARE(int(started.error().code), int(Errc::NotFound));
    }

    void aSignalHasAName()
    {
        const auto done = runProcess(shell("kill -SEGV $$"), "", Deadline::inSeconds(20));
        QVERIFY(done);
        QVERIFY(done->exit.signalled);
        QCOMPARE(QString::fromStdString(done->exit.text()), QString("signal 11 (SIGSEGV, segmentation fault)"));
    }

    void aStopKillsTheChildLongBeforeItsDeadline()
    {
        std::stop_source source;
        std::jthread later([&source] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            source.request_stop();
        });
        const auto done = runProcess(shell("sleep 1000"), "", Deadline::inSeconds(500), 1 << 20, source.get_token());
        QVERIFY(!done);
        QVERIFY(done.error().code == Errc::Cancelled);
    }

    void aStopThatNeverComesChangesNothing()
    {
        std::stop_source source;
        const auto done = runProcess(shell("sleep 0.2; echo done"), "", Deadline::inSeconds(20), 1 << 20,
                                     source.get_token());
        QVERIFY(done);
        QCOMPARE(QString::fromStdString(done->output), QString("done\n"));
        const auto late = runProcess(shell("sleep 1000"), "", Deadline::inSeconds(0.2), 1 << 20, source.get_token());
        QVERIFY(!late);
        QVERIFY(late.error().code == Errc::RunTimeout);
    }

    void theDeadlineKillsTheWholeGroup()
    {
        auto child = Subprocess::start(shell("sleep 1000 & echo $!; wait"));
        QVERIFY(child);
        std::string text;
        QTRY_VERIFY([&] {
            char buffer[32];
            const ssize_t n = ::read(child->output(), buffer, sizeof buffer);
            if (n > 0)
                text.append(buffer, static_cast<std::size_t>(n));
            return text.find('\n') != std::string::npos;
        }());
        const pid_t grandchild = std::stoi(text);
        QVERIFY(alive(grandchild));
        QVERIFY(!child->wait(Deadline::inSeconds(0.01)));
        const ProcessExit exit = child->kill();
        QVERIFY(exit.signalled);
        QCOMPARE(exit.code, SIGKILL);
        QVERIFY(!child->running());
        QTRY_VERIFY(!alive(grandchild));
    }

    void aTimeoutIsAnError()
    {
        const auto done = runProcess(shell("sleep 1000"), "", Deadline::inSeconds(0.05));
        QVERIFY(!done);
        QCOMPARE(int(done.error().code), int(Errc::RunTimeout));
    }

    void theDestructorLeavesNothingBehind()
    {
        pid_t pid = 0;
        {
            auto child = Subprocess::start(shell("sleep 1000"));
            QVERIFY(child);
            pid = child->pid();
            QVERIFY(alive(pid));
        }
        QVERIFY(!alive(pid));
    }
};

LATHE_TEST(TestSubprocess)

} // namespace tst_subprocess

#include "tst_subprocess.moc"
