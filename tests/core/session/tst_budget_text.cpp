#include "core/session/options/budget_text.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_budget_text {

using namespace lathe;
using namespace lathe::session;

namespace {
constexpr std::chrono::seconds kNoon = std::chrono::hours(12);
}

/// Budgets in a person's words.
class TestBudgetText : public QObject
{
    Q_OBJECT

private slots:
    void wordsAreUnderstood_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("seconds");
        QTest::addColumn<qlonglong>("trials");
        QTest::addColumn<double>("percent");
        QTest::addColumn<double>("window");
        const auto row = [](const char* text, double seconds, qlonglong trials = 0, double percent = 0,
                            double window = 3600) {
            QTest::newRow(text) << QString::fromUtf8(text) << seconds << trials << percent << window;
        };
        row("20 min", 1200);
        row("20", 1200);
        row("90s", 90);
        row("1.5 h", 5400);
        row("1 h 30 min", 5400);
        row("2 HOURS", 7200);
        row("until 18:00", 6 * 3600);
        row("18:30", 6.5 * 3600);
        row("until 9:00", 21 * 3600); // tomorrow
        row("until 12:00", 24 * 3600);
        row("1000 trials", 0, 1000);
        row("20 min, 1000 trials", 1200, 1000);
        row("20 min or 1000 trials", 1200, 1000);
        row("until the last hour gained under 0.1 %", 0, 0, 0.1, 3600);
        row("until the last 10 min gained less than 0.5%", 0, 0, 0.5, 600);
        row("8 h, until the last hour gained under 0.1 %", 28800, 0, 0.1, 3600);
        row("20 分钟", 1200);
        row("20分钟", 1200);
        row("1.5 小时", 5400);
        row("1 小时 30 分", 5400);
        row("到 18:00", 6 * 3600);
        row("直到 18：00", 6 * 3600);
        row("到 18 时", 6 * 3600);
        row("1000 次", 0, 1000);
        row("1000 次试验", 0, 1000);
        row("20 分钟或 1000 次试验", 1200, 1000);
        row("直到最近一小时提升不到 0.1 %", 0, 0, 0.1, 3600);
        row("直到最近 10 分钟的收益低于 0.5％", 0, 0, 0.5, 600);
    }
    void wordsAreUnderstood()
    {
        QFETCH(QString, text);
        TuneOptions options;
        options.earlyStop = 7;
        const auto applied = applyBudget(text.toStdString(), kNoon, options);
        QVERIFY2(applied, applied ? "" : applied.error().message.c_str());
        QTEST(options.seconds, "seconds");
        QTEST(static_cast<qlonglong>(options.trials), "trials");
        QTEST(options.minGainPercent, "percent");
        QTEST(options.gainWindowSeconds, "window");
        QCOMPARE(options.earlyStop, std::int64_t{7}); // what it does not say stays
    }

    void whatIsNoBudgetIsRefusedInOneSentence_data()
    {
        QTest::addColumn<QString>("text");
        for (const char* text : {"",
                                 "  ",
                                 ",",
                                 "soon",
                                 "0 min",
                                 "-5 min",
                                 "5 parsecs",
                                 "until 25:00",
                                 "until 18:77",
                                 "until",
                                 "1.5 trials",
                                 "20 min 5",
                                 "0.1 %",
                                 "until the last hour gained under 0 %",
                                 "until the last hour gained under 100 %",
                                 "99999999999999999999 h",
                                 "1e9 h",
                                 "20 min, soon",
                                 "明天",
                                 "20 分钟以后再说"})
            QTest::newRow(text) << QString::fromUtf8(text);
    }
    void whatIsNoBudgetIsRefusedInOneSentence()
    {
        QFETCH(QString, text);
        TuneOptions options;
        options.seconds = 5;
        const auto applied = applyBudget(text.toStdString(), kNoon, options);
        QVERIFY(!applied);
        QVERIFY(applied.error().code == Errc::InvalidArgument);
        QVERIFY(applied.error().message.find("20 min") != std::string::npos); // how to say it
        QCOMPARE(options.seconds, 5.0);
    }
};

LATHE_TEST(TestBudgetText)

} // namespace tst_budget_text

#include "tst_budget_text.moc"
