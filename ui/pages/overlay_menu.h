#pragma once

#include <QMenu>

namespace lathe::ui {

class RunOverlays;
class Workspace;

/// Chooses the runs that the curves show beside the open one: other runs of this project, projects that were opened
/// lately, and any project file. A click on one that is shown takes it away.
class OverlayMenu final : public QMenu
{
    Q_OBJECT

public:
    OverlayMenu(Workspace& workspace, RunOverlays& overlays, QWidget* parent);

private:
    void fill();
    void addRuns(QAction* before);
    void addRecent();
    void addShown();
    void browse();
    Workspace& m_workspace;
    RunOverlays& m_overlays;
};

} // namespace lathe::ui
