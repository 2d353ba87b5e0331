#include "ui/views/graph_view.h"

#include "ui/models/texts.h"

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSaveFile>
#include <QScrollBar>
#include <QSvgGenerator>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::ui {

namespace {

constexpr double kMinScale = 0.02;
constexpr double kMaxScale = 4;
constexpr double kMaxImageSide = 20000; // pixels: what picture viewers still open

} // namespace

GraphView::GraphView(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(80, 60);
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
    m_marks.matches = &m_matches;
}

void GraphView::setGraph(std::shared_ptr<const session::GraphView> graph)
{
    m_marks.node = m_marks.task = m_marks.group = -1;
    m_matches.clear();
    m_scene.setGraph(std::move(graph), font());
    m_scale = 1;
    updateScrollBars();
    horizontalScrollBar()->setValue((horizontalScrollBar()->minimum() + horizontalScrollBar()->maximum()) / 2);
    verticalScrollBar()->setValue(0);
    viewport()->update();
}

QPointF GraphView::origin() const
{
    // A graph smaller than the viewport stands in its middle.
    const QSizeF size = m_scene.size() * m_scale;
    const double spare = std::max(0.0, (viewport()->width() - size.width()) / 2);
    return {spare - horizontalScrollBar()->value(), -static_cast<double>(verticalScrollBar()->value())};
}

QRect GraphView::nodeRect(int node) const
{
    return m_scene.graph() == nullptr ? QRect() : toViewport(m_scene.rectOf(m_scene.placeOf(node))).toRect();
}

void GraphView::updateScrollBars()
{
    const QSize view = viewport()->size();
    const QSize size = (m_scene.size() * m_scale).toSize();
    horizontalScrollBar()->setRange(0, std::max(0, size.width() - view.width()));
    horizontalScrollBar()->setPageStep(view.width());
    horizontalScrollBar()->setSingleStep(40);
    verticalScrollBar()->setRange(0, std::max(0, size.height() - view.height()));
    verticalScrollBar()->setPageStep(view.height());
    verticalScrollBar()->setSingleStep(40);
}

void GraphView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBars();
}

void GraphView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) {
        m_scene.setFont(font());
        updateScrollBars();
    }
    QAbstractScrollArea::changeEvent(event);
}

void GraphView::zoom(double factor, QPointF about)
{
    const QPointF scene = toScene(about);
    m_scale = std::clamp(m_scale * factor, kMinScale, kMaxScale);
    updateScrollBars();
    const QPointF now = scene * m_scale + origin();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + static_cast<int>(std::lround(now.x() - about.x())));
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(std::lround(now.y() - about.y())));
    viewport()->update();
}

void GraphView::zoomBy(double factor)
{
    zoom(factor, {viewport()->width() / 2.0, viewport()->height() / 2.0});
}

void GraphView::zoomToFit()
{
    if (m_scene.graph() == nullptr)
        return;
    const QSizeF size = m_scene.size();
    m_scale = std::clamp(std::min(viewport()->width() / size.width(), viewport()->height() / size.height()), kMinScale, 1.0);
    updateScrollBars();
    viewport()->update();
}

void GraphView::ensureVisible(int place)
{
    const QRect r = toViewport(m_scene.rectOf(place)).toRect().adjusted(-30, -30, 30, 30);
    const QRect view = viewport()->rect();
    if (r.top() < view.top() || r.bottom() > view.bottom())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + r.center().y() - view.center().y());
    if (r.left() < view.left() || r.right() > view.right())
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() + r.center().x() - view.center().x());
}

void GraphView::selectTask(int task)
{
    if (m_scene.graph() == nullptr)
        return;
    const auto taskOf = [this](int node) { return m_scene.graph()->nodes[static_cast<std::size_t>(node)].task; };
    m_marks.task = task;
    if (m_marks.node >= 0 && taskOf(m_marks.node) != task)
        m_marks.node = -1;
    if (task >= 0) {
        int first = -1;
        bool seen = false;
        for (const session::NodeView& node : m_scene.graph()->nodes) {
            if (node.task != task)
                continue;
            const int place = m_scene.placeOf(node.id);
            first = first < 0 ? place : first;
            seen = seen || viewport()->rect().contains(toViewport(m_scene.rectOf(place)).toRect());
        }
        if (first >= 0 && !seen)
            ensureVisible(first);
    }
    viewport()->update();
}

void GraphView::selectNode(int node)
{
    if (m_scene.graph() == nullptr || node >= static_cast<int>(m_scene.graph()->nodes.size()))
        return;
    const bool changed = node != m_marks.node;
    m_marks.node = node;
    m_marks.group = -1;
    m_marks.task = node < 0 ? -1 : m_scene.graph()->nodes[static_cast<std::size_t>(node)].task;
    if (node >= 0) {
        m_scene.reveal(node);
        updateScrollBars();
        ensureVisible(m_scene.placeOf(node));
    }
    viewport()->update();
    if (changed)
        emit nodeSelected(node);
}

void GraphView::setMatches(const std::set<int>& nodes)
{
    m_matches = nodes;
    viewport()->update();
}

void GraphView::setColoring(GraphColoring coloring)
{
    m_scene.coloring = coloring;
    viewport()->update();
}

void GraphView::setFigures(std::vector<GraphTaskFigure> figures)
{
    m_scene.figures = std::move(figures);
    if (m_scene.coloring == GraphColoring::Share || m_scene.coloring == GraphColoring::Coverage)
        viewport()->update();
}

void GraphView::foldAll()
{
    if (m_scene.graph() == nullptr)
        return;
    m_scene.setUnfolded({});
    updateScrollBars();
    viewport()->update();
}

void GraphView::unfoldAll()
{
    if (m_scene.graph() == nullptr)
        return;
    const std::set<int> unfolded = unfoldUpTo(m_scene.outline(), GraphScene::kMaxItems);
    m_scene.setUnfolded(unfolded);
    if (unfolded.size() + 1 < m_scene.outline().groups().size())
        emit notice(tr("The network is too large to be seen at once: some groups stay folded."));
    updateScrollBars();
    viewport()->update();
}

void GraphView::keepInPlace(int node, const QRectF& before)
{
    updateScrollBars();
    const QRectF now = toViewport(m_scene.rectOf(m_scene.placeOf(node)));
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + static_cast<int>(now.left() - before.left()));
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(now.top() - before.top()));
    viewport()->update();
}

void GraphView::toggle(int group)
{
    const int anchor = m_scene.outline().group(group).nodes.front(); // what was looked at stays where it is
    const QRectF before = toViewport(m_scene.rectOf(m_scene.placeOf(anchor)));
    std::set<int> unfolded = m_scene.unfolded();
    if (unfolded.erase(group) == 0)
        unfolded.insert(group);
    if (!m_scene.setUnfolded(unfolded)) {
        std::set<int> path{group};
        for (int g = m_scene.outline().group(group).parent; g > 0; g = m_scene.outline().group(g).parent)
            path.insert(g);
        m_scene.setUnfolded(path);
        emit notice(tr("Other groups were folded: at most %1 items are drawn at once.").arg(GraphScene::kMaxItems));
    }
    m_marks.group = unfolded.contains(group) ? -1 : group;
    keepInPlace(anchor, before);
}

int GraphView::currentPlace() const
{
    if (m_scene.graph() == nullptr)
        return -1;
    if (m_marks.node >= 0)
        return m_scene.placeOf(m_marks.node);
    return m_marks.group >= 0 ? m_scene.placeOf(m_scene.outline().group(m_marks.group).nodes.front()) : -1;
}

void GraphView::choose(int place)
{
    const GraphItem item = m_scene.item(place);
    if (!isGroup(item)) {
        selectNode(item);
        return;
    }
    const GraphGroup& group = m_scene.outline().group(groupOf(item));
    m_marks.group = groupOf(item);
    m_marks.node = -1;
    ensureVisible(place);
    // A fused function stands for its task.
    if (group.kind == GraphGroup::Kind::Function && m_scene.graph()->nodes[static_cast<std::size_t>(group.nodes.front())].task >= 0)
        emit taskSelected(m_scene.graph()->nodes[static_cast<std::size_t>(group.nodes.front())].task);
    m_marks.group = groupOf(item);
    m_marks.node = -1;
    viewport()->update();
}

void GraphView::step(int key)
{
    const int count = static_cast<int>(m_scene.visible().items.size());
    if (count == 0)
        return;
    const int from = currentPlace();
    if (from < 0) {
        choose(0);
        return;
    }
    const QPointF at = m_scene.rectOf(from).center();
    const bool vertical = key == Qt::Key_Up || key == Qt::Key_Down;
    const double sign = key == Qt::Key_Down || key == Qt::Key_Right ? 1 : -1;
    int best = -1;
    double bestCost = std::numeric_limits<double>::infinity();
    for (int i = 0; i < count; ++i) {
        const QPointF d = m_scene.rectOf(i).center() - at;
        const double along = (vertical ? d.y() : d.x()) * sign;
        const double aside = std::abs(vertical ? d.x() : d.y());
        if (along < 1 || (!vertical && aside > 1))
            continue;
        if (const double cost = along + 2 * aside; cost < bestCost) {
            bestCost = cost;
            best = i;
        }
    }
    if (best >= 0)
        choose(best);
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
    if (m_scene.graph() == nullptr || event->button() != Qt::LeftButton)
        return;
    if (m_overview && overviewRect().contains(event->position())) {
        m_drag = Drag::Overview;
        panOverview(event->position());
        return;
    }
    const QPointF point = toScene(event->position());
    if (const int place = m_scene.placeAt(point); place >= 0) {
        choose(place);
        return;
    }
    if (const int group = m_scene.frameTitleAt(point); group >= 0) {
        toggle(group);
        return;
    }
    m_drag = Drag::Pan;
    m_dragFrom = event->pos();
    viewport()->setCursor(Qt::ClosedHandCursor);
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (m_scene.graph() == nullptr)
        return;
    const int place = m_scene.placeAt(toScene(event->position()));
    if (place >= 0 && isGroup(m_scene.item(place)))
        toggle(groupOf(m_scene.item(place)));
}

void GraphView::mouseMoveEvent(QMouseEvent* event)
{
    if (m_drag == Drag::Overview) {
        panOverview(event->position());
    } else if (m_drag == Drag::Pan) {
        const QPoint moved = event->pos() - m_dragFrom;
        m_dragFrom = event->pos();
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() - moved.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
    }
}

void GraphView::mouseReleaseEvent(QMouseEvent*)
{
    m_drag = Drag::None;
    viewport()->unsetCursor();
}

void GraphView::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setImage(image(1));
        return;
    }
    const int place = currentPlace();
    const GraphItem item = place < 0 ? 0 : m_scene.item(place);
    switch (event->key()) {
    case Qt::Key_Down:
    case Qt::Key_Up:
    case Qt::Key_Left:
    case Qt::Key_Right: step(event->key()); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (place >= 0 && isGroup(item))
            toggle(groupOf(item));
        return;
    case Qt::Key_Backspace: // folds what the current item is in
        if (place >= 0 && m_scene.outline().parentOf(item) > 0) {
            const int parent = m_scene.outline().parentOf(item);
            m_marks.node = -1;
            toggle(parent);
            m_marks.group = parent;
        }
        return;
    case Qt::Key_Home:
        if (!m_scene.visible().items.empty())
            choose(0);
        return;
    case Qt::Key_End:
        if (!m_scene.visible().items.empty())
            choose(static_cast<int>(m_scene.visible().items.size()) - 1);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(1.25); return;
    case Qt::Key_Minus: zoomBy(0.8); return;
    case Qt::Key_0: zoomToFit(); return;
    default: QAbstractScrollArea::keyPressEvent(event);
    }
}

bool GraphView::viewportEvent(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || m_scene.graph() == nullptr)
        return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int place = m_scene.placeAt(toScene(help->pos()));
    if (place < 0) {
        QToolTip::hideText();
        return true;
    }
    const GraphItem item = m_scene.item(place);
    QString text;
    if (isGroup(item)) {
        const GraphGroup& group = m_scene.outline().group(groupOf(item));
        text = QStringLiteral("<b>%1</b><br>%2").arg(group.title.toHtmlEscaped(), tr("%n nodes; a double click unfolds them", nullptr, static_cast<int>(group.nodes.size())));
    } else {
        const session::NodeView& node = m_scene.graph()->nodes[static_cast<std::size_t>(item)];
        text = QStringLiteral("<b>%1</b> %2").arg(QString::fromStdString(node.op), QString::fromStdString(node.name).toHtmlEscaped());
        for (const auto& output : node.outputs)
            text += QStringLiteral("<br>→ %1 %2").arg(QString::fromStdString(output.dtype), shapeText(output));
        if (node.task >= 0)
            text += QStringLiteral("<br>") + tr("Task %1").arg(node.task);
        else if (!node.reason.empty())
            text += QStringLiteral("<br>") + tr("No task: %1").arg(QString::fromStdString(node.reason).toHtmlEscaped());
    }
    if (const QString note = m_scene.note(item); !note.isEmpty())
        text += QStringLiteral("<br>") + note;
    QToolTip::showText(help->globalPos(), text, viewport());
    return true;
}

void GraphView::setShowsOverview(bool on)
{
    m_overview = on;
    viewport()->update();
}

double GraphView::overviewScale() const
{
    const QSizeF size = m_scene.size();
    return std::min(viewport()->width() * 0.16 / size.width(), viewport()->height() * 0.45 / size.height());
}

QRectF GraphView::overviewRect() const
{
    const QSizeF shown = m_scene.size() * m_scale;
    if (m_scene.graph() == nullptr || (shown.width() <= viewport()->width() && shown.height() <= viewport()->height()))
        return {};
    const QSizeF size = m_scene.size() * overviewScale();
    return {viewport()->width() - size.width() - 12, viewport()->height() - size.height() - 12, size.width(), size.height()};
}

void GraphView::panOverview(QPointF point)
{
    const QPointF scene = (point - overviewRect().topLeft()) / overviewScale() * m_scale;
    horizontalScrollBar()->setValue(static_cast<int>(scene.x() - viewport()->width() / 2.0));
    verticalScrollBar()->setValue(static_cast<int>(scene.y() - viewport()->height() / 2.0));
}

void GraphView::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    if (m_scene.graph() == nullptr || m_scene.visible().items.empty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(viewport()->rect(), Qt::AlignCenter, m_scene.graph() == nullptr ? tr("No network is open") : tr("The network has no nodes"));
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.save();
    painter.translate(origin());
    painter.scale(m_scale, m_scale);
    m_scene.paint(painter, {toScene(event->rect().topLeft()), toScene(event->rect().bottomRight() + QPoint(1, 1))}, m_scale, palette(), m_marks);
    painter.restore();
    const QRectF map = overviewRect();
    if (!m_overview || map.isEmpty())
        return;
    QColor back = palette().color(QPalette::Base);
    back.setAlphaF(0.9F);
    painter.setBrush(back);
    painter.setPen(palette().color(QPalette::Mid));
    painter.drawRect(map.adjusted(-4, -4, 4, 4));
    painter.save();
    painter.translate(map.topLeft());
    painter.scale(overviewScale(), overviewScale());
    m_scene.paintOverview(painter, palette());
    painter.restore();
    const QRectF seen(toScene({0, 0}), QSizeF(viewport()->size()) / m_scale);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 1.5));
    painter.drawRect(QRectF(map.topLeft() + seen.topLeft() * overviewScale(), seen.size() * overviewScale()).intersected(map));
}

QImage GraphView::image(double scale) const
{
    const QSizeF size = m_scene.size();
    scale = std::min({scale, kMaxImageSide / size.width(), kMaxImageSide / size.height()});
    QImage picture((size * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
    picture.fill(palette().color(QPalette::Base));
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    m_scene.paint(painter, QRectF(QPointF(), size), 1, palette(), {});
    return picture;
}

bool GraphView::savePicture(const QString& file) const
{
    if (m_scene.graph() == nullptr)
        return false;
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return false;
    if (file.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setOutputDevice(&out);
        svg.setSize(m_scene.size().toSize());
        svg.setViewBox(QRectF(QPointF(), m_scene.size()));
        svg.setTitle(QString::fromStdString(m_scene.graph()->name));
        QPainter painter(&svg);
        painter.fillRect(QRectF(QPointF(), m_scene.size()), palette().color(QPalette::Base));
        m_scene.paint(painter, QRectF(QPointF(), m_scene.size()), 1, palette(), {});
        painter.end();
    } else if (!image(2).save(&out, "PNG")) {
        return false;
    }
    return out.commit();
}

} // namespace lathe::ui
