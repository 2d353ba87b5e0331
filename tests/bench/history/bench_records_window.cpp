// How the window bears a project with a million records: when it is usable, how long the list and the chart take to
// follow, and the longest time for which the event loop stood still meanwhile.
//     QT_QPA_PLATFORM=offscreen bench_records_window /tmp/million.lathe
// The project is one that bench_history makes.

#include "ui/bridge/session_bridge.h"
#include "ui/models/record_model.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"
#include "ui/pages/failures_page.h"
#include "ui/pages/records_page.h"

#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QtTest>

#include <fmt/format.h>

using namespace lathe;
using lathe::ui::RecordModel;

namespace {

/// The longest gap between two turns of the event loop.
class Probe : public QObject
{
public:
    Probe()
    {
        m_clock.start();
        connect(&m_timer, &QTimer::timeout, this, [this] {
            m_longest = std::max(m_longest, m_clock.nsecsElapsed());
            m_clock.restart();
        });
        m_timer.start(0);
    }
    void reset()
    {
        m_longest = 0;
        m_clock.restart();
    }
    double longestMs() const { return static_cast<double>(m_longest) / 1e6; }

private:
    QTimer m_timer;
    QElapsedTimer m_clock;
    qint64 m_longest = 0;
};

template<typename Act, typename Done>
void step(Probe& probe, const char* what, Act act, Done done)
{
    QElapsedTimer clock;
    probe.reset();
    clock.start();
    act();
    if (!QTest::qWaitFor(done, 120000))
        fmt::print("{:<40} did not end in two minutes\n", what);
    else
        fmt::print("{:<40} {:8.0f} ms, longest stall {:6.1f} ms\n", what,
                   static_cast<double>(clock.nsecsElapsed()) / 1e6, probe.longestMs());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    QStandardPaths::setTestModeEnabled(true);
    QApplication app(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("LatheBench"));
    QApplication::setApplicationName(QStringLiteral("LatheBench"));
    if (argc < 2) {
        fmt::print(stderr, "bench_records_window: say which project: one that bench_history makes\n");
        return 1;
    }
    Probe probe;
    ui::Workspace workspace;
    ui::RecordsPage page(workspace, nullptr);
    page.resize(1200, 700);
    page.show();
    auto& model = page.model();
    auto* table = page.findChild<QTableView*>(QStringLiteral("recordTable"));
    const auto read = [&](int row) {
        return model.rowCount() > row && !model.index(row, RecordModel::TrialColumn).data().toString().isEmpty();
    };
    step(
        probe, "open, until the first rows are shown", [&] { workspace.open(QString::fromLocal8Bit(argv[1]), {}); },
        [&] { return model.rowCount() > 0 && read(0); });
    const int all = model.rowCount();
    fmt::print("{} rows\n", all);
    step(
        probe, "scroll to the end in 400 turns",
        [&] {
            for (int i = 1; i <= 400; ++i) {
                table->verticalScrollBar()->setValue(
                    static_cast<int>(static_cast<double>(table->verticalScrollBar()->maximum()) * i / 400));
                QCoreApplication::processEvents();
            }
        },
        [&] { return read(all - 1); });
    for (int column = 0; column < RecordModel::ColumnCount; ++column) {
        const QByteArray name = "sort by "
                                + model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString().toUtf8();
        step(
            probe, name.constData(), [&] { table->horizontalHeader()->setSortIndicator(column, Qt::AscendingOrder); },
            [&] { return !model.isReading() && read(0); });
    }
    table->horizontalHeader()->setSortIndicator(RecordModel::TimeColumn, Qt::DescendingOrder);
    ui::TrialFilter& filter = ui::TrialFilter::of(workspace);
    const auto restrict = [&](const char* what, auto change) {
        session::TrialQuery query;
        change(query);
        step(
            probe, what, [&] { filter.set(query, false); },
            [&] { return !model.isReading() && model.rowCount() < all && read(0); });
        step(
            probe, "  and all again", [&] { filter.set({}, false); },
            [&] { return !model.isReading() && model.rowCount() == all && read(0); });
    };
    restrict("one task", [](session::TrialQuery& q) { q.task = 1; });
    restrict("failed", [](session::TrialQuery& q) { q.code = "failed"; });
    restrict("from 2 to 3 ms", [](session::TrialQuery& q) { q.minMs = 2, q.maxMs = 3; });
    restrict("text", [](session::TrialQuery& q) { q.text = "winograd"; });
    restrict("notes", [](session::TrialQuery& q) { q.noted = true; });
    auto* chart = page.findChild<QToolButton*>(QStringLiteral("recordChart"));
    auto* summary = page.findChild<QLabel*>(QStringLiteral("scatterSummary"));
    step(
        probe, "chart of predicted and measured", [&] { chart->setChecked(true); },
        [&] { return summary->text().contains(QStringLiteral("every one counted")); });
    auto* across = page.findChild<QComboBox*>(QStringLiteral("scatterX"));
    const QString before = summary->text();
    step(
        probe, "chart of time and measured", [&] { across->setCurrentIndex(2); },
        [&] { return summary->text() != before; });
    chart->setChecked(false);
    ui::FailuresPage failures(workspace, nullptr);
    auto* causes = failures.findChild<QTableView*>(QStringLiteral("failureTable"));
    step(
        probe, "failures by cause", [&] { failures.show(); }, [&] { return causes->model()->rowCount() > 0; });
    return 0;
}
