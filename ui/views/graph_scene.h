#pragma once

#include "ui/models/graph_outline.h"
#include "ui/views/graph_layout.h"

#include <QCoreApplication>
#include <QFont>
#include <QPalette>
#include <QRectF>

#include <memory>
#include <set>
#include <vector>

QT_BEGIN_NAMESPACE
class QPainter;
QT_END_NAMESPACE

namespace lathe::ui {

enum class GraphColoring
{
    Task,
    Share, ///< of the estimated run time
    Layout, ///< of the activations
    Coverage ///< tuned, not yet tuned, no task
};

struct GraphTaskFigure
{
    double share = 0; ///< of one occurrence, 0..1; NaN: unknown
    bool tuned = false;
};

/// What is marked in the drawing.
struct GraphMarks
{
    int node = -1;
    int group = -1;
    int task = -1;
    const std::set<int>* matches = nullptr; ///< nodes
};

/// The drawing of a network: what is unfolded, where it stands, how it looks. Knows nothing of scrolling; the view, the
/// overview and the pictures paint it.
class GraphScene
{
    Q_DECLARE_TR_FUNCTIONS(lathe::ui::GraphScene)

public:
    static constexpr int kMaxItems = 500; ///< seen at once

    void setGraph(std::shared_ptr<const session::GraphView> graph, const QFont& font);
    void setFont(const QFont& font);
    const session::GraphView* graph() const { return m_graph.get(); }
    const GraphOutline& outline() const { return m_outline; }
    const VisibleGraph& visible() const { return m_visible; }
    GraphItem item(int place) const { return m_visible.items[static_cast<std::size_t>(place)]; }
    int placeOf(int node) const { return m_visible.place[static_cast<std::size_t>(node)]; }

    /// False, and nothing changes, if more than kMaxItems would be seen.
    bool setUnfolded(const std::set<int>& unfolded);
    const std::set<int>& unfolded() const { return m_unfolded; }
    /// Unfolds what hides the node; folds other groups where there would be too much to see.
    void reveal(int node);

    QSizeF size() const;
    QRectF rectOf(int place) const;
    QRectF frameRect(const VisibleGraph::Frame& frame) const;
    int placeAt(QPointF point) const; ///< -1: none
    int frameTitleAt(QPointF point) const; ///< the group whose frame's title is there; -1: none

    GraphColoring coloring = GraphColoring::Task;
    std::vector<GraphTaskFigure> figures; ///< by task

    /// Paints what meets `clip` (of the scene); `scale` is that of the painter and decides about details.
    void paint(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette, const GraphMarks& marks) const;
    void paintOverview(QPainter& painter, const QPalette& palette) const;
    /// "#7", "12.3 %", "NHWC", "tuned"
    QString note(GraphItem item) const;
    static QColor taskColor(int task);

private:
    struct Look
    {
        QColor color;
        QString note;
    };
    Look look(GraphItem item) const;
    double shareOf(GraphItem item) const;
    void paintItem(QPainter& painter, int place, double scale, const QPalette& palette, const GraphMarks& marks) const;

    std::shared_ptr<const session::GraphView> m_graph;
    GraphOutline m_outline;
    std::set<int> m_unfolded;
    VisibleGraph m_visible;
    GraphLayout m_layout;
    QFont m_font;
    double m_nodeWidth = 168, m_nodeHeight = 38, m_cellWidth = 190, m_cellHeight = 64;
};

} // namespace lathe::ui
