#include "core/search/task_scheduler.h"
#include "core/session/run/steering.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_steering {

using namespace lathe;
using session::Steering;
using session::TaskBudget;

class TestSteering : public QObject
{
    Q_OBJECT

private slots:
    void changesAreTakenOnce()
    {
        Steering steering;
        steering.restore({TaskBudget{}, TaskBudget{true, false, 1, 0}});
        QVERIFY(steering.takeChanges().empty()); // what was stored is known
        steering.setBudget(0, {false, true, 1, 0});
        steering.setBudget(0, {false, false, 2, 64});
        const auto changes = steering.takeChanges();
        QCOMPARE(changes.size(), std::size_t{1});
        QCOMPARE(changes[0].first, 0);
        QVERIFY((changes[0].second == TaskBudget{false, false, 2, 64}));
        QVERIFY(steering.takeChanges().empty());
        QVERIFY((steering.budgets()[1] == TaskBudget{true, false, 1, 0}));
        QVERIFY(!steering.runTimeout());
        steering.setRunTimeout(30);
        QCOMPARE(*steering.runTimeout(), 30.0);
    }

    void theSchedulerFollowsBudgets()
    {
        const auto make = [] {
            std::vector<search::ScheduledTask> tasks = {{"a", 1, 1e6, {}, 0}, {"b", 1, 1e6, {}, 0}};
            auto scheduler = search::TaskScheduler::create("gradient", tasks, {});
            if (!scheduler)
                qFatal("%s", scheduler.error().message.c_str());
            (*scheduler)->tell(0, {64, 2e-3, 1, false});
            (*scheduler)->tell(1, {64, 1e-3, 1, false});
            return *std::move(scheduler);
        };
        QCOMPARE(make()->next(), 0); // the slower one promises more
        {
            const auto scheduler = make();
            scheduler->setBoost(1, 8);
            QCOMPARE(scheduler->next(), 1);
        }
        {
            const auto scheduler = make();
            scheduler->setPinned(1, true);
            QCOMPARE(scheduler->next(), 1);
        }
        {
            const auto scheduler = make();
            scheduler->setMuted(0, true);
            scheduler->setTrialCap(1, 64);
            QCOMPARE(scheduler->next(), -1); // nobody is left
        }
    }
};

LATHE_TEST(TestSteering)

} // namespace tst_steering

#include "tst_steering.moc"
