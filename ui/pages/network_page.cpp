#include "ui/pages/network_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"
#include "ui/views/graph_view.h"

#include <QVBoxLayout>

namespace lathe::ui {

NetworkPage::NetworkPage(Workspace& workspace, QWidget* parent) : QWidget(parent), m_workspace(workspace)
{
    m_graph = new GraphView(this);
    m_graph->setObjectName(QStringLiteral("graphView"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_graph);
    setFocusProxy(m_graph);
    connect(&workspace.bridge(), &SessionBridge::opened, this, [this] { m_graph->setGraph(m_workspace.session()->graph()); });
    connect(m_graph, &GraphView::nodeSelected, this, [this](int node) {
        const auto graph = m_workspace.session() != nullptr ? m_workspace.session()->graph() : nullptr;
        if (graph && node >= 0 && m_workspace.selection().current().node != node)
            m_workspace.selection().selectNode(node, graph->nodes[static_cast<std::size_t>(node)].task);
    });
    connect(&workspace.selection(), &Selection::changed, this, [this](const Selection::Place& place) {
        if (place.node >= 0)
            m_graph->selectNode(place.node);
        else
            m_graph->selectTask(place.task);
    });
}

} // namespace lathe::ui
