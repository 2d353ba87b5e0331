#include "core/runtime/codes.h"
#include "core/support/check.h"
#include "core/support/checks.h"
#include "core/support/errc.h"
#include "core/support/subprocess.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace tst_checks {

using namespace lathe;

/// Checks that cost time are on in tests and in the workers that they start, and the codes of every plugin are one
/// list.
class TestChecks : public QObject
{
    Q_OBJECT

private slots:
    void testProgramsHaveThemOn() { QVERIFY(checksAreOn()); }

    void workersInheritThem()
    {
        SubprocessOptions options;
        options.program = "/bin/sh";
        options.arguments = {"-c", "printf %s \"$LATHE_CHECKS\""};
        const auto run = runProcess(options, {}, Deadline::inSeconds(20));
        QVERIFY(run && run->exit.ok());
        QCOMPARE(run->output, std::string("1"));
    }

    void aFailedCheckOfAHotLoopEndsTheProgram()
    {
        LATHE_DCHECK(1 + 1 == 2) << "arithmetic";
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGABRT, SIG_DFL);
            std::freopen("/dev/null", "w", stderr);
            LATHE_DCHECK(1 + 1 == 3) << "arithmetic";
            std::_Exit(0);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }

    /// Every code has a name that is read back, and there is none beyond the last.
    void codesAreThoseOfPlugins()
    {
        for (std::uint8_t code = LATHE_ERRC_OK; code <= LATHE_ERRC_INTERNAL; ++code) {
            const auto name = toString(static_cast<Errc>(code));
            QVERIFY(code == LATHE_ERRC_INTERNAL || name != "Internal");
            QCOMPARE(int(*errcFromString(name)), int(code));
        }
        QCOMPARE(toString(static_cast<Errc>(LATHE_ERRC_INTERNAL + 1)), std::string_view("Internal"));
        QCOMPARE(int(Errc::DeviceLost), int(LATHE_ERRC_DEVICE_LOST));
    }
};

LATHE_TEST(TestChecks)

} // namespace tst_checks

#include "tst_checks.moc"
