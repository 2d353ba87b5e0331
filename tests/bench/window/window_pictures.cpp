// window_pictures FOLDER [SOURCE]: a picture of every page and dialog of the window in {light, dark} x {English,
// Chinese} x {1024x700, 1280x800, 1280x800 at 200 %}, by hand, to be looked at. SOURCE is a project or a model; without
// one, a project with a made-up run. Pages come from the page table; dialogs are whatever the menus' actions open, so
// that a new one is pictured without a word here. With QT_QPA_PLATFORM=offscreen, or on a display.

#include "core/session/verdict/diagnosis.h"
#include "tests/support/farm_runner.h"
#include "tests/support/nats_server.h"
#include "tests/ui/made_project.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/farm_link.h"
#include "ui/bridge/session_bridge.h"
#include "ui/commands/action_catalog.h"
#include "ui/models/workspace.h"
#include "ui/shell/page_registry.h"
#include "ui/views/appearance.h"
#include "ui/views/latency_chart.h"

#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QLineEdit>
#include <QMouseEvent>
#include <QProcess>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>

#include <cstdio>

using namespace lathe;

namespace {

struct Look
{
    const char* name;
    QSize size;
    const char* scale;
};

constexpr Look kLooks[] = {
    {"1024x700", {1024, 700}, "1"}, {"1280x800", {1280, 800}, "1"}, {"1280x800_200", {1280, 800}, "2"}};

/// Actions that end the program, leave it for the system's own dialogs, or change what the next pictures show.
bool isLeftOut(const QString& id)
{
    static const QStringList kExact = {
        QStringLiteral("file.quit"),          QStringLiteral("file.reopen"),     QStringLiteral("file.start"),
        QStringLiteral("file.openProject"),   QStringLiteral("file.importLog"),  QStringLiteral("file.saveView"),
        QStringLiteral("file.replay"),        QStringLiteral("run.replay"),      QStringLiteral("help.aboutQt"),
        QStringLiteral("view.fullScreen"),    QStringLiteral("view.saveLayout"), QStringLiteral("graph.save"),
        QStringLiteral("view.defaultLayout"), QStringLiteral("actionOpen"),      QStringLiteral("actionStart"),
        QStringLiteral("actionResume"),       QStringLiteral("actionPause"),     QStringLiteral("actionStop"),
        QStringLiteral("records.remeasure"),  QStringLiteral("actionStartOver")};
    return kExact.contains(id) || id.startsWith(QStringLiteral("copy.")) || id.startsWith(QStringLiteral("page."));
}

/// The pictures of one look, in a process of its own: the scale belongs to the whole process.
class Pictures
{
public:
    Pictures(const QString& folder, QSize size)
        : m_folder(folder)
        , m_window(test::shownWindow(size))
    {
    }

    bool take(const QString& source)
    {
        if (!keep(*m_window, QStringLiteral("start")))
            return false;
        QSignalSpy opened(m_window->findChild<ui::SessionBridge*>(), &ui::SessionBridge::opened);
        m_window->openSource(source);
        if (!opened.wait(120000)) {
            std::fprintf(stderr, "window_pictures: %s does not open\n", qPrintable(source));
            keep(*m_window, QStringLiteral("not_open"));
            return false;
        }
        for (const ui::PageEntry& page : ui::pageTable()) {
            if (auto* go = m_window->findChild<QAction*>(QStringLiteral("page.") + QLatin1String(page.id)))
                go->trigger();
            if (!keep(*m_window, QLatin1String(page.id)))
                return false;
        }
        return takeRecord() && takeStates() && takeFarm() && takeDialogs() && takeReader(source);
    }

private:
    /// A trial, with each of its tabs: code is compiled for some.
    bool takeRecord()
    {
        if (auto* go = m_window->findChild<QAction*>(QStringLiteral("page.records")))
            go->trigger();
        auto* table = test::find<QTableView>(m_window.get(), "recordTable");
        auto* tabs = test::find<QTabWidget>(m_window.get(), "recordTabs");
        QTest::qWait(500);
        table->setCurrentIndex(table->model()->index(0, 0));
        QTest::qWait(500);
        for (int tab = 0; tab < tabs->count(); ++tab) {
            tabs->setCurrentIndex(tab);
            QTest::qWait(1500);
            const QString name = QStringLiteral("record_") + tabs->currentWidget()->objectName();
            if (!keep(*m_window, name))
                return false;
            if (auto* larger = tabs->currentWidget()->findChild<QToolButton*>(QStringLiteral("listingLarger"))) {
                larger->click();
                if (!keepOthers(name))
                    return false;
            }
        }
        tabs->setCurrentIndex(0);
        return true;
    }

    /// What pages look like once somebody has used them: the curves of all tasks with the pointer among them, a task
    /// that is selected, the chart of trials, a result.
    bool takeStates()
    {
        const auto go = [this](const char* page) {
            m_window->findChild<QAction*>(QStringLiteral("page.") + QLatin1String(page))->trigger();
        };
        go("curves");
        auto* const tasks = test::find<QComboBox>(m_window.get(), "chartTasks");
        tasks->setCurrentIndex(tasks->count() - 1);
        auto* const chart = test::find<ui::LatencyChart>(m_window.get(), "latencyChart");
        QTest::qWait(500); // the page takes its time over changes
        const QPointF at(chart->width() * 0.4, chart->height() * 0.5);
        QMouseEvent move(QEvent::MouseMove, at, chart->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(chart, &move);
        bool good = keep(*m_window, QStringLiteral("curves_tasks"));
        go("scheduler");
        test::find<QTableView>(m_window.get(), "taskTable")->selectRow(0);
        good = keep(*m_window, QStringLiteral("scheduler_selected")) && good;
        go("records");
        auto* const points = test::find<QToolButton>(m_window.get(), "recordChart");
        points->setChecked(true);
        good = keep(*m_window, QStringLiteral("records_chart")) && good;
        points->setChecked(false);
        session::RunFacts facts;
        facts.gain = {20, 13.68, 8.67, 0.634, 0.6, 0.7};
        facts.machine.processors = 2;
        facts.machine.others = 0.62;
        emit m_window->findChild<ui::SessionBridge*>()->eventsArrived(
            {{6, session::VerdictEvent{facts.gain, facts.machine, session::diagnose(facts)}}});
        good = keep(*m_window, QStringLiteral("result_doubtful")) && good;
        emit m_window->findChild<ui::SessionBridge*>()->eventsArrived(
            {{7, session::VerdictEvent{{20, 2.48, 8.67, 3.5, 3.4, 3.6}, {}, {}}}});
        return keep(*m_window, QStringLiteral("result_good")) && good;
    }

    /// A farm of two devices, each tab of one of them, and the farm once its broker is gone. Without a broker's program
    /// there is no picture of it.
    bool takeFarm()
    {
        m_window->findChild<QAction*>(QStringLiteral("page.devices"))->trigger();
        test::find<QTabWidget>(m_window.get(), "devicesTabs")->setCurrentIndex(1);
        bool good = keep(*m_window, QStringLiteral("farm_none"));
        test::NatsServer server;
        if (!server.start()) {
            std::fprintf(stderr, "window_pictures: no broker, and so no farm\n");
            return good;
        }
        const auto first = test::must(test::FarmRunner::start(server.url(), "board", "b1"));
        const auto second = test::must(test::FarmRunner::start(server.url(), "phone", "p1"));
        test::find<QLineEdit>(m_window.get(), "farmBroker")->setText(QString::fromStdString(server.url()));
        test::find<QPushButton>(m_window.get(), "farmConnect")->click();
        auto* const table = test::find<QTableView>(m_window.get(), "farmTable");
        for (int i = 0; i < 200 && table->model()->rowCount() < 2; ++i)
            QTest::qWait(100);
        table->selectRow(0);
        QTest::qWait(5000); // there are curves by then
        auto* const tabs = test::find<QTabWidget>(m_window.get(), "farmDetail");
        for (int tab = 0; tab < tabs->count(); ++tab) {
            tabs->setCurrentIndex(tab);
            good = keep(*m_window, QStringLiteral("farm_%1").arg(tab)) && good;
        }
        test::find<QPushButton>(m_window.get(), "farmAdd")->click();
        good = keepOthers(QStringLiteral("farm.addDevice")) && good;
        server.kill();
        QTest::qWait(2000);
        good = keep(*m_window, QStringLiteral("farm_away")) && good;
        m_window->findChild<ui::Workspace*>()->farm().leave();
        return good;
    }

    /// The window on a project that somebody else writes to, and after that one has ended.
    bool takeReader(const QString& source)
    {
        const QString file = QDir(QFileInfo(source).path()).filePath(QStringLiteral("shared.lathe"));
        test::makeProject(file, test::Project::Mixed);
        std::optional writer = test::must(store::Project::open(file.toStdString(), store::Project::Access::Write));
        QSignalSpy opened(m_window->findChild<ui::SessionBridge*>(), &ui::SessionBridge::opened);
        m_window->openSource(file);
        bool good = opened.wait(120000) && keep(*m_window, QStringLiteral("reader"));
        writer.reset();
        QTest::qWait(600);
        good = keep(*m_window, QStringLiteral("reader_alone")) && good;
        QFile::remove(file);
        return good;
    }

    bool takeDialogs()
    {
        for (QAction* action : m_window->findChild<ui::ActionCatalog*>()->all()) {
            const QString id = action->objectName();
            if (id.isEmpty() || isLeftOut(id) || !action->isEnabled() || action->isCheckable())
                continue;
            // A dialog that holds the call until it is closed is pictured from its own event loop.
            bool good = true;
            QTimer once;
            once.setSingleShot(true);
            QObject::connect(&once, &QTimer::timeout, [&] { good = keepOthers(id); });
            once.start(400);
            action->trigger();
            while (once.isActive())
                QTest::qWait(20);
            if (!good)
                return false;
        }
        return true;
    }

    /// Keeps what is open beside the window, and closes it.
    bool keepOthers(const QString& id)
    {
        bool good = true;
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            if (widget == m_window.get() || !widget->isVisible() || widget->windowType() == Qt::ToolTip)
                continue;
            good = keep(*widget, QStringLiteral("dialog_") + id) && good;
            widget->close();
        }
        return good;
    }

    /// Once nothing moves any more.
    bool keep(QWidget& widget, const QString& name)
    {
        QImage before, now;
        for (int i = 0; i < 20; ++i) {
            QTest::qWait(100);
            now = widget.grab().toImage();
            if (now == before)
                break;
            before = now;
        }
        return now.save(QDir(m_folder).filePath(name + QStringLiteral(".png")));
    }

    QString m_folder;
    std::unique_ptr<ui::MainWindow> m_window;
};

int takeOne(QApplication& app, const QStringList& words)
{
    const QTemporaryDir home;
    test::settleIn(home.path());
    QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), 9));
    ui::Language::instance().set(words[3]);
    ui::applyAppearance(words[4] == QStringLiteral("dark") ? ui::Appearance::Dark : ui::Appearance::Light);
    QString source = words[7];
    if (source.isEmpty()) {
        source = home.filePath(QStringLiteral("sample.lathe"));
        test::makeProject(QFileInfo(source).path() + QStringLiteral("/sample.lathe"), test::Project::Mixed);
    }
    Q_UNUSED(app);
    return Pictures(words[2], {words[5].toInt(), words[6].toInt()}).take(source) ? 0 : 1;
}

/// The offscreen platform's own screen is smaller than the window at 200 %, and dialogs would shrink to fit it.
QString platformWith(const QString& file, QSize pixels)
{
    QFile config(file);
    if (!config.open(QIODevice::WriteOnly))
        return {};
    config.write(
        QStringLiteral("{\"screens\": [{\"name\": \"screen\", \"x\": 0, \"y\": 0, \"width\": %1, \"height\": %2, "
                       "\"logicalDpi\": 96, \"logicalBaseDpi\": 96, \"dpr\": 1}]}")
            .arg(pixels.width())
            .arg(pixels.height())
            .toUtf8());
    return QStringLiteral("offscreen:configfile=") + file;
}

int takeAll(const QString& program, const QString& folder, const QString& source)
{
    int failed = 0;
    const QTemporaryDir screens;
    const bool offscreen = QGuiApplication::platformName() == QStringLiteral("offscreen");
    for (const Look& look : kLooks)
        for (const char* language : {"en", "zh_CN"})
            for (const char* appearance : {"light", "dark"}) {
                const QString into = QDir(folder).filePath(
                    QStringLiteral("%1_%2_%3")
                        .arg(QLatin1String(look.name), QLatin1String(language), QLatin1String(appearance)));
                QDir().mkpath(into);
                QProcess child;
                child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
                QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
                environment.insert(QStringLiteral("QT_SCALE_FACTOR"), QLatin1String(look.scale));
                if (offscreen)
                    environment.insert(QStringLiteral("QT_QPA_PLATFORM"),
                                       platformWith(screens.filePath(QStringLiteral("screen.json")),
                                                    look.size * QByteArray(look.scale).toInt()));
                child.setProcessEnvironment(environment);
                child.start(program, {QStringLiteral("one"), into, QLatin1String(language), QLatin1String(appearance),
                                      QString::number(look.size.width()), QString::number(look.size.height()), source});
                const bool good = child.waitForFinished(600000) && child.exitCode() == 0
                                  && child.exitStatus() == QProcess::NormalExit;
                std::printf("%s: %lld pictures%s\n", qPrintable(into),
                            static_cast<long long>(QDir(into).entryList({QStringLiteral("*.png")}).size()),
                            good ? "" : ", and not all");
                std::fflush(stdout);
                failed += good ? 0 : 1;
            }
    return failed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    const QStringList words = QApplication::arguments();
    if (words.size() == 8 && words[1] == QStringLiteral("one"))
        return takeOne(app, words);
    if (words.size() != 2 && words.size() != 3) {
        std::fprintf(stderr, "window_pictures FOLDER [SOURCE]\n");
        return 2;
    }
    const QString source = words.size() < 3              ? QString()
                           : QFileInfo::exists(words[2]) ? QFileInfo(words[2]).absoluteFilePath()
                                                         : words[2];
    return takeAll(QApplication::applicationFilePath(), QFileInfo(words[1]).absoluteFilePath(), source);
}
