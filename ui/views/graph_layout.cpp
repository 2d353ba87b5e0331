#include "ui/views/graph_layout.h"

#include <QList>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr QSizeF kCell{186, 62};
constexpr double kFramePadding = 8;

QRectF itemRect(QPointF center)
{
    return {center - QPointF(GraphLayout::kItemSize.width(), GraphLayout::kItemSize.height()) / 2,
            GraphLayout::kItemSize};
}

} // namespace

GraphLayout plainLayout(const GraphShape& shape)
{
    GraphLayout layout;
    const auto items = static_cast<std::size_t>(shape.items);
    std::vector<std::vector<std::size_t>> feeds(items);
    for (const auto& [from, to] : shape.edges)
        feeds[static_cast<std::size_t>(to)].push_back(static_cast<std::size_t>(from));
    std::vector<std::size_t> layerOf(items, 0);
    std::vector<std::vector<std::size_t>> layers;
    for (std::size_t i = 0; i < items; ++i) {
        for (const std::size_t before : feeds[i])
            layerOf[i] = std::max(layerOf[i], layerOf[before] + 1);
        layers.resize(std::max(layers.size(), layerOf[i] + 1));
        layers[layerOf[i]].push_back(i);
    }
    std::vector<double> x(items, 0); // columns from the middle
    double half = 0;
    for (std::vector<std::size_t>& layer : layers) {
        for (const std::size_t i : layer)
            for (const std::size_t before : feeds[i])
                x[i] += x[before] / static_cast<double>(feeds[i].size());
        std::stable_sort(layer.begin(), layer.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
        double mean = 0;
        for (const std::size_t i : layer)
            mean += x[i] / static_cast<double>(layer.size());
        for (std::size_t k = 0; k < layer.size(); ++k) {
            x[layer[k]] = mean + static_cast<double>(k) - static_cast<double>(layer.size() - 1) / 2;
            half = std::max(half, std::abs(x[layer[k]]) + 0.5);
        }
    }
    for (std::size_t i = 0; i < items; ++i)
        layout.centers << QPointF((x[i] + half) * kCell.width(),
                                  (static_cast<double>(layerOf[i]) + 0.5) * kCell.height());
    const double down = GraphLayout::kItemSize.height() / 2;
    for (const auto& [from, to] : shape.edges) {
        const QPointF a = layout.centers[from] + QPointF(0, down);
        const QPointF b = layout.centers[to] - QPointF(0, down);
        const QPointF bend(0, (b.y() - a.y()) / 2);
        layout.edges << QPolygonF({a, a + bend, b - bend, b});
    }
    for (const auto& [first, last] : shape.frames) {
        QRectF rect;
        for (int i = first; i <= last; ++i)
            rect |= itemRect(layout.centers[i]);
        layout.frames << rect.adjusted(-kFramePadding, -kFramePadding, kFramePadding, kFramePadding);
    }
    layout.size = QSizeF(2 * half * kCell.width(), static_cast<double>(layers.size()) * kCell.height());
    return layout;
}

QByteArray layoutQuestion(const GraphShape& shape)
{
    QByteArray text = "lathe-layout 1\n";
    const QByteArray item = "item " + QByteArray::number(GraphLayout::kItemSize.width()) + ' '
                            + QByteArray::number(GraphLayout::kItemSize.height()) + '\n';
    text += item.repeated(shape.items);
    for (const auto& [from, to] : shape.edges)
        text += "edge " + QByteArray::number(from) + ' ' + QByteArray::number(to) + '\n';
    for (const auto& [first, last] : shape.frames)
        text += "frame " + QByteArray::number(first) + ' ' + QByteArray::number(last) + '\n';
    return text + "end\n";
}

std::optional<GraphLayout> readLayout(const QByteArray& answer, const GraphShape& shape)
{
    GraphLayout layout;
    const QList<QByteArray> lines = answer.split('\n');
    if (lines.size() != static_cast<qsizetype>(4 + shape.items + shape.edges.size() + shape.frames.size())
        || lines.front() != "lathe-layout 1" || lines[lines.size() - 2] != "end")
        return std::nullopt;
    for (qsizetype l = 1; l + 2 < lines.size(); ++l) {
        QList<QByteArray> words = lines[l].split(' ');
        const QByteArray kind = words.takeFirst();
        QPolygonF points;
        for (qsizetype w = 0; w + 1 < words.size(); w += 2) {
            bool ok = true;
            bool okToo = true;
            points << QPointF(words[w].toDouble(&ok), words[w + 1].toDouble(&okToo));
            if (!ok || !okToo || !std::isfinite(points.back().x()) || !std::isfinite(points.back().y()))
                return std::nullopt;
        }
        if (kind == "size" && points.size() == 1)
            layout.size = QSizeF(points[0].x(), points[0].y());
        else if (kind == "item" && points.size() == 1)
            layout.centers << points[0];
        else if (kind == "edge" && points.size() % 3 == 1)
            layout.edges << points;
        else if (kind == "frame" && points.size() == 2)
            layout.frames << QRectF(points[0], points[1]).normalized();
        else
            return std::nullopt;
    }
    const bool fits = !layout.size.isEmpty() && layout.centers.size() == shape.items
                      && layout.edges.size() == static_cast<qsizetype>(shape.edges.size())
                      && layout.frames.size() == static_cast<qsizetype>(shape.frames.size());
    return fits ? std::optional(std::move(layout)) : std::nullopt;
}

} // namespace lathe::ui
