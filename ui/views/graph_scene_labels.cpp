#include "ui/views/graph_scene.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPathStroker>

#include <algorithm>
#include <iterator>
#include <map>

namespace lathe::ui {

namespace {

constexpr double kLabelFont = 0.85; // of the nodes' size
constexpr QSizeF kLabelPadding{3, 1};
constexpr double kLabelBorder = 1.5; // where wishes change it
constexpr double kEdgeReach = 5; // pixels from the mouse to the edge that is meant
constexpr double kSideStep = 0.2; // along an edge, to the end where it has most room

} // namespace

void GraphScene::setEdgeLayouts(std::vector<EdgeLayout> layouts)
{
    m_edgeLayouts = std::move(layouts);
    labelEdges();
}

QFont GraphScene::labelFont(bool bold) const
{
    QFont font = m_font;
    if (font.pointSizeF() > 0)
        font.setPointSizeF(font.pointSizeF() * kLabelFont);
    else
        font.setPixelSize(std::max(1, static_cast<int>(font.pixelSize() * kLabelFont)));
    font.setBold(bold);
    return font;
}

QPointF GraphScene::pointOn(int edge, double part) const
{
    const QPolygonF& spline = m_layout.edges[edge];
    const qsizetype pieces = spline.size() / 3;
    if (pieces == 0)
        return placed(spline.front());
    const double along = part * static_cast<double>(pieces);
    const qsizetype piece = std::clamp<qsizetype>(static_cast<qsizetype>(along), 0, pieces - 1);
    const double t = along - static_cast<double>(piece), s = 1 - t;
    const QPointF* const c = &spline[3 * piece];
    return placed(c[0] * (s * s * s) + c[1] * (3 * s * s * t) + c[2] * (3 * s * t * t) + c[3] * (t * t * t));
}

void GraphScene::labelEdges()
{
    m_labels.clear();
    if (m_edgeLayouts.empty() || m_layout.edges.isEmpty())
        return;
    const auto isOneFunction = [this](int place) {
        return !isGroup(item(place)) || m_outline.group(groupOf(item(place))).kind == GraphGroup::Kind::Function;
    };
    std::map<int, std::vector<const EdgeLayout*>> seen; // by edge
    for (const EdgeLayout& layout : m_edgeLayouts) {
        const std::pair ends(placeOf(layout.from), placeOf(layout.to));
        const auto edge = std::ranges::lower_bound(m_visible.edges, ends);
        if (edge != m_visible.edges.end() && *edge == ends && isOneFunction(ends.first) && isOneFunction(ends.second))
            seen[static_cast<int>(edge - m_visible.edges.begin())].push_back(&layout);
    }
    std::vector<int> leaving(m_visible.items.size()), arriving(m_visible.items.size()); // edges
    for (const auto& [from, to] : m_visible.edges) {
        ++leaving[static_cast<std::size_t>(from)];
        ++arriving[static_cast<std::size_t>(to)];
    }
    for (const auto& [edge, layouts] : seen) {
        EdgeLabel label = labelOf(edge, layouts);
        const auto& [from, to] = m_visible.edges[static_cast<std::size_t>(edge)];
        placeLabel(label, leaving[static_cast<std::size_t>(from)] - arriving[static_cast<std::size_t>(to)]);
        m_labels.push_back(std::move(label));
    }
}

GraphScene::EdgeLabel GraphScene::labelOf(int edge, const std::vector<const EdgeLayout*>& layouts) const
{
    EdgeLabel label;
    label.edge = edge;
    QStringList texts, tips;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        const EdgeLayout& layout = *layouts[i];
        if (std::any_of(layouts.begin(), layouts.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const EdgeLayout* before) { return before->tensor == layout.tensor; }))
            continue; // read several times
        if (!texts.contains(layout.text))
            texts << layout.text;
        tips << layout.tip;
        label.converts = label.converts || layout.converts;
        label.changes = label.changes || layout.changes;
    }
    label.text = texts.join(QStringLiteral(", "));
    label.tip = tips.join(QStringLiteral("<hr>"));
    const QFont font = labelFont(label.converts);
    label.prepared.setTextFormat(Qt::PlainText);
    label.prepared.setText(label.text);
    label.prepared.prepare({}, font);
    const QFontMetricsF metrics(font);
    label.rect.setSize(QSizeF(metrics.horizontalAdvance(label.text), metrics.height()) + 2 * kLabelPadding);
    return label;
}

/// Where it hides nothing, if there is such a place. Edges that leave one item are apart where they arrive, and those
/// that arrive at one item where they leave: side > 0 and < 0.
void GraphScene::placeLabel(EdgeLabel& label, int side) const
{
    const auto isFree = [this](const QRectF& rect) {
        const auto meets = [&rect](const QRectF& other) { return other.intersects(rect); };
        return std::ranges::none_of(m_rects, meets) && std::ranges::none_of(m_labels, meets, &EdgeLabel::rect);
    };
    const double first = side == 0 ? 0 : side > 0 ? kSideStep : -kSideStep;
    for (const double aside : {first, 0.0, -first, kSideStep, -kSideStep, 2 * kSideStep, -2 * kSideStep}) {
        label.rect.moveCenter(pointOn(label.edge, 0.5 + aside));
        if (isFree(label.rect))
            return;
    }
    label.rect.moveCenter(pointOn(label.edge, 0.5 + first));
}

void GraphScene::paintLabels(QPainter& painter, const QRectF& clip, const QPalette& palette) const
{
    for (const bool converts : {false, true}) { // one after the other: a change of the font takes longer than a text
        painter.setFont(labelFont(converts));
        for (const EdgeLabel& label : m_labels) {
            if (label.converts != converts || !label.rect.adjusted(-2, -2, 2, 2).intersects(clip))
                continue;
            painter.setPen(label.changes ? QPen(palette.color(QPalette::Highlight), kLabelBorder) : QPen(Qt::NoPen));
            painter.setBrush(converts ? GraphLooks::conversionColor() : palette.color(QPalette::Base));
            painter.drawRoundedRect(label.rect, 3, 3);
            painter.setPen(converts ? QColor(Qt::white) : palette.color(QPalette::Text));
            painter.drawStaticText(label.rect.topLeft() + QPointF(kLabelPadding.width(), kLabelPadding.height()),
                                   label.prepared);
        }
    }
    painter.setFont(m_font);
}

QString GraphScene::edgeTipAt(QPointF point, double scale) const
{
    if (scale >= kLabelsFrom)
        for (const EdgeLabel& label : m_labels)
            if (label.rect.contains(point))
                return label.tip;
    const double reach = kEdgeReach / scale;
    QPainterPathStroker stroker;
    stroker.setWidth(2 * reach);
    for (const Piece& piece : m_pieces) {
        if (m_labels.empty() || !piece.bounds.adjusted(-reach, -reach, reach, reach).contains(point))
            continue;
        const auto label = std::ranges::lower_bound(m_labels, piece.edge, {}, &EdgeLabel::edge);
        if (label != m_labels.end() && label->edge == piece.edge && stroker.createStroke(piece.curve).contains(point))
            return label->tip;
    }
    return {};
}

} // namespace lathe::ui
