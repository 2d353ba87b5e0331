#pragma once

#include "core/session/views.h"
#include "ui/views/graph_layout.h"

#include <QAbstractScrollArea>

#include <memory>

namespace lathe::ui {

/// The network as a layered graph, nodes coloured by task. Wheel scrolls, Ctrl+wheel zooms about the pointer, dragging
/// pans; a click selects a node, and with it its task. Only what is visible is painted.
class GraphView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit GraphView(QWidget* parent = nullptr);

    void setGraph(std::shared_ptr<const session::GraphView> graph);
    /// Marks all nodes of a task; -1: none. Scrolls to the first.
    void selectTask(int task);
    void selectNode(int node);
    int selectedNode() const { return m_node; }
    void zoom(double factor, QPointF about);
    void zoomToFit();
    /// Where a node is drawn, in the viewport's coordinates.
    QRect nodeRect(int node) const;

    static QColor taskColor(int task);

signals:
    void nodeSelected(int node); ///< -1: none
    void taskSelected(int task);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    QRectF sceneRect(int node) const;
    int nodeAt(QPointF viewportPoint) const;
    void updateScrollBars();
    void ensureVisible(int node);
    QPointF origin() const;
    void paintNode(QPainter& painter, int node, const QPointF& offset) const;

    std::shared_ptr<const session::GraphView> m_graph;
    GraphLayout m_layout;
    double m_scale = 1;
    int m_node = -1;
    int m_task = -1;
    QPoint m_dragFrom;
    bool m_dragging = false;
};

} // namespace lathe::ui
