#pragma once

#include "core/session/events.h"

#include <QObject>

namespace lathe::ui {

class Desktop;
class Workspace;

/// Tells people through the desktop that a run has ended, if its window is not the one they look at. A click brings the
/// window to the front. Settings can switch it off.
class RunNotice final : public QObject
{
    Q_OBJECT

public:
    RunNotice(Workspace& workspace, Desktop& desktop, QWidget& window);

private:
    void onEvents(const std::vector<session::Event>& events);
    Workspace& m_workspace;
    Desktop& m_desktop;
    QWidget& m_window;
};

} // namespace lathe::ui
