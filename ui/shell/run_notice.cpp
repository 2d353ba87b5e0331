#include "ui/shell/run_notice.h"

#include "ui/bridge/desktop.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/core_text.h"
#include "ui/models/notice_settings.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"

#include <QFileInfo>
#include <QWidget>

namespace lathe::ui {

RunNotice::RunNotice(Workspace& workspace, Desktop& desktop, QWidget& window)
    : QObject(&window)
    , m_workspace(workspace)
    , m_desktop(desktop)
    , m_window(window)
{
    connect(&workspace.bridge(), &SessionBridge::eventsArrived, this, &RunNotice::onEvents);
    connect(&desktop, &Desktop::notificationClicked, this, [this] {
        m_window.setWindowState(m_window.windowState() & ~Qt::WindowMinimized);
        m_window.show();
        m_window.raise();
        m_window.activateWindow();
    });
}

void RunNotice::onEvents(const std::vector<session::Event>& events)
{
    for (const session::Event& event : events) {
        const auto* state = std::get_if<session::StateEvent>(&event.what);
        if (state == nullptr
            || (state->state != session::RunState::Finished && state->state != session::RunState::Failed))
            continue; // who pauses or stops a run knows it
        if (m_window.isActiveWindow() || !noticesWanted())
            continue;
        const QString source = m_workspace.source();
        const QString name = source.startsWith(QStringLiteral("zoo:")) ? source.mid(4)
                                                                       : QFileInfo(source).completeBaseName();
        if (state->state == session::RunState::Failed)
            m_desktop.notify(tr("Tuning of %1 failed").arg(name), coreText(state->text, state->about));
        else
            m_desktop.notify(
                tr("Tuning of %1 finished").arg(name),
                tr("Estimated %1 after %2 and %Ln trials", nullptr, static_cast<int>(m_workspace.figures().trials))
                    .arg(msText(m_workspace.estimatedMs()), minutesText(event.atSeconds)));
    }
}

} // namespace lathe::ui
