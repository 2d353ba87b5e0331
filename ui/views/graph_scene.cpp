#include "ui/views/graph_scene.h"

#include "ui/models/graph_find.h"
#include "ui/models/texts.h"
#include "ui/views/pattern_brush.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kSceneMargin = 24;
// Details that cannot be read are not painted.
constexpr double kTextFrom = 0.4;
constexpr double kCurvesFrom = 0.3;
constexpr double kRoundFrom = 0.15;
// More than this at the start is folded: what one can still take in.
constexpr int kSeenAtFirst = 160;
constexpr double kCoarse = 5; // what an edge may be aside of where it goes when it is painted as lines
constexpr double kStraight = 0.3; // likewise, as curves
constexpr double kLongest =
    90; // pieces of edges: what is not seen is not painted, and nothing is large (see paintFrames())
constexpr double kCorner = 16; // of a frame, where a click folds it

double distanceTo(const QLineF& line, QPointF point)
{
    const QPointF along = line.p2() - line.p1();
    const QPointF to = point - line.p1();
    return line.length() > 0 ? (along.x() * to.y() - along.y() * to.x()) / line.length() : std::hypot(to.x(), to.y());
}

} // namespace

void GraphScene::setGraph(std::shared_ptr<const session::GraphView> graph, const QFont& font)
{
    m_graph = std::move(graph);
    m_outline = m_graph ? GraphOutline(*m_graph) : GraphOutline();
    m_visible = {};
    m_unfolded.clear();
    m_layout = {};
    m_marks = {};
    m_edgeLayouts.clear();
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
    if (static_cast<int>(visible.items.size()) > kMaxItems && visible.items.size() > m_visible.items.size()
        && !m_visible.items.empty())
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

/// In the scene, where items are as large as their texts.
QPointF GraphScene::placed(QPointF layoutPoint) const
{
    return {kSceneMargin + layoutPoint.x() * m_nodeWidth / GraphLayout::kItemSize.width(),
            kSceneMargin + layoutPoint.y() * m_nodeHeight / GraphLayout::kItemSize.height()};
}

void GraphScene::placeAll()
{
    const auto at = [this](QPointF p) { return placed(p); };
    const QPointF corner = at({m_layout.size.width(), m_layout.size.height()});
    m_size = QSizeF(corner.x() + kSceneMargin, corner.y() + kSceneMargin);
    m_rects.clear();
    for (const QPointF& center : m_layout.centers)
        m_rects.emplace_back(at(center) - QPointF(m_nodeWidth, m_nodeHeight) / 2, QSizeF(m_nodeWidth, m_nodeHeight));
    m_pieces.clear();
    m_lines.clear();
    for (int e = 0; e < static_cast<int>(m_layout.edges.size()); ++e) {
        const QPolygonF& spline = m_layout.edges[e];
        QLineF line(at(spline.front()), at(spline.front()));
        for (qsizetype p = 0; p + 3 < spline.size(); p += 3) {
            const QPointF end = at(spline[p + 3]);
            addCurve({at(spline[p]), at(spline[p + 1]), at(spline[p + 2]), end}, e);
            // Pieces that go on straight are one line.
            if (line.length() > 0 && std::abs(distanceTo(QLineF(line.p1(), end), line.p2())) > kCoarse) {
                m_lines.push_back(line);
                line.setP1(line.p2());
            }
            line.setP2(end);
        }
        m_lines.push_back(line);
    }
    m_frames.clear();
    for (std::size_t f = 0; f < static_cast<std::size_t>(m_layout.frames.size()); ++f) {
        const auto inside = [&](const VisibleGraph::Frame& outer) {
            return outer.first <= m_visible.frames[f].first && m_visible.frames[f].last <= outer.last;
        };
        const auto depth = std::count_if(m_visible.frames.begin(),
                                         m_visible.frames.begin() + static_cast<std::ptrdiff_t>(f) + 1, inside);
        const QRectF& frame = m_layout.frames[static_cast<qsizetype>(f)];
        m_frames.push_back({QRectF(at(frame.topLeft()), at(frame.bottomRight())), static_cast<int>(depth)});
    }
    m_texts.assign(m_rects.size(), std::nullopt);
    labelEdges();
}

void GraphScene::addCurve(const std::array<QPointF, 4>& c, int edge)
{
    if (QLineF(c[0], c[3]).length() > kLongest) { // halves, by de Casteljau
        const QPointF ab = (c[0] + c[1]) / 2;
        const QPointF bc = (c[1] + c[2]) / 2;
        const QPointF cd = (c[2] + c[3]) / 2;
        const QPointF middle = ((ab + bc) / 2 + (bc + cd) / 2) / 2;
        addCurve({c[0], ab, (ab + bc) / 2, middle}, edge);
        addCurve({middle, (bc + cd) / 2, cd, c[3]}, edge);
        return;
    }
    Piece piece{QPainterPath(c[0]), {}, edge};
    const QLineF chord(c[0], c[3]);
    if (std::abs(distanceTo(chord, c[1])) < kStraight && std::abs(distanceTo(chord, c[2])) < kStraight)
        piece.curve.lineTo(c[3]);
    else
        piece.curve.cubicTo(c[1], c[2], c[3]);
    piece.bounds = piece.curve.controlPointRect().adjusted(-2, -2, 2, 2);
    m_pieces.push_back(std::move(piece));
}

void GraphScene::setColoring(GraphColoring coloring)
{
    m_coloring = coloring;
    m_looks.clear();
}

void GraphScene::setShowsNames(bool on)
{
    m_names = on;
    m_texts.assign(m_rects.size(), std::nullopt);
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
            mark.marked = mark.marked
                          || (m_marks.task >= 0 && m_graph->nodes[static_cast<std::size_t>(node)].task == m_marks.task);
            mark.match = mark.match || m_marks.matches.contains(node);
            mark.way = mark.way || m_marks.way.contains(node);
        }
    }
    m_edgeOnWay.assign(m_visible.edges.size(), false);
    if (m_marks.way.empty())
        return;
    std::set<std::pair<int, int>> steps;
    for (const session::EdgeView& edge : m_graph->edges)
        if (m_marks.way.contains(edge.from) && m_marks.way.contains(edge.to))
            steps.emplace(placeOf(edge.from), placeOf(edge.to));
    for (std::size_t e = 0; e < m_edgeOnWay.size(); ++e)
        m_edgeOnWay[e] = steps.contains(m_visible.edges[e]);
}

int GraphScene::placeAt(QPointF point) const
{
    const auto found = std::find_if(m_rects.begin(), m_rects.end(),
                                    [&](const QRectF& rect) { return rect.contains(point); });
    return found == m_rects.end() ? -1 : static_cast<int>(found - m_rects.begin());
}

int GraphScene::frameTitleAt(QPointF point) const
{
    for (std::size_t f = m_frames.size(); f-- > 0;)
        if (QRectF(m_frames[f].rect.topLeft() - QPointF(2, 2), QSizeF(kCorner, kCorner)).contains(point))
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
        title = QString::fromStdString(m_names ? modelName(node) : node.op);
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
    kept->title = prepared(
        metrics.elidedText(title, m_names && !isGroup(what) ? Qt::ElideLeft : Qt::ElideRight, width));
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
    painter.setPen(QPen(mark.current ? palette.color(QPalette::Highlight) : look.color, mark.current  ? 3
                                                                                        : mark.marked ? 2
                                                                                                      : 1));
    const auto box = [&](const QRectF& rect) { painter.drawRoundedRect(rect, 5, 5); };
    if (scale < kRoundFrom) {
        fill.setAlphaF(mark.marked ? 0.9F : 0.55F);
        painter.fillRect(r, fill);
        if (mark.current) { // found from afar
            painter.setPen(QPen(palette.color(QPalette::Highlight), 2.5 / scale));
            painter.drawRect(r.adjusted(-3 / scale, -3 / scale, 3 / scale, 3 / scale));
        }
    } else {
        painter.setBrush(fill);
        if (group) // a group looks like a pile
            box(r.translated(3, 3));
        box(r);
    }
    if (look.pattern != Qt::NoBrush && scale >= kRoundFrom) {
        fill.setAlphaF(0.4F);
        QBrush pattern = patternBrush(fill, look.pattern, painter.device()->devicePixelRatioF());
        if (pattern.style() == Qt::TexturePattern) // Qt's own patterns do not grow with the graph either
            pattern.setTransform(QTransform::fromScale(1 / scale, 1 / scale));
        painter.setBrush(pattern);
        box(r);
    }
    if (mark.way) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette.color(QPalette::Highlight), 2.5 / std::min(scale, 1.0)));
        painter.drawRoundedRect(r.adjusted(-2, -2, 2, 2), 6, 6);
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

void GraphScene::paintFrames(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette,
                             bool withMarks) const
{
    // Opaque and without antialiasing: frames are large, and Qt blends large areas on threads whose wake-up takes
    // longer than all the rest of the drawing.
    painter.setRenderHint(QPainter::Antialiasing, false);
    const QColor base = palette.color(QPalette::Base);
    const QColor text = palette.color(QPalette::Text);
    for (std::size_t f = 0; f < m_frames.size(); ++f) {
        const QRectF& r = m_frames[f].rect;
        if (!r.adjusted(-2, -2, 2, 2).intersects(clip))
            continue;
        painter.fillRect(r.intersected(clip.adjusted(-9, -9, 9, 9)),
                         mix(base, text, std::min(0.03 * m_frames[f].depth, 0.15)));
        painter.setPen(QPen(mix(base, text, withMarks && m_visible.frames[f].group == m_marks.group ? 0.8 : 0.25), 0));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(r.intersected(clip.adjusted(-9, -9, 9, 9)));
        if (scale >= kTextFrom) { // where a click folds it
            painter.setPen(Qt::NoPen);
            painter.setBrush(mix(base, text, 0.7));
            painter.drawPolygon(
                QPolygonF({r.topLeft() + QPointF(2, 3), r.topLeft() + QPointF(11, 3), r.topLeft() + QPointF(6.5, 9)}));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing);
}

void GraphScene::paintEdges(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette,
                            bool withMarks) const
{
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(mix(palette.color(QPalette::Base), palette.color(QPalette::Text), 0.4),
                        scale < kCurvesFrom ? 0 : 1.2)); // hair lines are painted ten times as fast
    if (scale >= kCurvesFrom) {
        for (const Piece& piece : m_pieces)
            if (piece.bounds.intersects(clip))
                painter.drawPath(piece.curve);
    }
    if (withMarks && !m_marks.way.empty()) {
        const QPen pen = painter.pen();
        painter.setPen(QPen(palette.color(QPalette::Highlight), 3 / std::min(scale, 1.0)));
        for (const Piece& piece : m_pieces)
            if (m_edgeOnWay[static_cast<std::size_t>(piece.edge)] && piece.bounds.intersects(clip))
                painter.drawPath(piece.curve);
        painter.setPen(pen);
    }
    if (scale >= kCurvesFrom)
        return;
    std::vector<QLineF> seen;
    for (const QLineF& l : m_lines)
        if (QRectF(l.p1(), l.p2()).normalized().adjusted(-1, -1, 1, 1).intersects(clip))
            seen.push_back(l);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.drawLines(seen.data(), static_cast<int>(seen.size()));
    painter.setRenderHint(QPainter::Antialiasing);
}

void GraphScene::paint(QPainter& painter, const QRectF& clip, double scale, const QPalette& palette,
                       bool withMarks) const
{
    if (!m_graph)
        return;
    painter.setFont(m_font);
    paintFrames(painter, clip, scale, palette, withMarks);
    paintEdges(painter, clip, scale, palette, withMarks);
    for (std::size_t i = 0; i < m_rects.size(); ++i)
        if (m_rects[i].adjusted(-6, -6, 6, 6).intersects(clip))
            paintItem(painter, static_cast<int>(i), scale, palette, withMarks ? m_marked[i] : Mark());
    if (scale >= kLabelsFrom)
        paintLabels(painter, clip, palette);
}

void GraphScene::paintOverview(QPainter& painter, const QPalette& palette) const
{
    if (!m_graph)
        return;
    const QColor base = palette.color(QPalette::Base);
    painter.setPen(Qt::NoPen);
    for (std::size_t i = 0; i < m_rects.size(); ++i) {
        painter.fillRect(m_rects[i], mix(base, looks()[i].color, 0.75));
    }
}

} // namespace lathe::ui
