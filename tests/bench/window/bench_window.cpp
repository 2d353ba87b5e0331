// How long the window takes to appear, and what it costs while a run goes on. By hand, in a folder that may be written:
//     bench_window start [FILE.lathe] [RUNS]     from the start of the process to a window that is painted and answers
//     bench_window run SOURCE TARGET SECONDS     processor time of the window's threads during a run
// With QT_QPA_PLATFORM=offscreen, or on a display. Settings are those of a private folder: a cold start of the program,
// with the system's file cache warm.

#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/shell/main_window.h"
#include "ui/views/appearance.h"
#include "ui/views/graph_view.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QScrollArea>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

using namespace lathe;

namespace {

qint64 nowNs() // the clock is the same in parent and child
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Calls `done` once the widget has painted and all that was waiting then has been done.
class WhenPainted final : public QObject
{
public:
    WhenPainted(QWidget* widget, std::function<void()> done)
        : QObject(widget)
        , m_done(std::move(done))
    {
        widget->installEventFilter(this);
        widget->update();
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::Paint && m_done)
            QTimer::singleShot(0, this, [done = std::exchange(m_done, nullptr)] { done(); });
        return QObject::eventFilter(watched, event);
    }

private:
    std::function<void()> m_done;
};

/// Processor time of the whole process, which a loaded machine does not stretch.
double cpuMs()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3
           + static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

void say(const std::string& line)
{
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

/// One start, in a process of its own; prints milliseconds since `from` and the processor time.
int startOnce(QApplication& app, qint64 from, const QString& project)
{
    const auto ms = [from] { return static_cast<double>(nowNs() - from) / 1e6; };
    const double atMain = ms();
    ui::Language::instance().set(QStringLiteral("en"));
    ui::applyAppearance(ui::Appearance::Light);
    ui::MainWindow window;
    const double made = ms();
    window.show();
    new WhenPainted(window.findChild<QScrollArea*>(QStringLiteral("startPage"))->widget(), [&] {
        const double painted = ms();
        if (project.isEmpty()) {
            say(fmt::format("{:.1f} {:.1f} {:.1f} {:.1f}", atMain, made, painted, cpuMs()));
            QApplication::exit();
        }
    });
    if (!project.isEmpty()) {
        window.openSource(project);
        auto* poll = new QTimer(&window);
        QObject::connect(poll, &QTimer::timeout, &window, [&, poll] {
            const auto* tasks = window.findChild<QTableView*>(QStringLiteral("taskTable"));
            auto* graph = window.findChild<ui::GraphView*>(QStringLiteral("graphView"));
            if (tasks->model()->rowCount() == 0 || graph->scene().visible().items.empty())
                return;
            poll->stop();
            new WhenPainted(graph->viewport(), [&] {
                say(fmt::format("{:.1f} {:.1f} {:.1f} {:.1f}", atMain, made, ms(), cpuMs()));
                QApplication::exit();
            });
        });
        poll->start(1);
    }
    return app.exec();
}

int start(const QString& program, const QString& project, int runs)
{
    std::vector<double> atMain, made, usable, cpu;
    for (int run = 0; run <= runs; ++run) { // the first fills the caches
        QProcess child;
        child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        child.start(program, {QStringLiteral("once"), QString::number(nowNs()), project});
        child.waitForFinished(120000);
        double a = 0, b = 0, c = 0, d = 0;
        if (std::sscanf(child.readAllStandardOutput().constData(), "%lf %lf %lf %lf", &a, &b, &c, &d) != 4) {
            std::fprintf(stderr, "bench_window: the window did not come up\n");
            return 1;
        }
        if (run == 0)
            continue;
        atMain.push_back(a);
        made.push_back(b);
        usable.push_back(c);
        cpu.push_back(d);
    }
    const auto median = [](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
    };
    say(fmt::format("{}: main {:.0f} ms, window made {:.0f} ms, usable {:.0f} ms (median of {}; worst {:.0f} ms); "
                    "processor time {:.0f} ms",
                    project.isEmpty() ? "start page" : project.toStdString(), median(atMain), median(made),
                    median(usable), runs, *std::max_element(usable.begin(), usable.end()), median(cpu)));
    return 0;
}

/// Seconds of processor that this thread (or all of Qt's pooled ones, which read the history for the window) has used.
double guiSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double pooledSeconds()
{
    double ticks = 0;
    for (const QString& task : QDir(QStringLiteral("/proc/self/task")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile stat(QStringLiteral("/proc/self/task/%1/stat").arg(task));
        if (!stat.open(QIODevice::ReadOnly))
            continue;
        const QByteArray line = stat.readAll();
        if (!line.contains("(Thread (pooled))"))
            continue;
        const QList<QByteArray> fields = line.mid(line.lastIndexOf(')') + 2).split(' ');
        ticks += fields[11].toDouble() + fields[12].toDouble();
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int runOnce(QApplication& app, const QString& source, const QString& target, double seconds)
{
    ui::Language::instance().set(QStringLiteral("en"));
    ui::applyAppearance(ui::Appearance::Light);
    ui::MainWindow window;
    window.show();
    auto* picker = window.findChild<QComboBox*>(QStringLiteral("targetPicker"));
    if (picker->findData(target) < 0)
        picker->addItem(target, target);
    picker->setCurrentIndex(picker->findData(target));
    window.findChild<QComboBox*>(QStringLiteral("budgetPicker"))->setCurrentText(QStringLiteral("600"));
    auto* bridge = window.findChild<ui::SessionBridge*>();
    auto* workspace = window.findChild<ui::Workspace*>();
    double gui = 0, pooled = 0;
    qint64 trials = 0;
    QElapsedTimer clock;
    QObject::connect(bridge, &ui::SessionBridge::opened, &window, [&] {
        QTimer::singleShot(500, &window, [&] { window.findChild<QAction*>(QStringLiteral("actionStart"))->trigger(); });
    });
    QObject::connect(bridge, &ui::SessionBridge::eventsArrived, &window, [&] {
        if (clock.isValid() || workspace->figures().trials < 1)
            return;
        clock.start();
        gui = guiSeconds();
        pooled = pooledSeconds();
        trials = workspace->figures().trials;
        QTimer::singleShot(static_cast<int>(seconds * 1000), &window, [&] {
            const double wall = static_cast<double>(clock.elapsed()) / 1000;
            say(fmt::format("{:.0f} s, {:.1f} trials/s: window's thread {:.2f} % of a core, its readers {:.2f} %", wall,
                            static_cast<double>(workspace->figures().trials - trials) / wall,
                            100 * (guiSeconds() - gui) / wall, 100 * (pooledSeconds() - pooled) / wall));
            window.close();
            QApplication::exit();
        });
    });
    window.openSource(source);
    return app.exec();
}

} // namespace

int main(int argc, char** argv)
{
    const QString command = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QString();
    QTemporaryDir dir;
    qputenv("HOME", dir.path().toLocal8Bit());
    qputenv("XDG_CONFIG_HOME", dir.path().toLocal8Bit());
    qputenv("XDG_DATA_HOME", dir.path().toLocal8Bit());
    if (command == QStringLiteral("start")) {
        const QString project = argc > 2 ? QFile::decodeName(argv[2]) : QString();
        return start(QFile::decodeName(argv[0]), project, argc > 3 ? std::atoi(argv[3]) : 9);
    }
    QApplication app(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("LatheBench"));
    QApplication::setApplicationName(QStringLiteral("LatheBench"));
    if (command == QStringLiteral("once") && argc > 2)
        return startOnce(app, QByteArray(argv[2]).toLongLong(), argc > 3 ? QFile::decodeName(argv[3]) : QString());
    if (command == QStringLiteral("run") && argc > 4)
        return runOnce(app, QFile::decodeName(argv[2]), QString::fromLocal8Bit(argv[3]), std::atof(argv[4]));
    std::fprintf(stderr, "bench_window: start [FILE.lathe] [RUNS], or run SOURCE TARGET SECONDS\n");
    return 1;
}
