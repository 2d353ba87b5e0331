#include "core/serve/audit_log.h"
#include "core/serve/machine_health.h"
#include "core/serve/machine_lock.h"
#include "core/support/files.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace tst_machine {

using namespace lathe;
using namespace lathe::serve;

/// What runners of one machine share, and what they tell of it.
class TestMachine : public QObject
{
    Q_OBJECT

    static void write(const std::filesystem::path& file, const std::string& text)
    {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }

private slots:
    void oneAtATimeHasALock()
    {
        const std::string name = "lathe-test-" + std::to_string(::getpid());
        auto first = MachineLock::tryTake(name);
        QVERIFY(first);
        QVERIFY(!MachineLock::tryTake(name));
        QVERIFY(MachineLock::tryTake(name + "-other"));
        first.reset();
        QVERIFY(MachineLock::tryTake(name));
    }

    void aLockEndsWithItsProcess()
    {
        const std::string name = "lathe-test-" + std::to_string(::getpid());
        const pid_t child = ::fork();
        if (child == 0) {
            const auto held = MachineLock::tryTake(name);
            ::_exit(held ? 0 : 1); // without letting it go
        }
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(status, 0);
        QVERIFY(MachineLock::tryTake(name));
    }

    void healthIsWhatTheSystemTells()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto& root = dir->path();
        write(root / "proc/loadavg", "1.25 0.8 0.5 2/300 4242\n");
        write(root / "proc/meminfo", "MemTotal: 8000000 kB\nMemFree: 10 kB\nMemAvailable:    2048000 kB\n");
        write(root / "sys/class/thermal/thermal_zone0/temp", "41000\n");
        write(root / "sys/class/thermal/thermal_zone1/temp", "63500\n");
        write(root / "sys/class/thermal/cooling_device0/temp", "99000\n");
        write(root / "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "600000\n");
        write(root / "sys/devices/system/cpu/cpufreq/policy1/scaling_cur_freq", "1500000\n");
        write(root / "sys/devices/system/cpu/cpufreq/policy1/cpuinfo_max_freq", "1800000\n");
        const nlohmann::json health = machineHealth(root);
        QCOMPARE(health.value("load", -1.0), 1.25);
        QCOMPARE(health.value("memory_free_mb", -1.0), 2000.0);
        QCOMPARE(health.value("temperature_c", -1.0), 63.5);
        QCOMPARE(health.value("clock_mhz", -1.0), 1500.0);
        QCOMPARE(health.value("clock_most_mhz", -1.0), 1800.0);
        QVERIFY(health.value("processors", 0) > 0);
    }

    void whatTheSystemDoesNotTellIsLeftOut()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        write(dir->path() / "sys/class/thermal/thermal_zone0/temp", "broken\n");
        const nlohmann::json health = machineHealth(dir->path());
        QCOMPARE(health.size(), std::size_t(1)); // processors
    }

    void theAuditIsAppendedTo()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto file = dir->path() / "audit.jsonl";
        for (const char* user : {"ada", "bob"}) {
            auto log = AuditLog::open(file);
            QVERIFY(log);
            QVERIFY(log->write({{"user", user}}));
        }
        std::ifstream lines(file);
        for (std::string user : {"ada", "bob"}) {
            std::string line;
            QVERIFY(std::getline(lines, line));
            const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
            QCOMPARE(entry.value("user", std::string()), user);
            QCOMPARE(entry.value("time", std::string()).size(), std::size_t(20)); // 2026-01-31T23:59:59Z
        }
    }

    /// The disk was full, or the power failed, in the middle of a line.
    void aTornLineOfTheAuditSpoilsNoOther()
    {
        auto dir = TempDir::create("lathe-audit");
        QVERIFY(dir);
        const auto file = dir->path() / "audit.jsonl";
        std::ofstream(file) << "{\"user\": \"ad";
        auto log = AuditLog::open(file);
        QVERIFY(log && log->write({{"user", "bob"}}));
        std::ifstream lines(file);
        std::string torn, whole;
        QVERIFY(std::getline(lines, torn) && std::getline(lines, whole));
        QCOMPARE(torn, std::string("{\"user\": \"ad"));
        QVERIFY(nlohmann::json::parse(whole, nullptr, false).value("user", std::string()) == "bob");
    }

    void anAuditThatCannotBeWrittenIsAnError()
    {
        auto full = AuditLog::open("/dev/full");
        QVERIFY(full);
        const auto written = full->write({{"user", "ada"}});
        QVERIFY(!written);
        QVERIFY2(written.error().message.find("/dev/full") != std::string::npos, written.error().message.c_str());
        QVERIFY(!AuditLog::open("/nowhere/audit.jsonl"));
        QVERIFY(AuditLog().write({{"user", "ada"}})); // of no file
    }
};

LATHE_TEST(TestMachine)

} // namespace tst_machine

#include "tst_machine.moc"
