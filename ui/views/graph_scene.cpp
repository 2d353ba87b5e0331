#include "ui/views/graph_scene.h"

#include "ui/models/texts.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kMargin = 24;
constexpr double kFramePadding = 9;
// Details that cannot be read are not painted.
constexpr double kTextFrom = 0.4;
constexpr double kRoundFrom = 0.15;
// More than this at the start is folded: what one can still take in.
constexpr int kSeenAtFirst = 160;
const QColor kGrey(0x8a, 0x8d, 0x92); // on light and dark alike

QColor mix(const QColor& a, const QColor& b, double t)
{
    const auto at = [t](float x, float y) { return static_cast<float>(x + (y - x) * t); };
    return QColor::fromRgbF(at(a.redF(), b.redF()), at(a.greenF(), b.greenF()), at(a.blueF(), b.blueF()));
}

QString layoutOf(const session::NodeView& node)
{
    for (const auto& [name, value] : node.attributes)
        if (name == "data_layout" || name == "layout")
            return QString::fromStdString(value).remove(QLatin1Char('"'));
    return {};
}

} // namespace

QColor GraphScene::taskColor(int task)
{
    // Hues a golden angle apart: neighbours in the list differ most.
    return QColor::fromHsvF(static_cast<float>(std::fmod(0.58 + task * 0.381966, 1.0)), 0.55F, 0.80F);
}

void GraphScene::setGraph(std::shared_ptr<const session::GraphView> graph, const QFont& font)
{
    m_graph = std::move(graph);
    m_outline = m_graph ? GraphOutline(*m_graph) : GraphOutline();
    m_visible = {};
    m_layout = {};
    m_unfolded.clear();
    setFont(font);
    if (m_graph)
        setUnfolded(unfoldUpTo(m_outline, kSeenAtFirst));
}

void GraphScene::setFont(const QFont& font)
{
    m_font = font;
    const QFontMetricsF metrics(font);
    m_nodeHeight = std::ceil(2 * metrics.height() + 8);
    m_nodeWidth = std::ceil(metrics.averageCharWidth() * 23);
    m_cellWidth = m_nodeWidth + 22;
    m_cellHeight = m_nodeHeight + 26;
}

bool GraphScene::setUnfolded(const std::set<int>& unfolded)
{
    VisibleGraph visible = visibleGraph(*m_graph, m_outline, unfolded);
    if (static_cast<int>(visible.items.size()) > kMaxItems && visible.items.size() > m_visible.items.size() && !m_visible.items.empty())
        return false;
    m_unfolded = unfolded;
    m_visible = std::move(visible);
    m_layout = layoutGraph(static_cast<int>(m_visible.items.size()), m_visible.edges);
    return true;
}

void GraphScene::reveal(int node)
{
    if (!m_graph || node < 0 || item(placeOf(node)) == node)
        return;
    const std::vector<int> path = m_outline.path(node);
    std::set<int> wanted = m_unfolded;
    wanted.insert(path.begin(), path.end());
    if (!setUnfolded(wanted))
        setUnfolded({path.begin(), path.end()});
}

QSizeF GraphScene::size() const
{
    return {m_layout.width * m_cellWidth + 2 * kMargin, m_layout.layers * m_cellHeight + 2 * kMargin};
}

QRectF GraphScene::rectOf(int place) const
{
    const QPointF c = m_layout.centers[place];
    return {kMargin + c.x() * m_cellWidth + (m_cellWidth - m_nodeWidth) / 2, kMargin + c.y() * m_cellHeight + (m_cellHeight - m_nodeHeight) / 2, m_nodeWidth, m_nodeHeight};
}

QRectF GraphScene::frameRect(const VisibleGraph::Frame& frame) const
{
    QRectF rect;
    for (int place = frame.first; place <= frame.last; ++place)
        rect |= rectOf(place);
    // Inner frames stand inside outer ones: the fewer groups inside, the tighter.
    int depth = 0;
    for (const VisibleGraph::Frame& other : m_visible.frames)
        depth = std::max(depth, static_cast<int>(other.first >= frame.first && other.last <= frame.last && other.group != frame.group && other.last > other.first));
    const double pad = kFramePadding - (m_outline.group(frame.group).kind == GraphGroup::Kind::Function ? 4 : 0) + 3 * depth;
    return rect.adjusted(-pad, -pad, pad, pad);
}

int GraphScene::placeAt(QPointF point) const
{
    for (int i = 0; i < m_layout.centers.size(); ++i)
        if (rectOf(i).contains(point))
            return i;
    return -1;
}

int GraphScene::frameTitleAt(QPointF point) const
{
    for (auto frame = m_visible.frames.rbegin(); frame != m_visible.frames.rend(); ++frame) {
        const QRectF r = frameRect(*frame);
        if (QRectF(r.left() - 2, r.top() - 2, 16, 16).contains(point))
            return frame->group;
    }
    return -1;
}

double GraphScene::shareOf(GraphItem item) const
{
    std::set<std::pair<int, int>> functions; // (task, function): a fused function counts once
    const auto see = [&](int node) {
        const session::NodeView& view = m_graph->nodes[static_cast<std::size_t>(node)];
        if (view.task >= 0 && view.task < static_cast<int>(figures.size()))
            functions.emplace(view.task, view.subgraph);
    };
    if (isGroup(item))
        for (const int node : m_outline.group(groupOf(item)).nodes)
            see(node);
    else
        see(item);
    double sum = functions.empty() ? std::nan("") : 0;
    for (const auto& [task, function] : functions)
        sum += figures[static_cast<std::size_t>(task)].share;
    return sum;
}

GraphScene::Look GraphScene::look(GraphItem item) const
{
    const std::vector<int> own = isGroup(item) ? std::vector<int>() : std::vector<int>{item};
    const std::vector<int>& nodes = isGroup(item) ? m_outline.group(groupOf(item)).nodes : own;
    const auto node = [this](int index) -> const session::NodeView& { return m_graph->nodes[static_cast<std::size_t>(index)]; };
    switch (coloring) {
    case GraphColoring::Task: {
        std::set<int> tasks;
        for (const int n : nodes)
            if (node(n).task >= 0)
                tasks.insert(node(n).task);
        if (tasks.empty())
            return {kGrey, {}};
        if (tasks.size() == 1)
            return {taskColor(*tasks.begin()), QStringLiteral("#%1").arg(*tasks.begin())};
        return {kGrey, tr("%1 tasks").arg(tasks.size())};
    }
    case GraphColoring::Share: {
        const double share = shareOf(item);
        if (!std::isfinite(share))
            return {kGrey, QStringLiteral("–")};
        // From blue to vermilion, both told apart by colour-blind people; a fifth of the whole is as hot as it gets.
        return {mix(QColor(0x56, 0xb4, 0xe9), QColor(0xd5, 0x3e, 0x00), std::min(1.0, std::sqrt(share / 0.2))), QStringLiteral("%1 %").arg(share * 100, 0, 'f', 1)};
    }
    case GraphColoring::Layout: {
        std::set<QString> layouts;
        for (const int n : nodes)
            if (const QString layout = layoutOf(node(n)); !layout.isEmpty())
                layouts.insert(layout);
        if (layouts.empty())
            return {kGrey, {}};
        if (layouts.size() > 1)
            return {QColor(0xcc, 0x79, 0xa7), tr("mixed")};
        return {*layouts.begin() == QStringLiteral("NHWC") ? QColor(0x00, 0x9e, 0x73) : *layouts.begin() == QStringLiteral("NCHW") ? QColor(0x00, 0x72, 0xb2) : QColor(0xe6, 0x9f, 0x00),
                *layouts.begin()};
    }
    case GraphColoring::Coverage: {
        int tuned = 0;
        int open = 0;
        for (const int n : nodes) {
            const int task = node(n).task;
            if (task >= 0)
                ++(task < static_cast<int>(figures.size()) && figures[static_cast<std::size_t>(task)].tuned ? tuned : open);
        }
        if (tuned + open == 0)
            return {kGrey, tr("no task")};
        if (open == 0)
            return {QColor(0x00, 0x72, 0xb2), tr("tuned")};
        if (tuned == 0)
            return {QColor(0xe6, 0x9f, 0x00), tr("not tuned")};
        return {QColor(0xcc, 0x79, 0xa7), tr("partly")};
    }
    }
    return {kGrey, {}};
}

QString GraphScene::note(GraphItem item) const
{
    return look(item).note;
}

void GraphScene::paintItem(QPainter& painter, int place, double scale, const QPalette& palette, const GraphMarks& marks) const
{
    const GraphItem what = item(place);
    const QRectF r = rectOf(place);
    const GraphGroup* group = isGroup(what) ? &m_outline.group(groupOf(what)) : nullptr;
    const session::NodeView* node = group == nullptr ? &m_graph->nodes[static_cast<std::size_t>(what)] : nullptr;
    const auto anyNode = [&](auto&& predicate) {
        return node != nullptr ? predicate(what) : std::any_of(group->nodes.begin(), group->nodes.end(), predicate);
    };
    const bool current = node != nullptr ? what == marks.node : groupOf(what) == marks.group;
    const bool marked = current || (marks.task >= 0 && anyNode([&](int n) { return m_graph->nodes[static_cast<std::size_t>(n)].task == marks.task; }));
    const bool match = marks.matches != nullptr && anyNode([&](int n) { return marks.matches->contains(n); });
    const Look seen = look(what);
    QColor fill = seen.color;
    fill.setAlphaF(marked ? 0.55F : 0.25F);
    painter.setBrush(fill);
    painter.setPen(QPen(current ? palette.color(QPalette::Highlight) : seen.color, current ? 3 : marked ? 2 : 1));
    if (scale < kRoundFrom) {
        painter.drawRect(r);
    } else {
        if (group != nullptr) // a group looks like a pile
            painter.drawRoundedRect(r.translated(3, 3), 5, 5);
        painter.drawRoundedRect(r, 5, 5);
    }
    if (match) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette.color(QPalette::Text), 2, Qt::DashLine));
        painter.drawRoundedRect(r.adjusted(-4, -4, 4, 4), 7, 7);
    }
    if (scale < kTextFrom)
        return;
    painter.setFont(m_font);
    painter.setPen(palette.color(QPalette::Text));
    const QRectF inner = r.adjusted(6, 2, -6, -2);
    const QRectF top(inner.left(), inner.top(), inner.width(), inner.height() / 2);
    const QRectF bottom(inner.left(), inner.center().y(), inner.width(), inner.height() / 2);
    const QFontMetricsF metrics(m_font);
    const double noteWidth = seen.note.isEmpty() ? 0 : metrics.horizontalAdvance(seen.note) + 6;
    const QString title = group != nullptr ? QStringLiteral("▸ ") + group->title : QString::fromStdString(node->op);
    painter.drawText(top, Qt::AlignVCenter | Qt::AlignLeft, metrics.elidedText(title, Qt::ElideRight, top.width()));
    QColor faint = palette.color(QPalette::Text);
    faint.setAlphaF(0.7F);
    painter.setPen(faint);
    const QString shape = group != nullptr ? group->shape : node->outputs.empty() ? QString() : shapeText(node->outputs.front());
    painter.drawText(bottom, Qt::AlignVCenter | Qt::AlignLeft, metrics.elidedText(shape, Qt::ElideRight, bottom.width() - noteWidth));
    painter.drawText(bottom, Qt::AlignVCenter | Qt::AlignRight, seen.note);
}

void GraphScene::paint(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette, const GraphMarks& marks) const
{
    if (!m_graph)
        return;
    QColor frameColor = palette.color(QPalette::Text);
    for (const VisibleGraph::Frame& frame : m_visible.frames) {
        if (frame.first == frame.last)
            continue;
        const QRectF r = frameRect(frame);
        if (!r.adjusted(-2, -2, 2, 2).intersects(clip))
            continue;
        frameColor.setAlphaF(groupItem(frame.group) == groupItem(marks.group) ? 0.8F : 0.22F);
        painter.setPen(QPen(frameColor, 1, Qt::DotLine));
        frameColor.setAlphaF(0.03F);
        painter.setBrush(frameColor);
        painter.drawRoundedRect(r, 6, 6);
        if (scale >= kTextFrom) { // where a click folds it
            frameColor.setAlphaF(0.7F);
            painter.setPen(Qt::NoPen);
            painter.setBrush(frameColor);
            painter.drawPolygon(QPolygonF({r.topLeft() + QPointF(2, 3), r.topLeft() + QPointF(11, 3), r.topLeft() + QPointF(6.5, 9)}));
        }
    }
    QColor line = palette.color(QPalette::Text);
    line.setAlphaF(0.4F);
    painter.setPen(QPen(line, 1.2));
    painter.setBrush(Qt::NoBrush);
    for (qsizetype e = 0; e < m_layout.edges.size(); ++e) {
        const auto& [from, to] = m_visible.edges[static_cast<std::size_t>(e)];
        const QRectF a = rectOf(from);
        const QRectF b = rectOf(to);
        const QRectF bounds = (a | b).adjusted(-m_cellWidth, 0, m_cellWidth, 0);
        if (!bounds.intersects(clip))
            continue;
        QPointF at(a.center().x(), a.bottom());
        QPainterPath path(at);
        const QPolygonF& points = m_layout.edges[e];
        const auto bendTo = [&](QPointF next) {
            const double middle = (at.y() + next.y()) / 2;
            path.cubicTo(QPointF(at.x(), middle), QPointF(next.x(), middle), next);
            at = next;
        };
        for (qsizetype k = 1; k + 1 < points.size(); ++k) {
            const double x = kMargin + (points[k].x() + 0.5) * m_cellWidth;
            const double y = kMargin + (points[k].y() + 0.5) * m_cellHeight;
            bendTo({x, y - m_nodeHeight / 2});
            path.lineTo(x, y + m_nodeHeight / 2);
            at = {x, y + m_nodeHeight / 2};
        }
        bendTo({b.center().x(), b.top()});
        painter.drawPath(path);
    }
    for (int i = 0; i < m_layout.centers.size(); ++i)
        if (rectOf(i).adjusted(-6, -6, 6, 6).intersects(clip))
            paintItem(painter, i, scale, palette, marks);
}

void GraphScene::paintOverview(QPainter& painter, const QPalette& palette) const
{
    if (!m_graph)
        return;
    painter.setPen(Qt::NoPen);
    for (int i = 0; i < m_layout.centers.size(); ++i) {
        QColor color = mix(palette.color(QPalette::Base), look(item(i)).color, 0.75);
        painter.fillRect(rectOf(i), color);
    }
}

} // namespace lathe::ui
