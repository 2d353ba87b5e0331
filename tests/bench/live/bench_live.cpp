// What the window costs while a run goes on, and what a chart costs to draw. By hand only; offscreen unless
// QT_QPA_PLATFORM says otherwise.
//
//   bench_live window [MODEL] [SECONDS]   200 trials a second for SECONDS (30), then an hour's worth as fast as it is
//   taken bench_live chart [CURVES] [POINTS]  LatencyChart with 30 curves of 100,000 points: first and later drawings

#include "ui/bridge/session_bridge.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/shell/main_window.h"
#include "ui/views/latency_chart.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QImage>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTimer>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>

using namespace lathe;

namespace {

constexpr int kPerSecond = 200, kBatchesPerSecond = 10, kRound = 64;

double cpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// MiB that this process holds.
double memory()
{
    std::ifstream in("/proc/self/statm");
    double total = 0, resident = 0;
    in >> total >> resident;
    return resident * 4096 / (1 << 20);
}

/// Events of a run that gives the tasks rounds in turn; every 300th trial fails.
class Feed
{
public:
    explicit Feed(int tasks)
        : m_best(static_cast<std::size_t>(tasks), 10.0)
    {
    }

    std::vector<session::Event> next()
    {
        std::vector<session::Event> events;
        m_at += 1.0 / kBatchesPerSecond;
        for (int i = 0; i < kPerSecond / kBatchesPerSecond; ++i) {
            const auto task = static_cast<std::int32_t>(static_cast<std::size_t>(m_round) % m_best.size());
            if (m_index == 0)
                events.push_back(
                    {m_at, session::RoundEvent{m_round,
                                               task,
                                               kRound,
                                               {{"gain_per_second", 1e-5}, {"next_best", 1e-6}, {"next_best_task", 1}},
                                               "promise"}});
            const bool failed = ++m_trials % 300 == 0;
            double& best = m_best[static_cast<std::size_t>(task)];
            const double cost = best * (1 + 0.2 * std::abs(m_noise(m_random)));
            session::TrialView view{fmt::format("{:032x}", m_trials),
                                    m_round,
                                    m_index,
                                    task,
                                    fmt::format("{:032x}", m_trials * 7),
                                    "lathe-cpu/1:direct",
                                    failed ? session::kUnknown : cost,
                                    failed ? "run" : "done",
                                    failed ? "RunTimeout" : "Ok",
                                    failed ? "took longer than 10 s" : ""};
            events.push_back({m_at, session::TrialEvent{std::move(view)}});
            if (!failed && m_trials % 97 == 0) {
                best *= 0.999;
                events.push_back({m_at, session::BestEvent{task, best, "direct"}});
            }
            if (++m_index == kRound) {
                double estimate = 0;
                for (const double ms : m_best)
                    estimate += ms;
                events.push_back(
                    {m_at, session::RoundDoneEvent{
                               m_round,
                               task,
                               kRound,
                               {{{"search", 0.05}, {"build", 0.1}, {"measure", 0.15}, {"train", 0.02}}, {}},
                               estimate}});
                events.push_back({m_at, session::EstimateEvent{estimate, session::kUnknown, session::kUnknown, 3600}});
                m_index = 0;
                ++m_round;
            }
        }
        return events;
    }

private:
    std::vector<double> m_best;
    std::mt19937 m_random{1};
    std::normal_distribution<double> m_noise;
    double m_at = 0;
    std::int64_t m_trials = 0;
    std::int32_t m_round = 0, m_index = 0;
};

int live(const QString& model, int seconds)
{
    ui::MainWindow window;
    window.show();
    auto& workspace = *window.findChild<ui::Workspace*>();
    auto& bridge = workspace.bridge();
    QEventLoop opened;
    QObject::connect(&bridge, &ui::SessionBridge::opened, &opened, &QEventLoop::quit);
    QObject::connect(&bridge, &ui::SessionBridge::openFailed, &opened, &QEventLoop::quit);
    window.openSource(model);
    opened.exec();
    const int tasks = workspace.tasks().rowCount();
    if (tasks == 0) {
        fmt::print(stderr, "{} cannot be opened\n", model.toStdString());
        return 1;
    }
    Feed feed(tasks);
    for (const int tab : {0, 1, 2, 3, 4}) {
        auto* tabs = window.findChild<QTabWidget*>(QStringLiteral("pages"));
        if (tabs == nullptr || tab >= tabs->count())
            break;
        tabs->setCurrentIndex(tab);
        QElapsedTimer since, run;
        QTimer probe, source;
        qint64 longest = 0;
        QEventLoop loop;
        QObject::connect(&probe, &QTimer::timeout, [&] {
            longest = std::max(longest, since.nsecsElapsed() - 5'000'000);
            since.restart();
        });
        QObject::connect(&source, &QTimer::timeout, [&] {
            emit bridge.eventsArrived(feed.next());
            if (run.elapsed() >= seconds * 1000)
                loop.quit();
        });
        probe.setTimerType(Qt::PreciseTimer);
        probe.start(5);
        source.start(1000 / kBatchesPerSecond);
        QCoreApplication::processEvents();
        since.start();
        run.start();
        const double before = cpuSeconds();
        loop.exec();
        fmt::print("{:<12} {} trials/s on {} tasks: longest stall {:.1f} ms, {:.1f} % of one core\n",
                   tabs->tabText(tab).toStdString(), kPerSecond, tasks, static_cast<double>(longest) * 1e-6,
                   100 * (cpuSeconds() - before) / (static_cast<double>(run.elapsed()) * 1e-3));
        std::fflush(stdout);
    }
    fmt::print("an hour's worth, memory in MiB at its start and each tenth: {:.0f}", memory());
    double slowest = 0;
    const double before = cpuSeconds();
    constexpr int kBatches = 3600 * kBatchesPerSecond;
    for (int batch = 1; batch <= kBatches; ++batch) {
        QElapsedTimer timer;
        timer.start();
        emit bridge.eventsArrived(feed.next());
        QCoreApplication::processEvents();
        slowest = std::max(slowest, static_cast<double>(timer.nsecsElapsed()) * 1e-6);
        if (batch % (kBatches / 10) == 0) {
            fmt::print(" {:.0f}", memory());
            std::fflush(stdout);
        }
    }
    const double spent = cpuSeconds() - before;
    fmt::print("; {:.0f} s of one core, {:.2f} ms a batch, slowest {:.1f} ms\n", spent, 1000 * spent / kBatches,
               slowest);
    return 0;
}

int chart(int curves, int points)
{
    ui::LatencyChart view;
    view.resize(1280, 720);
    view.show();
    QCoreApplication::processEvents();
    std::mt19937 random(1);
    std::uniform_real_distribution<double> gain(0.99995, 1.0);
    ui::LatencyChart::Curves data;
    data.seconds = points * 0.036;
    for (int c = 0; c < curves; ++c) {
        ui::LatencyChart::TaskCurve curve;
        curve.task = c;
        curve.name = QStringLiteral("task %1").arg(c);
        double ms = 1 + c;
        for (int i = 0; i < points; ++i)
            curve.points << QPointF(i * 0.036, ms *= gain(random));
        data.tasks.push_back(std::move(curve));
    }
    QImage image(view.size(), QImage::Format_ARGB32_Premultiplied);
    std::vector<double> times;
    for (int turn = 0; turn < 12; ++turn) {
        ui::LatencyChart::Curves copy = data; // as a page would hand it over
        QElapsedTimer timer;
        timer.start();
        view.setCurves(std::move(copy));
        const double set = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
        view.render(&image);
        times.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
        if (turn == 0)
            fmt::print("first: {:.1f} ms, {:.1f} of it for the data; {} points drawn\n", times.front(), set,
                       view.drawnPoints());
    }
    std::sort(times.begin() + 1, times.end());
    fmt::print("{} curves x {} points: median {:.1f} ms, slowest {:.1f} ms\n", curves, points, times[times.size() / 2],
               times.back());
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const QTemporaryDir home; // settings and projects of its own
    for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"})
        qputenv(name, home.path().toLocal8Bit());
    QApplication app(argc, argv);
    const QStringList words = app.arguments().mid(1);
    const QString what = words.value(0);
    if (what == QStringLiteral("window"))
        return live(words.value(1, QStringLiteral("zoo:resnet-50")), words.value(2, QStringLiteral("30")).toInt());
    if (what == QStringLiteral("chart"))
        return chart(words.value(1, QStringLiteral("30")).toInt(), words.value(2, QStringLiteral("100000")).toInt());
    fmt::print(stderr, "usage: bench_live window [MODEL] [SECONDS] | chart [CURVES] [POINTS]\n");
    return 2;
}
