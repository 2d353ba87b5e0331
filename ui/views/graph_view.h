#pragma once

#include "ui/models/graph_way.h"
#include "ui/views/graph_scene.h"

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QTimer>

#include <functional>

namespace lathe::ui {

class GraphLayouter;

/// The network as a layered graph. Wheel scrolls, Ctrl+wheel zooms about the pointer, dragging pans, dragging with
/// Shift carries the picture out; a click selects a node, and with it its task; a double click or Enter unfolds a
/// group, a click on a frame's corner, Backspace or Escape folds it; up and down walk along edges, left and right
/// within a row. A click with Ctrl, or W on one node and then on another, shows the way between the two.
///
/// A layout comes from another process. Until it is there the last drawing stays for a moment, then a plain one takes
/// its place, which can be used like any other.
class GraphView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit GraphView(QWidget* parent = nullptr);

    void setGraph(std::shared_ptr<const session::GraphView> graph);
    const GraphScene& scene() const { return m_scene; }
    GraphLayouter& layouter() const { return *m_layouter; }

    /// Marks all nodes of a task; -1: none. Scrolls to the first unless one is seen.
    void selectTask(int task);
    /// Unfolds what hides the node and scrolls to it; -1: none.
    void selectNode(int node);
    int selectedNode() const { return m_marks.node; }
    /// The nodes that a search found.
    void setMatches(const std::set<int>& nodes);
    void setColoring(GraphColoring coloring);
    void setFigures(std::vector<GraphTaskFigure> figures);
    /// Texts on edges; empty: none.
    void setEdgeLayouts(std::vector<EdgeLayout> layouts);

    void foldAll();
    /// As far as the number of items allows; says so in notice() if not all can be seen.
    void unfoldAll();
    void toggle(int group);
    double scale() const { return m_scale; }
    void zoom(double factor, QPointF about);
    void zoomBy(double factor);
    void zoomToFit();
    void setShowsOverview(bool on);
    void setShowsNames(bool on); ///< of nodes, instead of their operators
    /// Marks every path between two nodes, and unfolds what hides the two; a negative one: none. Says so by
    /// wayChanged().
    void showWay(int from, int to);
    /// Where a node, or the group that hides it, is drawn, in the viewport's coordinates.
    QRect nodeRect(int node) const;

    /// The whole network as it is folded. Smaller than asked for where it would be larger than viewers open.
    QImage image(double scale) const;
    QByteArray svg() const;
    /// By suffix, .svg or .png. False if the file cannot be written.
    bool savePicture(const QString& file) const;

signals:
    void nodeSelected(int node); ///< -1: none
    void taskSelected(int task); ///< by way of a folded function
    void notice(const QString& text);
    void wayChanged(const lathe::ui::GraphWay& way); ///< from -1: none is shown
    void weightsWanted(int node);
    void layoutFailed(const QString& sentence); ///< the plain layout stays
    void layoutReady(); ///< from lathe-layout, now or earlier

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void rearrange(int anchor, const std::function<void()>& change);
    void takeLayout(GraphLayout layout);
    void keepInPlace(int anchor, const QRectF& before);
    void refresh();
    void redraw();
    void bringUpToDate();
    void describe();
    void choose(int place);
    void step(int key);
    int alongEdge(int from, bool down) const;
    int withinRow(int from, bool right) const;
    void foldAround(int place);
    int currentPlace() const;
    int nodeAt(int place) const; ///< of a group its first
    void wayTo(int place);
    void updateScrollBars();
    void ensureVisible(int place);
    void goHome();
    QPoint position() const; ///< of the scroll bars
    QPointF origin() const;
    QPointF toScene(QPointF viewportPoint) const { return (viewportPoint - origin()) / m_scale; }
    QRectF toViewport(const QRectF& scene) const
    {
        return {scene.topLeft() * m_scale + origin(), scene.size() * m_scale};
    }
    QRectF overviewRect() const;
    double overviewScale() const;
    void panOverview(QPointF point);
    void paintOverview(QPainter& painter);
    QString toolTipAt(QPointF point) const;

    GraphScene m_scene;
    GraphMarks m_marks;
    GraphLayouter* m_layouter = nullptr;
    int m_anchor = -1; ///< the node that stays where it is when the layout comes; -1: the top is shown
    QTimer m_hold; ///< while it runs, the drawing before the change is shown
    QPixmap m_held;
    QPixmap m_drawn; ///< what the viewport shows, moved along when it scrolls; null: to be made anew
    QPoint m_drawnAt;
    QPixmap m_map; ///< of the overview; null: to be made anew
    double m_scale = 1;
    QPoint m_home{-1, -1}; ///< position() as goHome() left it
    bool m_overview = true;
    int m_wayFrom = -1; ///< the node that W was pressed on
    enum class Drag
    {
        None,
        Pan,
        Overview,
        Picture
    } m_drag = Drag::None;
    QPoint m_dragFrom;
};

} // namespace lathe::ui
