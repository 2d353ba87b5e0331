#pragma once

#include <QWidget>

namespace lathe::ui {

class GraphView;
class Workspace;

/// The network as a graph, linked with the selected task and node.
class NetworkPage final : public QWidget
{
    Q_OBJECT

public:
    NetworkPage(Workspace& workspace, QWidget* parent);
    GraphView* graph() const { return m_graph; }

private:
    Workspace& m_workspace;
    GraphView* m_graph = nullptr;
};

} // namespace lathe::ui
