#include "ui/views/graph_scene.h"

#include "ui/models/texts.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kMargin = 24;
// Details that cannot be read are not painted.
constexpr double kTextFrom = 0.4;
constexpr double kCurvesFrom = 0.3;
constexpr double kRoundFrom = 0.15;
// More than this at the start is folded: what one can still take in.
constexpr int kSeenAtFirst = 160;
constexpr double kCorner = 16; // of a frame, where a click folds it

} // namespace

void GraphScene::setGraph(std::shared_ptr<const session::GraphView> graph, const QFont& font)
{
    m_graph = std::move(graph);
    m_outline = m_graph ? GraphOutline(*m_graph) : GraphOutline();
    m_visible = {};
    m_unfolded.clear();
    m_layout = {};
    m_marks = {};
    m_nodes.clear();
    m_looks.clear();
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
    placeAll();
}

bool GraphScene::setUnfolded(const std::set<int>& unfolded)
{
    VisibleGraph visible = visibleGraph(*m_graph, m_outline, unfolded);
    if (static_cast<int>(visible.items.size()) > kMaxItems && visible.items.size() > m_visible.items.size() && !m_visible.items.empty())
        return false;
    m_unfolded = unfolded;
    m_visible = std::move(visible);
    m_nodes.clear();
    for (const GraphItem item : m_visible.items)
        m_nodes.push_back(isGroup(item) ? m_outline.group(groupOf(item)).nodes : std::vector<int>{item});
    m_looks.clear();
    setLayout(plainLayout(shape()));
    markAll();
    return true;
}

bool GraphScene::reveal(int node)
{
    if (!m_graph || node < 0 || item(placeOf(node)) == node)
        return false;
    const std::vector<int> path = m_outline.path(node);
    std::set<int> wanted = m_unfolded;
    wanted.insert(path.begin(), path.end());
    if (!setUnfolded(wanted))
        setUnfolded({path.begin(), path.end()});
    return true;
}

GraphShape GraphScene::shape() const
{
    GraphShape shape{static_cast<int>(m_visible.items.size()), m_visible.edges, {}};
    for (const VisibleGraph::Frame& frame : m_visible.frames)
        shape.frames.emplace_back(frame.first, frame.last);
    return shape;
}

void GraphScene::setLayout(GraphLayout layout)
{
    m_layout = std::move(layout);
    placeAll();
}

void GraphScene::placeAll()
{
    const double sx = m_nodeWidth / GraphLayout::kItemSize.width();
    const double sy = m_nodeHeight / GraphLayout::kItemSize.height();
    const auto at = [&](QPointF p) { return QPointF(kMargin + p.x() * sx, kMargin + p.y() * sy); };
    m_size = QSizeF(m_layout.size.width() * sx + 2 * kMargin, m_layout.size.height() * sy + 2 * kMargin);
    m_rects.clear();
    for (const QPointF& center : m_layout.centers)
        m_rects.emplace_back(at(center) - QPointF(m_nodeWidth, m_nodeHeight) / 2, QSizeF(m_nodeWidth, m_nodeHeight));
    m_edges.clear();
    for (const QPolygonF& spline : m_layout.edges) {
        Edge edge;
        edge.path.moveTo(at(spline.front()));
        for (qsizetype p = 1; p + 2 < spline.size(); p += 3) {
            edge.lines << QLineF(edge.path.currentPosition(), at(spline[p + 2]));
            edge.path.cubicTo(at(spline[p]), at(spline[p + 1]), at(spline[p + 2]));
        }
        edge.bounds = edge.path.controlPointRect().adjusted(-2, -2, 2, 2);
        m_edges.push_back(std::move(edge));
    }
    m_frames.clear();
    for (const QRectF& frame : m_layout.frames)
        m_frames.emplace_back(at(frame.topLeft()), at(frame.bottomRight()));
    m_texts.assign(m_rects.size(), std::nullopt);
}

void GraphScene::setColoring(GraphColoring coloring)
{
    m_coloring = coloring;
    m_looks.clear();
}

void GraphScene::setFigures(std::vector<GraphTaskFigure> figures)
{
    m_figures = std::move(figures);
    if (m_coloring == GraphColoring::Share || m_coloring == GraphColoring::Coverage)
        m_looks.clear();
}

void GraphScene::setMarks(const GraphMarks& marks)
{
    m_marks = marks;
    markAll();
}

void GraphScene::markAll()
{
    m_marked.assign(m_visible.items.size(), {});
    for (std::size_t place = 0; place < m_marked.size(); ++place) {
        const GraphItem what = m_visible.items[place];
        Mark& mark = m_marked[place];
        mark.current = isGroup(what) ? groupOf(what) == m_marks.group : what == m_marks.node;
        mark.marked = mark.current;
        for (const int node : m_nodes[place]) {
            mark.marked = mark.marked || (m_marks.task >= 0 && m_graph->nodes[static_cast<std::size_t>(node)].task == m_marks.task);
            mark.match = mark.match || m_marks.matches.contains(node);
        }
    }
}

int GraphScene::placeAt(QPointF point) const
{
    const auto found = std::find_if(m_rects.begin(), m_rects.end(), [&](const QRectF& rect) { return rect.contains(point); });
    return found == m_rects.end() ? -1 : static_cast<int>(found - m_rects.begin());
}

int GraphScene::frameTitleAt(QPointF point) const
{
    for (std::size_t f = m_frames.size(); f-- > 0;)
        if (QRectF(m_frames[f].topLeft() - QPointF(2, 2), QSizeF(kCorner, kCorner)).contains(point))
            return m_visible.frames[f].group;
    return -1;
}

const std::vector<GraphLook>& GraphScene::looks() const
{
    if (m_looks.empty()) {
        for (const std::vector<int>& nodes : m_nodes)
            m_looks.push_back(GraphLooks::of(*m_graph, nodes, m_coloring, m_figures));
        m_texts.assign(m_rects.size(), std::nullopt);
    }
    return m_looks;
}

QString GraphScene::note(int place) const
{
    return looks()[static_cast<std::size_t>(place)].note;
}

const GraphScene::Texts& GraphScene::texts(int place) const
{
    std::optional<Texts>& kept = m_texts[static_cast<std::size_t>(place)];
    if (kept)
        return *kept;
    const GraphItem what = item(place);
    const QFontMetricsF metrics(m_font);
    const double width = m_nodeWidth - 12;
    QString title;
    QString shape;
    if (isGroup(what)) {
        title = QStringLiteral("▸ ") + m_outline.group(groupOf(what)).title;
        shape = m_outline.group(groupOf(what)).shape;
    } else {
        const session::NodeView& node = m_graph->nodes[static_cast<std::size_t>(what)];
        title = QString::fromStdString(node.op);
        shape = node.outputs.empty() ? QString() : shapeText(node.outputs.front());
    }
    const QString note = this->note(place);
    const auto prepared = [this](const QString& text) {
        QStaticText result(text);
        result.setTextFormat(Qt::PlainText);
        result.prepare({}, m_font);
        return result;
    };
    kept.emplace();
    kept->noteWidth = note.isEmpty() ? 0 : metrics.horizontalAdvance(note);
    kept->title = prepared(metrics.elidedText(title, Qt::ElideRight, width));
    kept->shape = prepared(metrics.elidedText(shape, Qt::ElideRight, width - kept->noteWidth - 6));
    kept->note = prepared(note);
    return *kept;
}

void GraphScene::paintItem(QPainter& painter, int place, double scale, const QPalette& palette, const Mark& mark) const
{
    const bool group = isGroup(item(place));
    const QRectF& r = rectOf(place);
    const GraphLook& look = looks()[static_cast<std::size_t>(place)];
    QColor fill = look.color;
    fill.setAlphaF(mark.marked ? 0.55F : 0.25F);
    painter.setPen(QPen(mark.current ? palette.color(QPalette::Highlight) : look.color, mark.current ? 3 : mark.marked ? 2 : 1));
    const auto box = [&](const QRectF& rect) {
        if (scale < kRoundFrom)
            painter.drawRect(rect);
        else
            painter.drawRoundedRect(rect, 5, 5);
    };
    painter.setBrush(fill);
    if (group && scale >= kRoundFrom) // a group looks like a pile
        box(r.translated(3, 3));
    box(r);
    if (look.pattern != Qt::NoBrush && scale >= kRoundFrom) {
        fill.setAlphaF(0.4F);
        painter.setBrush(QBrush(fill, look.pattern));
        box(r);
    }
    if (mark.match) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette.color(QPalette::Text), 2 / std::min(scale, 1.0), Qt::DashLine));
        painter.drawRoundedRect(r.adjusted(-4, -4, 4, 4), 7, 7);
    }
    if (scale < kTextFrom)
        return;
    const Texts& words = texts(place);
    const double line = (m_nodeHeight - 8) / 2;
    painter.setPen(palette.color(QPalette::Text));
    painter.drawStaticText(r.topLeft() + QPointF(6, 4), words.title);
    QColor faint = palette.color(QPalette::Text);
    faint.setAlphaF(0.7F);
    painter.setPen(faint);
    painter.drawStaticText(r.topLeft() + QPointF(6, 4 + line), words.shape);
    painter.drawStaticText(QPointF(r.right() - 6 - words.noteWidth, r.top() + 4 + line), words.note);
}

void GraphScene::paintFrames(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette, bool withMarks) const
{
    QColor color = palette.color(QPalette::Text);
    for (std::size_t f = 0; f < m_frames.size(); ++f) {
        const QRectF& r = m_frames[f];
        if (!r.adjusted(-2, -2, 2, 2).intersects(clip))
            continue;
        color.setAlphaF(withMarks && m_visible.frames[f].group == m_marks.group ? 0.8F : 0.22F);
        painter.setPen(scale < kRoundFrom ? QPen(color, 0) : QPen(color, 1, Qt::DotLine));
        color.setAlphaF(0.03F);
        painter.setBrush(color);
        painter.drawRect(r);
        if (scale >= kTextFrom) { // where a click folds it
            color.setAlphaF(0.7F);
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            painter.drawPolygon(QPolygonF({r.topLeft() + QPointF(2, 3), r.topLeft() + QPointF(11, 3), r.topLeft() + QPointF(6.5, 9)}));
        }
    }
}

void GraphScene::paintEdges(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette) const
{
    QColor line = palette.color(QPalette::Text);
    line.setAlphaF(0.4F);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(line, scale < kCurvesFrom ? 0 : 1.2)); // hair lines are painted ten times as fast
    for (const Edge& edge : m_edges) {
        if (!edge.bounds.intersects(clip))
            continue;
        if (scale < kCurvesFrom)
            painter.drawLines(edge.lines);
        else
            painter.drawPath(edge.path);
    }
}

void GraphScene::paint(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette, bool withMarks) const
{
    if (!m_graph)
        return;
    painter.setFont(m_font);
    paintFrames(painter, clip, scale, palette, withMarks);
    paintEdges(painter, clip, scale, palette);
    for (std::size_t i = 0; i < m_rects.size(); ++i)
        if (m_rects[i].adjusted(-6, -6, 6, 6).intersects(clip))
            paintItem(painter, static_cast<int>(i), scale, palette, withMarks ? m_marked[i] : Mark());
}

void GraphScene::paintOverview(QPainter& painter, const QPalette& palette) const
{
    if (!m_graph)
        return;
    const QColor base = palette.color(QPalette::Base);
    painter.setPen(Qt::NoPen);
    for (std::size_t i = 0; i < m_rects.size(); ++i) {
        QColor color = looks()[i].color;
        color.setRgbF(base.redF() * 0.25F + color.redF() * 0.75F, base.greenF() * 0.25F + color.greenF() * 0.75F, base.blueF() * 0.25F + color.blueF() * 0.75F);
        painter.fillRect(m_rects[i], color);
    }
}

} // namespace lathe::ui
