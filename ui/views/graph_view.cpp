#include "ui/views/graph_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

// Scene units are pixels at 100 %.
constexpr double kCellWidth = 190;
constexpr double kCellHeight = 64;
constexpr double kNodeWidth = 168;
constexpr double kNodeHeight = 38;
constexpr double kMargin = 24;

QString shapeText(const session::TensorView& tensor)
{
    QStringList dims;
    for (const auto dim : tensor.shape)
        dims << QString::number(dim);
    return dims.join(QStringLiteral("×"));
}

} // namespace

GraphView::GraphView(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Network graph"));
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
}

QColor GraphView::taskColor(int task)
{
    // Hues a golden angle apart: neighbours in the list differ most.
    return QColor::fromHsvF(static_cast<float>(std::fmod(0.58 + task * 0.381966, 1.0)), 0.55F, 0.80F);
}

void GraphView::setGraph(std::shared_ptr<const session::GraphView> graph)
{
    m_graph = std::move(graph);
    m_layout = m_graph ? layoutGraph(*m_graph) : GraphLayout{};
    m_node = m_task = -1;
    m_scale = 1;
    setAccessibleDescription(m_graph ? tr("%n nodes", nullptr, static_cast<int>(m_graph->nodes.size())) : QString());
    updateScrollBars();
    horizontalScrollBar()->setValue((horizontalScrollBar()->minimum() + horizontalScrollBar()->maximum()) / 2);
    verticalScrollBar()->setValue(0);
    viewport()->update();
}

QRectF GraphView::sceneRect(int node) const
{
    const QPointF c = m_layout.centers[node];
    return {kMargin + c.x() * kCellWidth + (kCellWidth - kNodeWidth) / 2, kMargin + c.y() * kCellHeight + (kCellHeight - kNodeHeight) / 2, kNodeWidth, kNodeHeight};
}

QPointF GraphView::origin() const
{
    // A graph smaller than the viewport stands in its middle.
    const double width = (m_layout.width * kCellWidth + 2 * kMargin) * m_scale;
    const double spare = std::max(0.0, (viewport()->width() - width) / 2);
    return {spare - horizontalScrollBar()->value(), -static_cast<double>(verticalScrollBar()->value())};
}

QRect GraphView::nodeRect(int node) const
{
    const QRectF r = sceneRect(node);
    return QRectF(r.topLeft() * m_scale + origin(), r.size() * m_scale).toRect();
}

int GraphView::nodeAt(QPointF point) const
{
    const QPointF scene = (point - origin()) / m_scale;
    for (int i = 0; i < m_layout.centers.size(); ++i)
        if (sceneRect(i).contains(scene))
            return i;
    return -1;
}

void GraphView::updateScrollBars()
{
    const QSize view = viewport()->size();
    const int width = static_cast<int>((m_layout.width * kCellWidth + 2 * kMargin) * m_scale);
    const int height = static_cast<int>((m_layout.layers * kCellHeight + 2 * kMargin) * m_scale);
    horizontalScrollBar()->setRange(0, std::max(0, width - view.width()));
    horizontalScrollBar()->setPageStep(view.width());
    horizontalScrollBar()->setSingleStep(40);
    verticalScrollBar()->setRange(0, std::max(0, height - view.height()));
    verticalScrollBar()->setPageStep(view.height());
    verticalScrollBar()->setSingleStep(40);
}

void GraphView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBars();
}

void GraphView::zoom(double factor, QPointF about)
{
    const double scale = std::clamp(m_scale * factor, 0.05, 4.0);
    const QPointF scene = (about - origin()) / m_scale;
    m_scale = scale;
    updateScrollBars();
    const QPointF now = scene * m_scale + origin();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + static_cast<int>(std::lround(now.x() - about.x())));
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(std::lround(now.y() - about.y())));
    viewport()->update();
}

void GraphView::zoomToFit()
{
    if (!m_graph)
        return;
    const double x = viewport()->width() / (m_layout.width * kCellWidth + 2 * kMargin);
    const double y = viewport()->height() / (m_layout.layers * kCellHeight + 2 * kMargin);
    m_scale = std::clamp(std::min(x, y), 0.05, 1.0);
    updateScrollBars();
    viewport()->update();
}

void GraphView::ensureVisible(int node)
{
    const QRect r = nodeRect(node).adjusted(-30, -30, 30, 30);
    const QRect view = viewport()->rect();
    if (r.top() < view.top() || r.bottom() > view.bottom())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + r.center().y() - view.center().y());
    if (r.left() < view.left() || r.right() > view.right())
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() + r.center().x() - view.center().x());
}

void GraphView::selectTask(int task)
{
    if (task == m_task)
        return;
    m_task = task;
    if (m_graph && task >= 0) {
        const bool shown = m_node >= 0 && m_graph->nodes[static_cast<std::size_t>(m_node)].task == task;
        for (const session::NodeView& node : m_graph->nodes) {
            if (!shown && node.task == task) {
                m_node = node.id;
                ensureVisible(node.id);
                break;
            }
        }
    }
    viewport()->update();
}

void GraphView::selectNode(int node)
{
    if (!m_graph || node >= static_cast<int>(m_graph->nodes.size()))
        return;
    m_node = node;
    m_task = node < 0 ? -1 : m_graph->nodes[static_cast<std::size_t>(node)].task;
    if (node >= 0)
        ensureVisible(node);
    viewport()->update();
    emit nodeSelected(node);
    emit taskSelected(m_task);
}

void GraphView::wheelEvent(QWheelEvent* event)
{
    if (event->modifiers().testFlag(Qt::ControlModifier)) {
        zoom(std::pow(1.0015, event->angleDelta().y()), event->position());
        event->accept();
        return;
    }
    QAbstractScrollArea::wheelEvent(event);
}

void GraphView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const int node = nodeAt(event->position());
    if (node >= 0) {
        selectNode(node);
        return;
    }
    m_dragging = true;
    m_dragFrom = event->pos();
    viewport()->setCursor(Qt::ClosedHandCursor);
}

void GraphView::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_dragging)
        return;
    const QPoint moved = event->pos() - m_dragFrom;
    m_dragFrom = event->pos();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - moved.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
}

void GraphView::mouseReleaseEvent(QMouseEvent*)
{
    m_dragging = false;
    viewport()->unsetCursor();
}

void GraphView::keyPressEvent(QKeyEvent* event)
{
    const int count = m_graph ? static_cast<int>(m_graph->nodes.size()) : 0;
    const QPointF middle(viewport()->width() / 2.0, viewport()->height() / 2.0);
    if (count > 0 && event->key() == Qt::Key_Down)
        selectNode(std::min(m_node + 1, count - 1));
    else if (count > 0 && event->key() == Qt::Key_Up)
        selectNode(std::max(m_node - 1, 0));
    else if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal)
        zoom(1.25, middle);
    else if (event->key() == Qt::Key_Minus)
        zoom(0.8, middle);
    else if (event->key() == Qt::Key_0)
        zoomToFit();
    else
        QAbstractScrollArea::keyPressEvent(event);
}

bool GraphView::viewportEvent(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || !m_graph)
        return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int at = nodeAt(help->pos());
    if (at < 0) {
        QToolTip::hideText();
        return true;
    }
    const session::NodeView& node = m_graph->nodes[static_cast<std::size_t>(at)];
    QString text = QStringLiteral("<b>%1</b> %2").arg(QString::fromStdString(node.op), QString::fromStdString(node.name).toHtmlEscaped());
    for (const auto& output : node.outputs)
        text += QStringLiteral("<br>→ %1 %2").arg(QString::fromStdString(output.dtype), shapeText(output));
    if (node.task >= 0)
        text += QStringLiteral("<br>") + tr("Task %1").arg(node.task);
    else if (!node.reason.empty())
        text += QStringLiteral("<br>") + tr("No task: %1").arg(QString::fromStdString(node.reason).toHtmlEscaped());
    QToolTip::showText(help->globalPos(), text, viewport());
    return true;
}

void GraphView::paintNode(QPainter& painter, int index, const QPointF& offset) const
{
    const session::NodeView& node = m_graph->nodes[static_cast<std::size_t>(index)];
    const QRectF scene = sceneRect(index);
    const QRectF r(scene.topLeft() * m_scale + offset, scene.size() * m_scale);
    const bool marked = index == m_node || (m_task >= 0 && node.task == m_task);
    const QPalette& colors = palette();
    const QColor accent = node.task >= 0 ? taskColor(node.task) : QColor(0x8a, 0x8d, 0x92); // grey on light and dark alike
    QColor fill = accent;
    fill.setAlphaF(marked ? 0.55F : 0.25F);
    painter.setBrush(fill);
    painter.setPen(QPen(index == m_node ? colors.color(QPalette::Highlight) : accent, index == m_node ? 3 : marked ? 2 : 1));
    painter.drawRoundedRect(r, 5 * m_scale, 5 * m_scale);
    if (m_scale < 0.4) // the level of detail at which text is no longer read
        return;
    painter.setPen(colors.color(QPalette::Text));
    QFont font = this->font();
    font.setPointSizeF(std::max(4.0, font.pointSizeF() * m_scale));
    painter.setFont(font);
    const QRectF inner = r.adjusted(6 * m_scale, 2 * m_scale, -6 * m_scale, -2 * m_scale);
    const QFontMetricsF metrics(font);
    painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(QString::fromStdString(node.op), Qt::ElideRight, inner.width()));
    QColor faint = colors.color(QPalette::Text);
    faint.setAlphaF(0.65F);
    painter.setPen(faint);
    const QString shape = node.outputs.empty() ? QString() : shapeText(node.outputs.front());
    painter.drawText(QRectF(inner.left(), inner.center().y(), inner.width(), inner.height() / 2), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(shape, Qt::ElideRight, inner.width()));
    if (node.task >= 0)
        painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2), Qt::AlignVCenter | Qt::AlignRight, QStringLiteral("#%1").arg(node.task));
}

void GraphView::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    if (!m_graph) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(viewport()->rect(), Qt::AlignCenter, tr("No network is open"));
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    const QPointF offset = origin();
    const QRectF visible = QRectF(event->rect()).adjusted(-2, -2, 2, 2);
    QColor line = palette().color(QPalette::Text);
    line.setAlphaF(0.35F);
    painter.setPen(QPen(line, 1.2));
    painter.setBrush(Qt::NoBrush);
    for (const session::EdgeView& edge : m_graph->edges) {
        if (edge.from < 0 || edge.to < 0)
            continue;
        const QRectF a = sceneRect(edge.from);
        const QRectF b = sceneRect(edge.to);
        QPointF start = QPointF(a.center().x(), a.bottom()) * m_scale + offset;
        QPointF end = QPointF(b.center().x(), b.top()) * m_scale + offset;
        const double layers = m_layout.centers[edge.to].y() - m_layout.centers[edge.from].y();
        QPainterPath path(start);
        if (layers > 1.5) {
            // A long edge leaves at the side and passes the layers between, so that it hides behind no node.
            start = QPointF(a.right(), a.center().y()) * m_scale + offset;
            end = QPointF(b.right(), b.center().y()) * m_scale + offset;
            const double bend = std::max(start.x(), end.x()) + (14 + 3 * std::min(layers, 10.0)) * m_scale;
            path = QPainterPath(start);
            path.cubicTo(QPointF(bend, start.y()), QPointF(bend, end.y()), end);
        } else {
            const double middle = (start.y() + end.y()) / 2;
            path.cubicTo(QPointF(start.x(), middle), QPointF(end.x(), middle), end);
        }
        // A straight vertical line has an empty rectangle, which intersects nothing.
        if (path.boundingRect().adjusted(-1, -1, 1, 1).intersects(visible))
            painter.drawPath(path);
    }
    for (int i = 0; i < m_layout.centers.size(); ++i)
        if (visible.intersects(QRectF(nodeRect(i)).adjusted(-3, -3, 3, 3)))
            paintNode(painter, i, offset);
}

} // namespace lathe::ui
