#include "core/store/project.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/record_model.h"
#include "ui/models/selection.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"
#include "ui/pages/records_page.h"
#include "ui/pages/scheduler_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QMenu>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>

namespace tst_record_filter {

using namespace lathe;
using test::find;
using test::must;

/// A project with runs for two targets: what the list and its chart are restricted to, and what their menus offer.
class TestRecordFilter : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::unique_ptr<ui::Workspace> m_workspace;
    std::unique_ptr<ui::RecordsPage> m_records;
    std::unique_ptr<ui::SchedulerPage> m_scheduler;

    /// A second run, for another target, with latencies from 0.01 to 100 ms.
    static void addRun(const std::filesystem::path& file)
    {
        auto project = must(store::Project::open(file, store::Project::Access::Write));
        const std::vector<Record> known = must(project.sessionRecords(1));
        const auto run = must(
            project.addSession({0, must(project.models()).back().id, "cpu", "{}", 1700000500000, 30, "stopped"}));
        std::vector<Record> records;
        for (int i = 0; i < 5; ++i) {
            Record made = known.front();
            made.trial = contentHash("other" + std::to_string(i)).hex();
            made.session = run;
            made.target = "cpu";
            made.index = i;
            made.result.costsNs = {1e4 * std::pow(10.0, i)};
            records.push_back(made);
        }
        must(project.addRecords(records));
    }

    void choose(const char* box, const QString& text) const
    {
        auto* const combo = find<QComboBox>(m_records.get(), box);
        QTRY_VERIFY2(combo->findText(text, Qt::MatchStartsWith) >= 0, qPrintable(text));
        combo->setCurrentIndex(combo->findText(text, Qt::MatchStartsWith));
    }

    /// Triggers an entry of the menu that a right click on a row opens.
    static bool inMenu(QTableView& table, int row, const QString& text)
    {
        bool done = false;
        QTimer::singleShot(0, &table, [&] {
            auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (menu == nullptr)
                return;
            for (QAction* action : menu->actions())
                if (QString(action->text()).remove(QLatin1Char('&')) == text && action->isEnabled()) {
                    action->trigger();
                    done = true;
                }
            menu->close();
        });
        const QPoint at = table.visualRect(table.model()->index(row, 1)).center();
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, table.viewport()->mapToGlobal(at));
        QApplication::sendEvent(table.viewport(), &event);
        return done;
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        const QString file = m_dir.filePath("two.lathe");
        test::makeProject(file, test::Project::Mixed);
        addRun(file.toStdString());
        m_workspace = std::make_unique<ui::Workspace>();
        m_records = std::make_unique<ui::RecordsPage>(*m_workspace, nullptr);
        m_scheduler = std::make_unique<ui::SchedulerPage>(*m_workspace, nullptr);
        for (QWidget* page : {static_cast<QWidget*>(m_records.get()), static_cast<QWidget*>(m_scheduler.get())}) {
            page->resize(1000, 700);
            page->show();
        }
        QSignalSpy opened(&m_workspace->bridge(), &ui::SessionBridge::opened);
        m_workspace->open(file, QStringLiteral("sim"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    }

    void trialsOfOneRunOrTargetAreListed()
    {
        auto* const table = find<QTableView>(m_records.get(), "recordTable");
        QTRY_COMPARE(table->model()->rowCount(), 101);
        QTRY_VERIFY(find<QComboBox>(m_records.get(), "recordRun")->isVisible());
        choose("recordRun", "run 2");
        QTRY_COMPARE(table->model()->rowCount(), 5);
        choose("recordTarget", "simulated device"); // both hold
        QTRY_COMPARE(table->model()->rowCount(), 0);
        choose("recordRun", "all runs");
        QTRY_COMPARE(table->model()->rowCount(), 96);
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
        QTRY_COMPARE(table->model()->rowCount(), 101);
        QCOMPARE(find<QComboBox>(m_records.get(), "recordTarget")->currentIndex(), 0);
    }

    /// The page of a window of 1280 pixels between both docks, with targets and runs to choose from, in both languages.
    void noFilterIsCut()
    {
        m_records->resize(510, 700);
        for (const char* language : {"zh_CN", "en"}) {
            ui::Language::instance().set(QString::fromLatin1(language));
            QTRY_VERIFY(find<QComboBox>(m_records.get(), "recordTarget")->isVisible());
            QVERIFY2(m_records->width() <= 600, qPrintable(QString::number(m_records->width()))); // else it asks for more
            for (const char* name : {"recordTask", "recordRun", "recordTarget", "recordState", "recordMin", "recordMax",
                                     "recordCount", "recordText", "recordNoted", "recordChart", "recordExport"}) {
                const auto* const field = find<QWidget>(m_records.get(), name);
                const auto isWhole = [this, field] {
                    const QRect place(field->mapTo(m_records.get(), QPoint()), field->size());
                    return m_records->rect().contains(place) && place.width() >= field->minimumSizeHint().width();
                };
                QTRY_VERIFY2(isWhole(), qPrintable(QStringLiteral("%1, %2: %3 of %4")
                                                       .arg(QLatin1String(language), QLatin1String(name))
                                                       .arg(field->width())
                                                       .arg(field->minimumSizeHint().width())));
            }
        }
        m_records->resize(1000, 700);
    }

    void whatSpansMoreThanADecadeIsLogarithmic()
    {
        find<QToolButton>(m_records.get(), "recordChart")->setChecked(true);
        find<QComboBox>(m_records.get(), "scatterX")->setCurrentIndex(3); // place in the project
        auto* const log = find<QToolButton>(m_records.get(), "scatterLogY");
        choose("recordTarget", "simulated device"); // 8 to 27 ms
        auto* const table = find<QTableView>(m_records.get(), "recordTable");
        QTRY_COMPARE(table->model()->rowCount(), 96);
        QTRY_VERIFY(!log->isChecked());
        choose("recordTarget", "this CPU"); // 0.01 to 100 ms
        QTRY_VERIFY(log->isChecked());
        QVERIFY(!find<QToolButton>(m_records.get(), "scatterLogX")->isChecked()); // places are no latencies
        // Who chooses otherwise is obeyed from then on.
        QTest::mouseClick(log, Qt::LeftButton);
        QVERIFY(!log->isChecked());
        choose("recordTarget", "simulated device");
        QTRY_COMPARE(table->model()->rowCount(), 96);
        choose("recordTarget", "this CPU");
        QTRY_COMPARE(table->model()->rowCount(), 5);
        QTest::qWait(50);
        QVERIFY(!log->isChecked());
        find<QToolButton>(m_records.get(), "recordChart")->setChecked(false);
        QTest::mouseClick(find<QToolButton>(m_records.get(), "recordClear"), Qt::LeftButton);
    }

    void menusLeadToTrials()
    {
        auto* const table = find<QTableView>(m_records.get(), "recordTable");
        QTRY_COMPARE(table->model()->rowCount(), 101);
        QTRY_VERIFY(table->model()->index(0, 0).data(ui::RecordModel::RunIdRole).toLongLong() > 0);
        QVERIFY(inMenu(*table, 0, "Show the trials of this run"));
        QTRY_VERIFY(table->model()->rowCount() == 5 || table->model()->rowCount() == 96);
        // A round's task leads there, too.
        auto* const rounds = find<QTableView>(m_scheduler.get(), "roundTable");
        QTRY_COMPARE(rounds->model()->rowCount(), 12);
        QVERIFY(inMenu(*rounds, 0, "Show its failed trials"));
        const session::TrialQuery& query = ui::TrialFilter::of(*m_workspace).query();
        QVERIFY(query.task >= 0);
        QCOMPARE(query.code, std::string("failed"));
        QVERIFY(inMenu(*rounds, 1, "Select the task"));
        QVERIFY(m_workspace->selection().current().task >= 0);
    }

    void theDetailsStandClearOfTheGrip()
    {
        const auto* const detail = find<QWidget>(m_records.get(), "recordDetail");
        const auto labels = detail->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly);
        for (const QWidget* label : labels)
            QVERIFY2(label->isHidden() || label->y() >= 5, qPrintable(label->objectName()));
    }

    void cleanupTestCase()
    {
        m_records.reset();
        m_scheduler.reset();
        m_workspace.reset();
    }
};

LATHE_TEST_GUI(TestRecordFilter)

} // namespace tst_record_filter

#include "tst_record_filter.moc"
