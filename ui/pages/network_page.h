#pragma once

#include "core/session/exports/coverage.h"
#include "ui/models/graph_find.h"
#include "ui/models/selection.h"
#include "ui/pages/page.h"

#include <set>

QT_BEGIN_NAMESPACE
class QAction;
class QComboBox;
class QLabel;
class QLineEdit;
class QSplitter;
class QToolBar;
QT_END_NAMESPACE

namespace lathe::ui {

class GraphLegend;
class GraphView;
class LayoutsPanel;
struct GraphWay;
class Workspace;

/// The network as a graph with its search, colours and pictures; linked with the selected task and node.
class NetworkPage final : public Page
{
    Q_OBJECT

public:
    NetworkPage(Workspace& workspace, QWidget* parent);
    void contribute(WindowActions& actions) override;
    bool isFor(Occasion occasion) const override
    {
        return occasion == Occasion::NetworkOpened || occasion == Occasion::FindWanted;
    }
    void startFind() override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void zoomBy(double factor);
    void toggleLayouts();
    void labelEdges();
    void makeFind();
    void makeNotices();
    QToolBar* makeBar();
    void connectGraph();
    void takeGraph();
    void takeCoverage(const session::Coverage& coverage);
    void setColoring(int index);
    void findNext(int direction);
    void savePicture();
    void find(const QString& text);
    void updateFigures();
    void follow(const Selection::Place& place);
    void makeWayBar();
    void showWay(const GraphWay& way);
    void showWeights(int node); ///< -1: no node's in particular

    Workspace& m_workspace;
    GraphView* m_graph = nullptr;
    GraphLegend* m_legend = nullptr;
    QSplitter* m_parts = nullptr; ///< the graph and its layouts
    LayoutsPanel* m_layouts = nullptr;
    QAction* m_showLayouts = nullptr;
    QLineEdit* m_find = nullptr;
    QLabel* m_found = nullptr;
    QComboBox* m_coloring = nullptr;
    QLabel* m_notice = nullptr; ///< for a moment
    QWidget* m_wayBar = nullptr; ///< while a way is shown
    QLabel* m_way = nullptr;
    QLabel* m_layoutNotice = nullptr; ///< while the plain layout is shown
    std::set<int> m_near; ///< tasks whose best record is of other conditions, as far as was asked
    GraphFind m_finder;
    std::vector<int> m_matches; ///< in the order of the network
    int m_match = -1;
};

} // namespace lathe::ui
