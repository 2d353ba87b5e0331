#include "tests/support/farm_runner.h"
#include "tests/support/killed_run.h"
#include "tests/support/measured.h"
#include "tests/support/nats_proxy.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <csignal>
#include <map>

namespace tst_farm_faults {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::FarmRunner;
using lathe::test::firstDifference;
using lathe::test::kAllLineFaults;
using lathe::test::LineFault;
using lathe::test::LinePlan;
using lathe::test::measureAll;
using lathe::test::Measured;
using lathe::test::named;
using lathe::test::NatsProxy;
using lathe::test::NatsServer;
using lathe::test::optionsFor;

namespace {

constexpr int kRequests = 8;

} // namespace

/// A farm on bad lines. What comes out is what a run on this machine alone gives, which nobody disturbs: all of it, in
/// order, with the same costs.
class TestFarmFaults : public QObject
{
    Q_OBJECT

    lathe::test::Calm m_calm;

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
        const QString failed = m_calm.measure(kRequests);
        QVERIFY2(failed.isEmpty(), qPrintable(failed));
    }

    void aBadLineCostsNothing_data()
    {
        QTest::addColumn<QList<int>>("faults");
        QTest::addColumn<bool>("atUser");
        QTest::addColumn<bool>("atRunner");
        const std::map<const char*, LineFault> kinds = {{"dropped", LineFault::Drop},
                                                        {"late", LineFault::Delay},
                                                        {"doubled", LineFault::Duplicate},
                                                        {"out of order", LineFault::Reorder},
                                                        {"cut in half", LineFault::Cut}};
        for (const auto& [name, fault] : kinds) {
            const QList<int> one = {int(fault)};
            QTest::addRow("%s, the user's", name) << one << true << false;
            QTest::addRow("%s, the runner's", name) << one << false << true;
            QTest::addRow("%s, both", name) << one << true << true;
        }
        QList<int> all;
        for (const LineFault fault : kAllLineFaults)
            all << int(fault);
        QTest::addRow("all, the user's") << all << true << false;
        QTest::addRow("all, the runner's") << all << false << true;
        QTest::addRow("all, both") << all << true << true;
    }
    void aBadLineCostsNothing()
    {
        QFETCH(QList<int>, faults);
        QFETCH(bool, atUser);
        QFETCH(bool, atRunner);
        NatsServer server;
        QVERIFY(server.start());
        NatsProxy users(server.port()), runners(server.port());
        auto board = FarmRunner::start(runners.url(), "board", named("line"));
        QVERIFY(board);
        LinePlan plan;
        for (const int fault : faults)
            plan.faults.push_back(static_cast<LineFault>(fault));
        // A connection takes a while to be made again, and so does what was lost.
        plan.every = plan.faults == std::vector{LineFault::Cut} ? 40 : faults.contains(int(LineFault::Drop)) ? 12 : 4;
        plan.every *= atUser && atRunner ? 2 : 1;
        // From before the device is offered to after the last result.
        plan.seed = m_calm.nextSeed();
        if (atUser)
            users.setPlan(plan);
        plan.seed = m_calm.nextSeed();
        if (atRunner)
            runners.setPlan(plan);
        auto measurer = Measurer::create(optionsFor(users.url()));
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        const auto wentWrong = [&](const NatsProxy& line) {
            return std::ranges::all_of(plan.faults, [&](LineFault fault) { return line.done(fault) > 0; });
        };
        int rounds = 0;
        do {
            const Measured measured = measureAll(**measurer, kRequests);
            QVERIFY2(measured.error.empty(), measured.error.c_str());
            QCOMPARE(firstDifference(measured.lines, m_calm.lines()), QString());
        } while (++rounds < 10 && !((!atUser || wentWrong(users)) && (!atRunner || wentWrong(runners))));
        for (const LineFault fault : plan.faults) {
            QCOMPARE(users.done(fault) > 0, atUser);
            QCOMPARE(runners.done(fault) > 0, atRunner);
        }
    }
};

LATHE_TEST(TestFarmFaults)

} // namespace tst_farm_faults

#include "tst_farm_faults.moc"
