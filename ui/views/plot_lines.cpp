#include "ui/views/plot_lines.h"

#include <QSet>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::ui {

namespace {

bool isBefore(const QPointF& point, double x)
{
    return point.x() < x;
}

bool isAfter(double x, const QPointF& point)
{
    return x < point.x();
}

} // namespace

double valueAt(const QList<QPointF>& points, double x)
{
    const auto after = std::upper_bound(points.begin(), points.end(), x, isAfter);
    return after == points.begin() ? std::numeric_limits<double>::quiet_NaN() : std::prev(after)->y();
}

QList<QPointF> steps(const QList<QPointF>& changes, double end)
{
    QList<QPointF> corners;
    corners.reserve(changes.size() * 2 + 1);
    for (const QPointF& p : changes) {
        if (!corners.isEmpty()) {
            if (corners.last().y() == p.y())
                continue;
            corners << QPointF(p.x(), corners.last().y());
        }
        corners << p;
    }
    if (!corners.isEmpty() && end > corners.last().x())
        corners << QPointF(end, corners.last().y());
    return corners;
}

QList<QPointF> between(const QList<QPointF>& points, double low, double high)
{
    auto first = std::lower_bound(points.begin(), points.end(), low, isBefore);
    auto last = std::upper_bound(first, points.end(), high, isAfter);
    if (first != points.begin())
        --first;
    if (last != points.end())
        ++last;
    return first == points.begin() && last == points.end() ? points : QList<QPointF>(first, last);
}

// Labels that would touch are a block, which stands where the sum of its labels' squared distances is least: at the
// mean of what each of them wants, its place in the block taken into account. A block that touches the one above
// becomes one with it.
std::vector<double> spread(const std::vector<double>& wanted, double height, double top, double bottom)
{
    struct Block
    {
        double sum = 0; ///< of the first label's middle, as each label wants it
        int count = 0;
        double first = 0;
    };
    std::vector<Block> blocks;
    const auto place = [&](Block& block) {
        const double last = bottom - height / 2 - (block.count - 1) * height;
        block.first = std::max(top + height / 2, std::min(block.sum / block.count, last));
    };
    for (const double at : wanted) {
        blocks.push_back({at, 1, 0});
        place(blocks.back());
        while (blocks.size() > 1) {
            Block& above = blocks[blocks.size() - 2];
            const Block below = blocks.back();
            if (above.first + above.count * height <= below.first)
                break;
            above.sum += below.sum - below.count * above.count * height;
            above.count += below.count;
            blocks.pop_back();
            place(blocks.back());
        }
    }
    std::vector<double> middles;
    middles.reserve(wanted.size());
    for (const Block& block : blocks)
        for (int i = 0; i < block.count; ++i)
            middles.push_back(block.first + i * height);
    return middles;
}

void ColorSlots::assign(const QStringList& keys, const std::vector<int>& preferred)
{
    QHash<QString, int> kept;
    QSet<int> taken;
    for (const QString& key : keys)
        if (const auto known = m_slots.constFind(key); known != m_slots.constEnd()) {
            kept.insert(key, *known);
            taken.insert(*known);
        }
    for (qsizetype i = 0; i < keys.size(); ++i) {
        if (kept.contains(keys[i]))
            continue;
        int slot = preferred[static_cast<std::size_t>(i)];
        if (taken.contains(slot))
            for (slot = 0; taken.contains(slot);)
                ++slot;
        kept.insert(keys[i], slot);
        taken.insert(slot);
    }
    m_slots = std::move(kept);
}

} // namespace lathe::ui
