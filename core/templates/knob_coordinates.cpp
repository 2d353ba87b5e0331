#include "core/templates/knob_coordinates.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lathe::templates {
namespace {

using Column = std::vector<double>;

constexpr std::int64_t kMostAligned = 64;
constexpr int kDrawnChoices = 6;

/// The inner sizes, their product where there are several, how aligned the innermost is, and the work beyond the edge.
std::vector<Column> splitColumns(const Knob& knob)
{
    const std::size_t outputs = std::get<SplitEntity>(knob.choices.front()).sizes.size();
    Column product, alignment, edge;
    std::vector<Column> columns(outputs);
    for (const Entity& choice : knob.choices) {
        const std::vector<std::int64_t>& sizes = std::get<SplitEntity>(choice).sizes;
        double all = 1;
        for (std::size_t j = 1; j < std::min(sizes.size(), outputs); ++j) {
            const auto size = static_cast<double>(std::max<std::int64_t>(sizes[j], 1));
            columns[j].push_back(std::log2(size));
            all *= size;
        }
        product.push_back(std::log2(all));
        const std::int64_t inner = sizes.empty() ? 1 : std::max<std::int64_t>(sizes.back(), 1);
        alignment.push_back(std::log2(static_cast<double>(std::min(inner & -inner, kMostAligned))));
        const double extent = std::max(1.0, static_cast<double>(knob.extent));
        edge.push_back(std::log2(std::ceil(extent / all) * all / extent));
    }
    columns.push_back(std::move(product));
    columns.push_back(std::move(alignment));
    columns.push_back(std::move(edge));
    return columns;
}

std::vector<Column> orderColumns(const Knob& knob)
{
    std::vector<Column> columns;
    for (const Entity& choice : knob.choices) {
        const std::vector<std::int32_t>& order = std::get<ReorderEntity>(choice).order;
        columns.resize(std::max(columns.size(), order.size()));
        for (std::size_t place = 0; place < order.size(); ++place)
            columns[static_cast<std::size_t>(order[place])].push_back(static_cast<double>(place));
    }
    return columns;
}

/// A one where the axis has the mark, a column for each pair of them; anchors are numbers.
std::vector<Column> annotateColumns(const Knob& knob)
{
    std::map<std::pair<std::size_t, std::size_t>, Column> columns;
    for (std::size_t i = 0; i < knob.choices.size(); ++i) {
        if (const auto* anchors = std::get_if<AnchorEntity>(&knob.choices[i])) {
            for (std::size_t axis = 0; axis < anchors->positions.size(); ++axis) {
                Column& column = columns[{axis, 0}];
                column.resize(knob.choices.size());
                column[i] = anchors->positions[axis];
            }
        } else if (const auto* marks = std::get_if<AnnotateEntity>(&knob.choices[i])) {
            for (std::size_t axis = 0; axis < marks->marks.size(); ++axis) {
                Column& column = columns[{axis, static_cast<std::size_t>(marks->marks[axis])}];
                column.resize(knob.choices.size());
                column[i] = 1;
            }
        }
    }
    std::vector<Column> out;
    for (auto& [key, column] : columns)
        out.push_back(std::move(column));
    return out;
}

/// One column of numbers, by their logarithms where none is negative; of others, one for each choice.
std::vector<Column> optionColumns(const Knob& knob)
{
    Column numbers;
    for (const Entity& choice : knob.choices) {
        const JsonValue& value = std::get<OptionEntity>(choice).value;
        if (const bool* flag = std::get_if<bool>(&value.value))
            numbers.push_back(*flag ? 1 : 0);
        else if (const std::int64_t* whole = value.whole())
            numbers.push_back(static_cast<double>(*whole));
        else if (const Real* real = std::get_if<Real>(&value.value); real != nullptr && std::isfinite(real->value))
            numbers.push_back(real->value);
    }
    if (numbers.size() == knob.choices.size()) {
        if (*std::min_element(numbers.begin(), numbers.end()) >= 0)
            for (double& number : numbers)
                number = std::log2(1 + number);
        return {numbers};
    }
    constexpr std::size_t kMostTexts = 32; // more are numbers by their place, so that dimensions stay few
    if (knob.choices.size() > kMostTexts) {
        numbers.clear();
        for (std::size_t i = 0; i < knob.choices.size(); ++i)
            numbers.push_back(static_cast<double>(i));
        return {numbers};
    }
    std::vector<Column> columns(knob.choices.size(), Column(knob.choices.size(), 0.0));
    for (std::size_t i = 0; i < columns.size(); ++i)
        columns[i][i] = 1;
    return columns;
}

} // namespace

KnobCoordinates::KnobCoordinates(const ConfigSpace& space)
    : m_digits(space)
{
    for (const Knob& knob : space.knobs()) {
        const std::size_t choices = knob.choices.size();
        if (choices < 2)
            continue;
        KnobPlaces& places = m_knobs.emplace_back();
        switch (knob.kind) {
        case KnobKind::Split: add(places, choices, splitColumns(knob), false); break;
        case KnobKind::Reorder: add(places, choices, orderColumns(knob), true); break;
        case KnobKind::Annotate: add(places, choices, annotateColumns(knob), true); break;
        case KnobKind::Option: add(places, choices, optionColumns(knob), true); break;
        }
    }
}

void KnobCoordinates::add(KnobPlaces& knob, std::size_t choices, const std::vector<Column>& columns, bool together)
{
    std::vector<Column> kept;
    for (Column column : columns) {
        if (column.size() != choices)
            continue; // choices of different lengths, from damaged logs
        const auto [least, most] = std::minmax_element(column.begin(), column.end());
        const double from = *least, range = *most - *least;
        if (range <= 0)
            continue;
        for (double& value : column)
            value = (value - from) / range;
        if (std::find(kept.begin(), kept.end(), column) == kept.end())
            kept.push_back(std::move(column)); // powers of two are as aligned as they are large
    }
    knob.dimensions = kept.size();
    for (std::size_t i = 0; i < choices; ++i)
        for (const Column& column : kept)
            knob.places.push_back(static_cast<float>(column[i]));
    for (std::size_t j = 0; j < kept.size(); ++j)
        m_groupOf.push_back(together ? m_groups : m_groups++);
    if (together && !kept.empty())
        ++m_groups;
}

void KnobCoordinates::append(std::uint64_t index, std::vector<double>& out) const
{
    for (std::size_t j = 0; j < m_knobs.size(); ++j) {
        const KnobPlaces& knob = m_knobs[j];
        const auto first = static_cast<std::size_t>(m_digits.digit(index, j)) * knob.dimensions;
        for (std::size_t d = 0; d < knob.dimensions; ++d)
            out.push_back(static_cast<double>(knob.places[first + d]));
    }
}

double KnobCoordinates::distance(const KnobPlaces& knob, std::uint64_t one, std::uint64_t other) const
{
    double sum = 0;
    for (std::size_t d = 0; d < knob.dimensions; ++d) {
        const double difference = static_cast<double>(knob.places[static_cast<std::size_t>(one) * knob.dimensions + d])
                                  - static_cast<double>(
                                      knob.places[static_cast<std::size_t>(other) * knob.dimensions + d]);
        sum += difference * difference;
    }
    return sum;
}

std::uint64_t KnobCoordinates::nearby(std::uint64_t index, Random& random) const
{
    if (m_knobs.empty())
        return index;
    const auto knob = static_cast<std::size_t>(random.below(m_knobs.size()));
    const std::uint64_t now = m_digits.digit(index, knob);
    std::uint64_t nearest = now;
    double least = 0;
    for (int i = 0; i < kDrawnChoices; ++i) {
        const std::uint64_t drawn = random.below(m_digits.choices(knob) - 1);
        const std::uint64_t other = drawn < now ? drawn : drawn + 1; // of those that it does not have
        const double far = distance(m_knobs[knob], now, other);
        if (nearest == now || far < least) {
            nearest = other;
            least = far;
        }
    }
    return m_digits.changed(index, knob, nearest);
}

} // namespace lathe::templates
