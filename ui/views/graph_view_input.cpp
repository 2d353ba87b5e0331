#include "ui/models/core_text.h"
#include "ui/models/graph_find.h"
#include "ui/models/texts.h"
#include "ui/views/graph_view.h"
#include "ui/views/view_export.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe::ui {

int GraphView::alongEdge(int from, bool down) const
{
    // The straightest of its edges.
    int best = -1;
    double bestAside = std::numeric_limits<double>::infinity();
    for (const auto& [a, b] : m_scene.visible().edges) {
        if ((down ? a : b) != from)
            continue;
        const int other = down ? b : a;
        if (const double aside = std::abs(m_scene.rectOf(other).center().x() - m_scene.rectOf(from).center().x());
            aside < bestAside) {
            bestAside = aside;
            best = other;
        }
    }
    return best;
}

int GraphView::withinRow(int from, bool right) const
{
    // Branches need not stand in one row exactly: what is beside rather than above or below.
    const QPointF at = m_scene.rectOf(from).center();
    int best = -1;
    double bestCost = std::numeric_limits<double>::infinity();
    for (int i = 0; i < static_cast<int>(m_scene.visible().items.size()); ++i) {
        const QPointF d = m_scene.rectOf(i).center() - at;
        const double along = right ? d.x() : -d.x();
        if (along < 1 || std::abs(d.y()) > along)
            continue;
        if (const double cost = along + 3 * std::abs(d.y()); cost < bestCost) {
            bestCost = cost;
            best = i;
        }
    }
    return best;
}

void GraphView::step(int key)
{
    if (m_scene.visible().items.empty())
        return;
    const int from = currentPlace();
    const bool vertical = key == Qt::Key_Up || key == Qt::Key_Down;
    const bool forward = key == Qt::Key_Down || key == Qt::Key_Right;
    const int to = from < 0 ? 0 : vertical ? alongEdge(from, forward) : withinRow(from, forward);
    if (to >= 0)
        choose(to);
}

void GraphView::foldAround(int place)
{
    const int parent = m_scene.outline().parentOf(m_scene.item(place));
    if (parent <= 0)
        return;
    m_marks.node = -1;
    m_marks.group = parent;
    toggle(parent);
}

void GraphView::keyPressEvent(QKeyEvent* event)
{
    if (m_scene.graph() == nullptr) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    if (event->matches(QKeySequence::Copy)) {
        copyView(*this);
        emit notice(tr("Copied the network's picture."));
        return;
    }
    const int place = currentPlace();
    switch (event->key()) {
    case Qt::Key_Down:
    case Qt::Key_Up:
    case Qt::Key_Left:
    case Qt::Key_Right: step(event->key()); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (place >= 0 && isGroup(m_scene.item(place)))
            toggle(groupOf(m_scene.item(place)));
        return;
    case Qt::Key_W:
        if (place >= 0)
            wayTo(place);
        return;
    case Qt::Key_Backspace:
    case Qt::Key_Escape:
        if (event->key() == Qt::Key_Escape && !m_marks.way.empty()) {
            showWay(-1, -1);
            return;
        }
        if (place >= 0)
            foldAround(place);
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
    // While the drawing before a change is shown, nothing stands where it is seen.
    if (m_scene.graph() == nullptr || event->button() != Qt::LeftButton || !m_held.isNull())
        return;
    m_dragFrom = event->pos();
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        m_drag = Drag::Picture;
        return;
    }
    if (m_overview && overviewRect().contains(event->position())) {
        m_drag = Drag::Overview;
        panOverview(event->position());
        return;
    }
    const QPointF point = toScene(event->position());
    if (const int place = m_scene.placeAt(point); place >= 0) {
        if (event->modifiers().testFlag(Qt::ControlModifier) && currentPlace() >= 0 && currentPlace() != place) {
            m_wayFrom = nodeAt(currentPlace());
            wayTo(place);
        } else {
            choose(place);
        }
        return;
    }
    if (const int group = m_scene.frameTitleAt(point); group >= 0) {
        toggle(group);
        return;
    }
    m_drag = Drag::Pan;
    viewport()->setCursor(Qt::ClosedHandCursor);
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (m_scene.graph() == nullptr || !m_held.isNull())
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
    } else if (m_drag == Drag::Picture
               && (event->pos() - m_dragFrom).manhattanLength() >= QApplication::startDragDistance()) {
        m_drag = Drag::None;
        dragView(*this);
    }
}

void GraphView::mouseReleaseEvent(QMouseEvent*)
{
    m_drag = Drag::None;
    viewport()->unsetCursor();
}

int GraphView::nodeAt(int place) const
{
    return m_scene.nodesAt(place).front();
}

/// The first time: from here.
void GraphView::wayTo(int place)
{
    const int node = nodeAt(place);
    if (m_wayFrom < 0 || m_wayFrom == node) {
        m_wayFrom = node;
        emit notice(tr("Select another node and press W to show the path between the two."));
        return;
    }
    showWay(std::exchange(m_wayFrom, -1), node);
}

void GraphView::showWay(int from, int to)
{
    m_wayFrom = -1;
    const auto count = m_scene.graph() != nullptr ? static_cast<int>(m_scene.graph()->nodes.size()) : 0;
    GraphWay way;
    if (from >= 0 && to >= 0 && from < count && to < count) {
        way = wayBetween(*m_scene.graph(), from, to);
        if (m_scene.item(m_scene.placeOf(from)) != from)
            rearrange(from, [&] { m_scene.reveal(from); });
        if (m_scene.item(m_scene.placeOf(to)) != to)
            rearrange(to, [&] { m_scene.reveal(to); });
    }
    m_marks.way = way.nodes;
    refresh();
    emit wayChanged(way);
}

void GraphView::setShowsNames(bool on)
{
    m_scene.setShowsNames(on);
    redraw();
}

void GraphView::contextMenuEvent(QContextMenuEvent* event)
{
    if (m_scene.graph() == nullptr)
        return;
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const int place = byKey ? currentPlace() : m_scene.placeAt(toScene(event->pos()));
    QMenu menu(this);
    if (place >= 0) {
        const GraphItem item = m_scene.item(place);
        const int before = currentPlace();
        if (isGroup(item)) {
            menu.addAction(tr("&Unfold"), this, [this, item] { toggle(groupOf(item)); });
        } else {
            const session::NodeView& node = m_scene.graph()->nodes[static_cast<std::size_t>(item)];
            const bool reads = std::ranges::any_of(node.inputs, [](const auto& input) { return input.constant >= 0; });
            menu.addAction(tr("Show &weights"), this, [this, item] { emit weightsWanted(item); })->setEnabled(reads);
            menu.addAction(tr("&Copy the name"), this, [name = QString::fromStdString(modelName(node))] {
                QApplication::clipboard()->setText(name);
            });
        }
        QAction* const way = menu.addAction(tr("Show the path from the &selected node"), this, [this, place, before] {
            m_wayFrom = nodeAt(before);
            wayTo(place);
        });
        way->setEnabled(before >= 0 && before != place);
    }
    if (!m_marks.way.empty())
        menu.addAction(tr("&Hide the path"), this, [this] { showWay(-1, -1); });
    menu.addSeparator();
    menu.addAction(tr("&Fold all"), this, &GraphView::foldAll);
    menu.addAction(tr("Unfold &all"), this, &GraphView::unfoldAll);
    menu.addAction(tr("&Zoom to fit"), this, &GraphView::zoomToFit);
    QAction* const copy = menu.addAction(tr("Copy the &picture"), this, [this] { copyView(*this); });
    copy->setShortcut(QKeySequence::Copy);
    menu.exec(byKey && place >= 0 ? viewport()->mapToGlobal(toViewport(m_scene.rectOf(place)).center().toPoint())
                                  : event->globalPos());
}

QString GraphView::toolTipAt(QPointF point) const
{
    const int place = m_scene.placeAt(toScene(point));
    if (place < 0)
        return m_scene.edgeTipAt(toScene(point), m_scale);
    const GraphItem item = m_scene.item(place);
    QString text;
    if (isGroup(item)) {
        const GraphGroup& group = m_scene.outline().group(groupOf(item));
        text = QStringLiteral("<b>%1</b><br>%2")
                   .arg(group.title.toHtmlEscaped(),
                        tr("%n nodes; double-click to unfold", nullptr, static_cast<int>(group.nodes.size())));
    } else {
        const session::NodeView& node = m_scene.graph()->nodes[static_cast<std::size_t>(item)];
        text = QStringLiteral("<b>%1</b> %2")
                   .arg(QString::fromStdString(node.op), QString::fromStdString(modelName(node)).toHtmlEscaped());
        for (const auto& output : node.outputs)
            text += QStringLiteral("<br>→ %1 %2").arg(QString::fromStdString(output.dtype), shapeText(output));
        if (node.task >= 0)
            text += QStringLiteral("<br>") + tr("Task %1").arg(node.task);
        else if (!node.reason.empty())
            text += QStringLiteral("<br>") + tr("No task: %1").arg(coreText(node.reason, node.about).toHtmlEscaped());
    }
    if (const QString note = m_scene.note(place); !note.isEmpty())
        text += QStringLiteral("<br>") + note;
    return text;
}

bool GraphView::viewportEvent(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || m_scene.graph() == nullptr)
        return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const QString text = toolTipAt(help->pos()); text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), text, viewport());
    return true;
}

} // namespace lathe::ui
