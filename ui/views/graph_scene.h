#pragma once

#include "ui/models/edge_layouts.h"
#include "ui/models/graph_outline.h"
#include "ui/views/graph_layout.h"
#include "ui/views/graph_looks.h"

#include <QFont>
#include <QPainterPath>
#include <QPalette>
#include <QRectF>
#include <QStaticText>

#include <array>
#include <memory>
#include <set>
#include <vector>

QT_BEGIN_NAMESPACE
class QPainter;
QT_END_NAMESPACE

namespace lathe::ui {

/// What is marked in the drawing.
struct GraphMarks
{
    int node = -1;
    int group = -1;
    int task = -1;
    std::set<int> matches; ///< nodes
    std::set<int> way; ///< nodes between two that were chosen, both included
};

/// The drawing of a network: what is unfolded, where it stands, how it looks. Knows nothing of scrolling; the view, the
/// overview and the pictures paint it. What painting needs is kept ready, since panning paints sixty times a second.
class GraphScene
{
public:
    static constexpr int kMaxItems = 500; ///< seen at once
    static constexpr double kLabelsFrom = 0.6; ///< the scale from which texts on edges are read, and painted

    /// The layouts on an edge.
    struct EdgeLabel
    {
        int edge = 0; ///< of visible()
        QString text, tip; ///< of all tensors on it
        bool converts = false, changes = false; ///< one of them
        QRectF rect;
        QStaticText prepared;
    };

    void setGraph(std::shared_ptr<const session::GraphView> graph, const QFont& font);
    void setFont(const QFont& font);
    const session::GraphView* graph() const { return m_graph.get(); }
    const GraphOutline& outline() const { return m_outline; }
    const VisibleGraph& visible() const { return m_visible; }
    GraphItem item(int place) const { return m_visible.items[static_cast<std::size_t>(place)]; }
    int placeOf(int node) const { return m_visible.place[static_cast<std::size_t>(node)]; }
    const std::vector<int>& nodesAt(int place) const { return m_nodes[static_cast<std::size_t>(place)]; }

    /// Stands in the plain layout until setLayout(). False, and nothing changes, if more than kMaxItems would be seen.
    bool setUnfolded(const std::set<int>& unfolded);
    const std::set<int>& unfolded() const { return m_unfolded; }
    /// Unfolds what hides the node; folds other groups where there would be too much to see. False if it was seen
    /// already.
    bool reveal(int node);
    /// What a layout is wanted for.
    GraphShape shape() const;
    void setLayout(GraphLayout layout);

    QSizeF size() const { return m_size; }
    const QRectF& rectOf(int place) const { return m_rects[static_cast<std::size_t>(place)]; }
    int placeAt(QPointF point) const; ///< -1: none
    int frameTitleAt(QPointF point) const; ///< the group whose frame's title is there; -1: none

    void setColoring(GraphColoring coloring);
    GraphColoring coloring() const { return m_coloring; }
    /// Nodes are called by the model's names instead of their operators.
    void setShowsNames(bool on);
    void setFigures(std::vector<GraphTaskFigure> figures); ///< by task
    void setMarks(const GraphMarks& marks);
    /// Texts on the edges that are seen, but not on those of folded groups of several functions. Empty: none.
    void setEdgeLayouts(std::vector<EdgeLayout> layouts);
    const std::vector<EdgeLabel>& edgeLabels() const { return m_labels; } ///< by edge
    /// Of the text that is there, or of the edge near it; empty: neither. `scale` is that of the drawing.
    QString edgeTipAt(QPointF point, double scale) const;

    /// Paints what meets `clip` (of the scene); `scale` is that of the painter and decides about details.
    void paint(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette, bool withMarks) const;
    void paintOverview(QPainter& painter, const QPalette& palette) const;
    /// "#7", "12.3 %", "NHWC", "record"
    QString note(int place) const;

private:
    struct Mark
    {
        bool current = false, marked = false, match = false, way = false;
    };
    struct Texts
    {
        QStaticText title, shape, note; ///< elided to fit
        double noteWidth = 0;
    };
    struct FrameBox
    {
        QRectF rect;
        int depth = 1;
    };
    /// Of an edge: painting clips whole pieces away, since an edge may be as long as the network.
    struct Piece
    {
        QPainterPath curve;
        QRectF bounds;
        int edge = 0;
    };
    void placeAll();
    void addCurve(const std::array<QPointF, 4>& points, int edge);
    void markAll();
    QPointF placed(QPointF layoutPoint) const;
    QPointF pointOn(int edge, double part) const;
    void labelEdges();
    EdgeLabel labelOf(int edge, const std::vector<const EdgeLayout*>& layouts) const;
    void placeLabel(EdgeLabel& label, int side) const;
    QFont labelFont(bool bold) const;
    void paintLabels(QPainter& painter, const QRectF& clip, const QPalette& palette) const;
    const std::vector<GraphLook>& looks() const;
    const Texts& texts(int place) const;
    void paintFrames(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette,
                     bool withMarks) const;
    void paintEdges(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette, bool withMarks) const;
    void paintItem(QPainter& painter, int place, double scale, const QPalette& palette, const Mark& mark) const;

    std::shared_ptr<const session::GraphView> m_graph;
    GraphOutline m_outline;
    std::set<int> m_unfolded;
    VisibleGraph m_visible;
    GraphLayout m_layout;
    QFont m_font;
    double m_nodeWidth = 0, m_nodeHeight = 0;
    GraphColoring m_coloring = GraphColoring::Task;
    bool m_names = false;
    std::vector<GraphTaskFigure> m_figures;
    GraphMarks m_marks;
    std::vector<EdgeLayout> m_edgeLayouts;

    // Made from the above, by place, edge, frame.
    QSizeF m_size;
    std::vector<std::vector<int>> m_nodes;
    std::vector<QRectF> m_rects;
    std::vector<Piece> m_pieces;
    std::vector<QLineF> m_lines; ///< the edges, coarsely
    std::vector<FrameBox> m_frames;
    std::vector<Mark> m_marked;
    std::vector<bool> m_edgeOnWay;
    std::vector<EdgeLabel> m_labels;
    mutable std::vector<GraphLook> m_looks; ///< empty: to be made anew
    mutable std::vector<std::optional<Texts>> m_texts;
};

} // namespace lathe::ui
