#pragma once

#include "ui/views/graph_scene.h"

#include <QAbstractScrollArea>

namespace lathe::ui {

/// The network as a layered graph. Wheel scrolls, Ctrl+wheel zooms about the pointer, dragging pans; a click selects a
/// node, and with it its task; a double click or Enter unfolds a group, a click on a frame's corner or Backspace folds it;
/// arrows go to the next item that way. Only what is visible is painted.
class GraphView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit GraphView(QWidget* parent = nullptr);

    void setGraph(std::shared_ptr<const session::GraphView> graph);
    const GraphScene& scene() const { return m_scene; }

    /// Marks all nodes of a task; -1: none. Scrolls to the first unless one is seen.
    void selectTask(int task);
    /// Unfolds what hides the node and scrolls to it; -1: none.
    void selectNode(int node);
    int selectedNode() const { return m_marks.node; }
    /// The nodes that a search found.
    void setMatches(const std::set<int>& nodes);
    void setColoring(GraphColoring coloring);
    void setFigures(std::vector<GraphTaskFigure> figures);

    void foldAll();
    /// As far as the number of items allows; says so in notice() if not all can be seen.
    void unfoldAll();
    void toggle(int group);
    void zoom(double factor, QPointF about);
    void zoomBy(double factor);
    void zoomToFit();
    void setShowsOverview(bool on);
    /// Where a node, or the group that hides it, is drawn, in the viewport's coordinates.
    QRect nodeRect(int node) const;

    QImage image(double scale) const;
    /// By suffix, .svg or .png; the whole network as it is folded. False if the file cannot be written.
    bool savePicture(const QString& file) const;

signals:
    void nodeSelected(int node); ///< -1: none
    void taskSelected(int task); ///< by way of a folded function
    void notice(const QString& text);

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
    bool viewportEvent(QEvent* event) override;

private:
    void choose(int place);
    void step(int key);
    int currentPlace() const;
    void updateScrollBars();
    void ensureVisible(int place);
    QPointF origin() const;
    QPointF toScene(QPointF viewportPoint) const { return (viewportPoint - origin()) / m_scale; }
    QRectF toViewport(const QRectF& scene) const { return {scene.topLeft() * m_scale + origin(), scene.size() * m_scale}; }
    QRectF overviewRect() const;
    double overviewScale() const;
    void panOverview(QPointF point);
    void keepInPlace(int node, const QRectF& before);

    GraphScene m_scene;
    GraphMarks m_marks;
    std::set<int> m_matches;
    double m_scale = 1;
    bool m_overview = true;
    enum class Drag { None, Pan, Overview } m_drag = Drag::None;
    QPoint m_dragFrom;
};

} // namespace lathe::ui
