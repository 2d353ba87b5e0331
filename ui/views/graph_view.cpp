#include "ui/views/graph_view.h"

#include "ui/models/texts.h"
#include "ui/views/graph_layouter.h"

#include <QScrollBar>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lathe::ui {

namespace {

using namespace std::chrono_literals;

constexpr double kMinScale = 0.02;
constexpr double kMaxScale = 4;
constexpr auto kHold = 250ms; // most layouts are there by then: nothing flickers

} // namespace

GraphView::GraphView(QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_layouter(new GraphLayouter(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(80, 60);
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
    m_hold.setSingleShot(true);
    m_hold.setInterval(kHold);
    connect(&m_hold, &QTimer::timeout, this, [this] {
        m_held = {};
        viewport()->update();
    });
    connect(m_layouter, &GraphLayouter::laidOut, this, &GraphView::takeLayout);
    connect(m_layouter, &GraphLayouter::failed, this, [this](const QString& sentence) {
        m_hold.stop();
        m_held = {};
        viewport()->update();
        emit layoutFailed(sentence);
    });
}

void GraphView::setGraph(std::shared_ptr<const session::GraphView> graph)
{
    m_marks = {};
    m_wayFrom = -1;
    m_scale = 1;
    rearrange(-1, [&] { m_scene.setGraph(std::move(graph), font()); });
}

// `change` changes what is unfolded. The anchor, a node, stays where it is seen; -1: the top of the network is shown.
void GraphView::rearrange(int anchor, const std::function<void()>& change)
{
    if (anchor >= 0 && m_held.isNull() && isVisible())
        m_held = viewport()->grab();
    const QRectF before = anchor >= 0 ? toViewport(m_scene.rectOf(m_scene.placeOf(anchor))) : QRectF();
    change();
    m_anchor = anchor;
    keepInPlace(anchor, before);
    m_hold.start();
    if (const GraphShape shape = m_scene.shape(); shape.items == 0)
        takeLayout({});
    else if (std::optional<GraphLayout> known = m_layouter->ask(shape))
        takeLayout(std::move(*known));
    refresh();
}

void GraphView::takeLayout(GraphLayout layout)
{
    const QRectF before = m_anchor >= 0 ? toViewport(m_scene.rectOf(m_scene.placeOf(m_anchor))) : QRectF();
    m_scene.setLayout(std::move(layout));
    m_hold.stop();
    m_held = {};
    keepInPlace(m_anchor, before);
    redraw();
    emit layoutReady();
}

void GraphView::keepInPlace(int anchor, const QRectF& before)
{
    updateScrollBars();
    if (anchor < 0) {
        goHome();
        return;
    }
    const int place = m_scene.placeOf(anchor);
    const QRectF now = toViewport(m_scene.rectOf(place));
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + static_cast<int>(now.left() - before.left()));
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(now.top() - before.top()));
    if (place == currentPlace())
        ensureVisible(place);
}

QPoint GraphView::position() const
{
    return {horizontalScrollBar()->value(), verticalScrollBar()->value()};
}

void GraphView::goHome()
{
    // What the network begins with is seen, in the middle if it can be.
    const double middle = m_scene.visible().items.empty() ? 0 : toViewport(m_scene.rectOf(0)).center().x();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value()
                                    + static_cast<int>(middle - viewport()->width() / 2.0));
    verticalScrollBar()->setValue(0);
    m_home = position();
}

/// After any change of what is drawn, or of its size.
void GraphView::redraw()
{
    m_drawn = {};
    m_map = {};
    viewport()->update();
}

/// After any change of what is drawn and marked.
void GraphView::refresh()
{
    m_scene.setMarks(m_marks);
    redraw();
    describe();
}

void GraphView::describe()
{
    QString text;
    if (m_scene.graph() != nullptr) {
        const auto& items = m_scene.visible().items;
        text = tr("%n items", nullptr, static_cast<int>(items.size())) + QStringLiteral(", ")
               + tr("%n of them groups", nullptr, static_cast<int>(std::count_if(items.begin(), items.end(), isGroup)))
               + QStringLiteral(". ");
        if (const int place = currentPlace(); place >= 0) {
            const GraphItem item = m_scene.item(place);
            const session::NodeView* node = isGroup(item) ? nullptr
                                                          : &m_scene.graph()->nodes[static_cast<std::size_t>(item)];
            const QString what = node == nullptr ? m_scene.outline().group(groupOf(item)).title
                                                 : QString::fromStdString(node->op + ' ' + node->name);
            const QString shape = node == nullptr         ? m_scene.outline().group(groupOf(item)).shape
                                  : node->outputs.empty() ? QString()
                                                          : shapeText(node->outputs.front());
            text += tr("Selected: %1").arg(QStringList{what, shape, m_scene.note(place)}.join(QStringLiteral(", ")));
        }
    }
    if (text != accessibleDescription())
        setAccessibleDescription(text);
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
    const bool home = position()
                      == m_home; // nobody has moved it: a window that finds its size keeps the beginning in its middle
    updateScrollBars();
    if (home)
        goHome();
    redraw();
}

void GraphView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) {
        m_scene.setFont(font());
        updateScrollBars();
    }
    if (event->type() == QEvent::LanguageChange) {
        m_scene.setColoring(m_scene.coloring()); // notes are words
        describe();
    }
    redraw();
    QAbstractScrollArea::changeEvent(event);
}

void GraphView::zoom(double factor, QPointF about)
{
    const QPointF scene = toScene(about);
    m_scale = std::clamp(m_scale * factor, kMinScale, kMaxScale);
    updateScrollBars();
    const QPointF now = scene * m_scale + origin();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value()
                                    + static_cast<int>(std::lround(now.x() - about.x())));
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(std::lround(now.y() - about.y())));
    redraw();
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
    m_scale = std::clamp(std::min(viewport()->width() / size.width(), viewport()->height() / size.height()), kMinScale,
                         1.0);
    updateScrollBars();
    redraw();
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
    refresh();
}

void GraphView::selectNode(int node)
{
    if (m_scene.graph() == nullptr || node >= static_cast<int>(m_scene.graph()->nodes.size()))
        return;
    const bool changed = node != m_marks.node;
    m_marks.node = node;
    m_marks.group = -1;
    m_marks.task = node < 0 ? -1 : m_scene.graph()->nodes[static_cast<std::size_t>(node)].task;
    if (node >= 0 && isGroup(m_scene.item(m_scene.placeOf(node))))
        rearrange(node, [&] { m_scene.reveal(node); });
    else if (node >= 0)
        ensureVisible(m_scene.placeOf(node));
    refresh();
    if (changed)
        emit nodeSelected(node);
}

void GraphView::setMatches(const std::set<int>& nodes)
{
    m_marks.matches = nodes;
    refresh();
}

void GraphView::setColoring(GraphColoring coloring)
{
    m_scene.setColoring(coloring);
    refresh();
}

void GraphView::setFigures(std::vector<GraphTaskFigure> figures)
{
    m_scene.setFigures(std::move(figures));
    if (m_scene.coloring() == GraphColoring::Share || m_scene.coloring() == GraphColoring::Coverage)
        refresh();
}

void GraphView::setEdgeLayouts(std::vector<EdgeLayout> layouts)
{
    m_scene.setEdgeLayouts(std::move(layouts));
    redraw();
}

void GraphView::foldAll()
{
    if (m_scene.graph() != nullptr)
        rearrange(-1, [this] { m_scene.setUnfolded({}); });
}

void GraphView::unfoldAll()
{
    if (m_scene.graph() == nullptr)
        return;
    const std::set<int> unfolded = unfoldUpTo(m_scene.outline(), GraphScene::kMaxItems, PartOfLevel::WhatFits);
    rearrange(-1, [&] { m_scene.setUnfolded(unfolded); });
    if (unfolded.size() + 1 < m_scene.outline().groups().size())
        emit notice(tr("The network is too large to show at once: some groups stay folded."));
}

void GraphView::toggle(int group)
{
    rearrange(m_scene.outline().group(group).nodes.front(), [&] { // what was looked at stays where it is
        std::set<int> unfolded = m_scene.unfolded();
        if (unfolded.erase(group) == 0)
            unfolded.insert(group);
        if (!m_scene.setUnfolded(unfolded)) {
            unfolded = {group};
            for (int g = m_scene.outline().group(group).parent; g > 0; g = m_scene.outline().group(g).parent)
                unfolded.insert(g);
            m_scene.setUnfolded(unfolded);
            emit notice(tr("Other groups were folded: at most %1 items are drawn at once.").arg(GraphScene::kMaxItems));
        }
        m_marks.group = unfolded.contains(group) ? -1 : group;
    });
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
    ensureVisible(place);
    // A fused function stands for its task.
    if (group.kind == GraphGroup::Kind::Function
        && m_scene.graph()->nodes[static_cast<std::size_t>(group.nodes.front())].task >= 0)
        emit taskSelected(m_scene.graph()->nodes[static_cast<std::size_t>(group.nodes.front())].task);
    m_marks.group = groupOf(item); // after the signal: who follows it marks a task, and no group
    m_marks.node = -1;
    refresh();
}

void GraphView::setShowsOverview(bool on)
{
    m_overview = on;
    viewport()->update();
}

} // namespace lathe::ui
