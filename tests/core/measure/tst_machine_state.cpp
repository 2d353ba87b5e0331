#include "core/measure/machine_state.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cmath>

namespace tst_machine_state {

using namespace lathe::measure;

/// What the system tells, from files that a test wrote: process 100 with a child 101 of its own and a stranger 7.
class TestMachineState : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_roots = 0;
    double m_seconds = 0;

    QString makeRoot() { return m_folder.filePath(QString::number(++m_roots)); }
    static void put(const QString& root, const QString& name, const QByteArray& text)
    {
        QVERIFY(QDir().mkpath(QFileInfo(root + '/' + name).path()));
        QFile file(root + '/' + name);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    static QByteArray processLine(int id, const char* name, int parent, int user, int ofChildren)
    {
        return QByteArray::number(id) + " (" + name + ") S " + QByteArray::number(parent)
               + " 1 1 0 -1 4194304 10 0 0 0 " + QByteArray::number(user) + " 5 " + QByteArray::number(ofChildren)
               + " 0 20 0 1 0 100 0 0\n";
    }
    /// A machine of four processors, of which the process may use 0 and 2; ticks are hundredths.
    void putMachine(const QString& root, int busy, int idle, int own, int ofChild, int stolen)
    {
        const QByteArray one = QByteArray::number(busy) + " 0 0 " + QByteArray::number(idle) + " 0 0 0 "
                               + QByteArray::number(stolen) + " 0 0\n";
        put(root, "proc/stat",
            "cpu 1 2 3 4\ncpu0 " + one + "cpu1 9 9 9 9 9 9 9 9\ncpu2 " + one + "cpu3 9 9 9 9 9 9 9 9\nintr 5\n");
        put(root, "proc/100/status", "Name:\tlathe\nCpus_allowed_list:\t0,2\n");
        put(root, "proc/100/stat", processLine(100, "lathe (1) x", 7, own, 3));
        put(root, "proc/101/stat", processLine(101, "lathe-runner", 100, ofChild, 0));
        put(root, "proc/102/stat", processLine(102, "thread", 101, 0, 0));
        put(root, "proc/7/stat", processLine(7, "bash", 1, 5000, 9000));
        put(root, "proc/loadavg", "5.80 3.00 1.00 2/100 300\n");
    }
    MachineReader reader(const QString& root) const
    {
        return MachineReader(root.toStdString(), 100, [this] { return m_seconds; });
    }

private slots:
    void tellsWhatOthersTookOfTheProcessorsThatOneMayUse()
    {
        const QString root = makeRoot();
        const MachineReader machine = reader(root);
        m_seconds = 10;
        putMachine(root, 100, 900, 10, 10, 0);
        const MachineCounters before = machine.read();
        QCOMPARE(before.processors, 2);
        QCOMPARE(before.busySeconds, 2.0);
        QCOMPARE(before.ownSeconds, 0.38); // 10 + 5 + 3, 10 + 5, 5: the stranger's are not ours
        m_seconds = 15;
        putMachine(root, 500, 950, 110, 210, 50);
        const MachineState state = machineBetween(before, machine.read());
        QCOMPARE(state.seconds, 5.0);
        // On each of two processors 4 s busy, 0.5 s idle, 0.5 s stolen; 3 s of the 8 are our own.
        QCOMPARE(state.stolen, 0.1);
        QCOMPARE(state.others, 0.5);
        QCOMPARE(state.load, 5.8);
    }

    void sharesAreOfAllProcessorTime()
    {
        MachineCounters before, after;
        before.busySeconds = 100;
        before.idleSeconds = 50;
        before.stolenSeconds = 1;
        before.ownSeconds = 30;
        before.atSeconds = 1;
        after = before;
        after.atSeconds = 6;
        after.busySeconds += 7;
        after.idleSeconds += 2;
        after.stolenSeconds += 1;
        after.ownSeconds += 4;
        const MachineState state = machineBetween(before, after);
        QCOMPARE(state.others, 0.3);
        QCOMPARE(state.stolen, 0.1);
        QVERIFY(std::abs(state.taken() - 0.4) < 1e-12);
        after.ownSeconds = before.ownSeconds + 8; // ticks are counted at other moments than a processor's
        QCOMPARE(machineBetween(before, after).others, 0.0);
        after.busySeconds = before.busySeconds + 0.05;
        after.idleSeconds = before.idleSeconds + 0.05;
        after.stolenSeconds = before.stolenSeconds;
        QVERIFY2(std::isnan(machineBetween(before, after).taken()), "too short to say");
    }

    void tellsClocksHeatAndQuota()
    {
        const QString root = makeRoot();
        putMachine(root, 100, 900, 10, 10, 0);
        const QString cpu = QStringLiteral("sys/devices/system/cpu/cpu");
        put(root, cpu + "0/cpufreq/scaling_cur_freq", "1200000\n");
        put(root, cpu + "2/cpufreq/scaling_cur_freq", "1400000\n");
        put(root, cpu + "0/cpufreq/cpuinfo_max_freq", "4800000\n");
        put(root, cpu + "0/cpufreq/base_frequency", "2600000\n");
        put(root, cpu + "freq/nothing", "1\n");
        put(root, cpu + "0/thermal_throttle/core_throttle_count", "3\n");
        put(root, "sys/class/thermal/thermal_zone0/temp", "61000\n");
        put(root, "sys/class/thermal/thermal_zone1/temp", "93500\n");
        put(root, "proc/100/cgroup", "9:cpuset:/\n0::/user.slice/app\n");
        put(root, "sys/fs/cgroup/user.slice/app/cpu.stat", "usage_usec 5\nnr_throttled 2\nthrottled_usec 2500000\n");
        const MachineCounters before = reader(root).read();
        QCOMPARE(before.mhz, 1300.0);
        QCOMPARE(before.mostMhz, 2600.0);
        QCOMPARE(before.celsius, 93.5);
        QCOMPARE(before.heldBackSeconds, 2.5);
        put(root, cpu + "0/thermal_throttle/core_throttle_count", "5\n");
        put(root, "sys/fs/cgroup/user.slice/app/cpu.stat", "throttled_usec 4000000\n");
        const MachineState state = machineBetween(before, reader(root).read());
        QCOMPARE(state.heatSlowdowns, 2.0);
        QCOMPARE(state.heldBackSeconds, 1.5);
        put(root, "proc/100/cgroup", "4:cpu,cpuacct:/docker/x\n");
        put(root, "sys/fs/cgroup/cpu,cpuacct/cpu.stat", "throttled_time 7000000000\n");
        QCOMPARE(reader(root).read().heldBackSeconds, 7.0); // the container's own part, as the root
    }

    void whatIsNotToldIsUnknown()
    {
        const MachineCounters nothing = reader(makeRoot()).read();
        QCOMPARE(nothing.processors, 0);
        const MachineState state = machineBetween(nothing, nothing);
        for (const double figure : {state.others, state.stolen, state.taken(), state.mhz, state.mostMhz, state.celsius,
                                    state.load, state.heldBackSeconds, state.heatSlowdowns, state.controlNs})
            QVERIFY(std::isnan(figure));
        const MachineState again = machineStateIn(toJson(state));
        QVERIFY(std::isnan(again.others) && std::isnan(again.controlSpread));
        const QString damaged = makeRoot();
        put(damaged, "proc/stat", "cpu0 nonsense\ncpuX 1 2 3\n");
        put(damaged, "proc/100/stat", "100 (no end\n");
        QVERIFY(std::isnan(reader(damaged).read().ownSeconds));
    }

    void theControlKernelsTurns()
    {
        MachineState state;
        const double turns[] = {100, 90, std::nan(""), 270, 110};
        putControl(state, turns);
        QCOMPARE(state.controlNs, 110.0);
        QCOMPARE(state.controlSpread, 3.0);
        QCOMPARE(machineStateIn(toJson(state)).controlSpread, 3.0);
    }

    void readsThisMachine()
    {
        const MachineReader machine;
        const MachineCounters counters = machine.read();
        QVERIFY(counters.processors > 0);
        QVERIFY(counters.ownSeconds >= 0);
        QVERIFY(counters.busySeconds > 0);
    }
};

LATHE_TEST(TestMachineState)

} // namespace tst_machine_state

#include "tst_machine_state.moc"
