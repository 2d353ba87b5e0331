// A Qt plug-in that a test has bin/lathe load (QT_QPA_GENERIC_PLUGINS): it presses Resume once it can be pressed, and
// says on standard output which trials the window was told of. What is tested is the real program; this is the person
// before it.

#include "core/session/events.h"

#include <QApplication>
#include <QGenericPlugin>
#include <QTimer>
#include <QToolButton>

#include <cstdio>

namespace {

class Driver final : public QObject
{
    Q_OBJECT

public:
    Driver()
    {
        connect(&m_timer, &QTimer::timeout, this, &Driver::look);
        QMetaObject::invokeMethod(
            this, [this] { m_timer.start(10); }, Qt::QueuedConnection); // the application is being made
    }

private slots:
    void tell(const std::vector<lathe::session::Event>& events)
    {
        for (const lathe::session::Event& event : events)
            if (const auto* trial = std::get_if<lathe::session::TrialEvent>(&event.what))
                std::printf("%s\n", trial->trial.id.c_str());
        std::fflush(stdout);
    }

private:
    void look()
    {
        for (const QWidget* window : QApplication::topLevelWidgets()) {
            auto* resume = window->findChild<QToolButton*>(QStringLiteral("actionResumeButton"));
            if (resume == nullptr || !resume->isEnabled())
                continue;
            m_timer.stop();
            // By name: the plug-in shares no code with the program.
            for (const QObject* child : window->findChildren<QObject*>())
                if (child->inherits("lathe::ui::SessionBridge"))
                    connect(child, SIGNAL(eventsArrived(std::vector<lathe::session::Event>)), this,
                            SLOT(tell(std::vector<lathe::session::Event>)));
            resume->click();
            return;
        }
    }

    QTimer m_timer;
};

class DriverPlugin final : public QGenericPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID QGenericPluginFactoryInterface_iid FILE "window_driver.json")

public:
    QObject* create(const QString&, const QString&) override { return new Driver; }
};

} // namespace

#include "window_driver.moc"
