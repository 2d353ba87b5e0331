// readme_pictures FOLDER HOME [SECONDS]: the pictures of resources/screenshots, by hand. What they show is made first,
// by the command line's program, in HOME/models: a resnet-18 tuned for SECONDS (120) and one tuned before it, a
// network with planted failures, a network on an OpenCL device. A project that is there is taken as it is: remove HOME
// to have all of them made anew. Paths in the pictures are HOME's: take one as a user has it, /home/ada.

#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/compare_page.h"
#include "ui/views/appearance.h"

#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QFileInfo>
#include <QLineEdit>
#include <QPainter>
#include <QProcess>
#include <QSettings>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

#include <cmath>
#include <cstdio>
#include <functional>

using namespace lathe;

namespace {

constexpr QSize kSize(1280, 800);

bool told(bool good, const QString& what)
{
    if (!good)
        std::fprintf(stderr, "readme_pictures: %s\n", qPrintable(what));
    return good;
}

/// Runs lathe-cli in the current folder, unless the project is there.
bool tune(const QString& project, const QStringList& words)
{
    if (QFileInfo::exists(project))
        return true;
    std::printf("%s is tuned\n", qPrintable(project));
    std::fflush(stdout);
    QProcess cli;
    cli.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    cli.start(QCoreApplication::applicationDirPath() + QStringLiteral("/../bin/lathe-cli"),
              QStringList{QStringLiteral("tune")} + words + QStringList{QStringLiteral("--project"), project});
    cli.waitForFinished(-1);
    return told(cli.exitStatus() == QProcess::NormalExit && cli.exitCode() == 0, project + QStringLiteral(" failed"));
}

bool makeProjects(int seconds)
{
    QFile faults(QStringLiteral("faults.json"));
    if (!faults.open(QIODevice::WriteOnly))
        return told(false, QStringLiteral("HOME/models cannot be written to"));
    faults.write(R"({"rules": [{"fault": "build-failed", "ordinal": 2}, {"fault": "crash", "ordinal": 5}, )"
                 R"({"fault": "wrong", "ordinal": 8}, {"fault": "crash", "ordinal": 11}]})");
    faults.close();
    const auto words = [](const char* line) { return QString::fromUtf8(line).split(QLatin1Char(' ')); };
    return tune(QStringLiteral("earlier.lathe"), words("zoo:resnet-18 --time 30s"))
           && tune(QStringLiteral("resnet-18.lathe"), words("zoo:resnet-18 --time")
                                                          << QString::number(seconds) + QLatin1Char('s'))
           && tune(QStringLiteral("mlp.lathe"),
                   words("zoo:mlp --trials 24 --policy random --trials-per-round 4 --target")
                       << QStringLiteral("sim -script=faults.json"))
           && tune(QStringLiteral("mlp-opencl.lathe"), words("zoo:mlp --target opencl --time 40s"));
}

class Pictures
{
public:
    Pictures(const QString& folder, const QString& models)
        : m_folder(folder)
        , m_models(models)
        , m_window(test::shownWindow(kSize))
    {
    }

    /// In this order: the start page tells of what was opened last.
    bool take()
    {
        return open("mlp-opencl.lathe") && takeOpenCl() && open("mlp.lathe") && takeFailures()
               && open("resnet-18.lathe") && takePages() && takeDialogs() && takeReplay() && takeStart()
               && takeChinese();
    }

private:
    template<typename T>
    T* find(const char* name) const
    {
        return test::find<T>(m_window.get(), name);
    }
    void trigger(const char* action) { find<QAction>(action)->trigger(); }
    ui::Workspace& workspace() const { return *m_window->findChild<ui::Workspace*>(); }

    bool open(const char* project)
    {
        QSignalSpy opened(m_window->findChild<ui::SessionBridge*>(), &ui::SessionBridge::opened);
        m_window->openSource(m_models.filePath(QLatin1String(project)));
        if (!told(opened.wait(120000), QLatin1String(project) + QStringLiteral(" does not open")))
            return false;
        QTest::qWait(1000);
        return true;
    }

    /// The window with what is open above it, once nothing moves any more.
    bool keep(const char* name)
    {
        QImage before, now;
        for (int i = 0; i < 50; ++i) {
            QTest::qWait(200);
            now = m_window->grab().toImage();
            QPainter painter(&now);
            for (QWidget* other : QApplication::topLevelWidgets()) {
                if (other == m_window.get() || !other->isVisible() || other->windowType() == Qt::ToolTip)
                    continue;
                const QRect place(m_window->mapFromGlobal(other->mapToGlobal(QPoint())), other->size());
                painter.drawPixmap(place.topLeft(), other->grab());
                painter.setPen(other->palette().color(QPalette::Mid));
                painter.drawRect(place);
            }
            painter.end();
            if (i > 5 && now == before)
                break;
            before = now;
        }
        return told(now.save(QDir(m_folder).filePath(QLatin1String(name) + QStringLiteral(".png"))),
                    QStringLiteral("a picture cannot be written"));
    }

    void closeOthers()
    {
        for (QWidget* other : QApplication::topLevelWidgets())
            if (other != m_window.get() && other->isVisible())
                other->close();
    }

    /// Hides the dock that it is in.
    static void fold(QWidget* widget)
    {
        while (widget != nullptr && qobject_cast<QDockWidget*>(widget) == nullptr)
            widget = widget->parentWidget();
        if (widget != nullptr)
            widget->hide();
    }

    /// The fastest trial of a task, in the table of records and with its detail.
    void showBestRecord(int task)
    {
        trigger("page.records");
        auto* const table = find<QTableView>("recordTable");
        QTest::qWait(1000);
        workspace().selection().selectTask(task);
        auto* const tasks = find<QComboBox>("recordTask");
        tasks->setCurrentIndex(tasks->findData(task));
        table->sortByColumn(columnOf(*table, "Latency (ms)"), Qt::AscendingOrder);
        QTest::qWait(1000);
        table->setCurrentIndex(table->model()->index(0, 0));
        QTest::qWait(2000);
    }

    static int columnOf(const QTableView& table, const char* heading)
    {
        for (int column = 0; column < table.model()->columnCount(); ++column)
            if (table.model()->headerData(column, Qt::Horizontal).toString() == QLatin1String(heading))
                return column;
        return 0;
    }

    /// That takes most of the network's time.
    int slowestTask() const
    {
        const auto* const table = find<QTableView>("taskTable");
        return table->model()->index(0, 0).data(ui::TaskModel::TaskIdRole).toInt();
    }

    bool takeOpenCl()
    {
        find<QToolButton>("resultClose")->click();
        showBestRecord(slowestTask());
        find<QSplitter>("recordSplitter")->setSizes({130, 500}); // the code is what is to be seen
        auto* const tabs = find<QTabWidget>("recordTabs");
        for (int tab = 0; tab < tabs->count(); ++tab)
            if (tabs->tabText(tab) == QStringLiteral("OpenCL C"))
                tabs->setCurrentIndex(tab);
        return told(tabs->tabText(tabs->currentIndex()) == QStringLiteral("OpenCL C"),
                    QStringLiteral("the trial has no OpenCL C"))
               && keep("opencl");
    }

    bool takeFailures()
    {
        find<QToolButton>("resultClose")->click();
        trigger("page.curves");
        trigger("page.failures");
        QTest::qWait(500);
        auto* const causes = find<QTableView>("failureTable");
        for (int row = 0; row < causes->model()->rowCount(); ++row)
            if (causes->model()->index(row, 1).data().toString() == QStringLiteral("Wrong result"))
                causes->setCurrentIndex(causes->model()->index(row, 0));
        const bool good = keep("failures");
        fold(causes);
        return good;
    }

    bool takePages()
    {
        const ui::TaskModel& tasks = workspace().tasks();
        for (int task = 0; task < tasks.rowCount(); ++task)
            if (!std::isfinite(tasks.task(task).bestMs))
                return told(false,
                            QStringLiteral("resnet-18 has tasks without a program: remove %1 and tune for longer, "
                                           "or on a machine that is less busy")
                                .arg(m_models.filePath(QStringLiteral("resnet-18.lathe"))));
        trigger("page.curves");
        bool good = keep("workbench");
        find<QToolButton>("resultClose")->click();
        trigger("page.scheduler");
        good = keep("scheduler") && good;
        const int task = slowestTask();
        workspace().selection().selectTask(task);
        trigger("page.network");
        good = keep("network") && good;
        find<QTabWidget>("recordTabs")->setCurrentIndex(0);
        find<QSplitter>("recordSplitter")->setSizes({300, 300});
        showBestRecord(task);
        good = keep("records") && good;
        trigger("page.compare");
        m_window->findChild<ui::ComparePage*>()->compareWith(m_models.filePath(QStringLiteral("earlier.lathe")));
        QTest::qWait(2000);
        good = keep("compare") && good;
        trigger("page.curves");
        trigger("page.devices");
        good = keep("devices") && good;
        fold(find<QWidget>("deviceList"));
        return good;
    }

    /// A dialog that holds its call until it is closed is pictured from its own event loop.
    bool takeDialog(const char* action, const char* name, const std::function<void()>& prepare)
    {
        bool good = false;
        QTimer once;
        once.setSingleShot(true);
        QObject::connect(&once, &QTimer::timeout, m_window.get(), [&] {
            prepare();
            good = keep(name);
            closeOthers();
        });
        once.start(1500);
        trigger(action);
        while (once.isActive())
            QTest::qWait(20);
        return good;
    }

    bool takeDialogs()
    {
        return takeDialog("actionExport", "export", [] { QTest::qWait(6000); })
               && takeDialog("view.palette", "palette",
                             [this] {
                                 for (QWidget* other : QApplication::topLevelWidgets())
                                     if (auto* typed = other->findChild<QLineEdit*>(QStringLiteral("paletteInput")))
                                         typed->setText(QStringLiteral("comp"));
                             })
               && takeDialog("help.manual", "manual", [] {});
    }

    bool takeReplay()
    {
        trigger("run.replay");
        QTest::qWait(6000);
        find<QToolButton>("resultClose")->click();
        find<QToolButton>("replayPlay")->click(); // it stands still for its picture
        return keep("replay");
    }

    bool takeStart()
    {
        m_window = nullptr;
        m_window = test::shownWindow(kSize);
        return keep("start");
    }

    bool takeChinese()
    {
        ui::Language::instance().set(QStringLiteral("zh_CN"));
        ui::applyAppearance(ui::Appearance::Dark);
        m_window = nullptr; // what it begins with is in its language, too
        m_window = test::shownWindow(kSize);
        if (!open("resnet-18.lathe"))
            return false;
        trigger("page.curves");
        return keep("chinese_dark");
    }

    QString m_folder;
    QDir m_models;
    std::unique_ptr<ui::MainWindow> m_window;
};

} // namespace

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    const QStringList words = QApplication::arguments();
    if (words.size() != 3 && words.size() != 4) {
        std::fprintf(stderr, "readme_pictures FOLDER HOME [SECONDS]\n");
        return 2;
    }
    const QString folder = QFileInfo(words[1]).absoluteFilePath(), home = QFileInfo(words[2]).absoluteFilePath();
    const QDir models(home + QStringLiteral("/models"));
    QDir().mkpath(folder);
    if (!told(QDir().mkpath(models.path()) && QDir::setCurrent(models.path()), QStringLiteral("HOME is no folder")))
        return 1;
    test::settleIn(home);
    QSettings().clear(); // as at the first start
    QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), 9));
    ui::applyAppearance(ui::Appearance::Light);
    return makeProjects(words.size() == 4 ? words[3].toInt() : 120) && Pictures(folder, models.path()).take() ? 0 : 1;
}
