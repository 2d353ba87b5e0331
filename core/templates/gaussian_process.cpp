#include "core/templates/gaussian_process.h"

#include "core/support/check.h"

#include <algorithm>
#include <cmath>

namespace lathe::templates {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr double kLeastLength = 0.05, kMostLength = 20;
constexpr double kLeastOwn = 1e-4, kMostOwn = 1;
/// What scales are before anything is known: a prior of logarithms.
constexpr double kUsualOwn = 0.02, kOwnSpread = 1.5;
constexpr double kLengthSpread = 1.2;
/// Of the inverse gamma prior of the variance: as if so many values had the variance 1.
constexpr double kPriorValues = 2;
/// Of what no distance explains, how much may make a configuration better than its neighbours; the rest is noise of
/// measuring. Of 0, 0.3 and 1 this one does well in small spaces and in huge ones.
constexpr double kOwnShare = 0.3;
constexpr double kFirstStep = 0.3, kLeastStep = 0.01, kMostStep = 0.8;

double matern(double scaledSquare)
{
    const double r = std::sqrt(5 * scaledSquare);
    return (1 + r + r * r / 3) * std::exp(-r);
}

/// Four sums at once, so that the processor need not wait for each addition.
double dot(const double* a, const double* b, std::size_t count)
{
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (std::size_t k = 0; k < 4; ++k)
            sums[k] += a[i + k] * b[i + k];
    double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; i < count; ++i)
        sum += a[i] * b[i];
    return sum;
}

/// The row of a factor (Cholesky's) that the row of a matrix makes, below the rows that are there.
void addFactorRow(Rows& factor, std::vector<double> row)
{
    const std::size_t n = factor.size();
    for (std::size_t j = 0; j < n; ++j)
        row[j] = (row[j] - dot(row.data(), factor[j].data(), j)) / factor[j][j];
    // What is equal to another place but for rounding: its variance is as good as none.
    row[n] = std::sqrt(std::max(row[n] - dot(row.data(), row.data(), n), 1e-10));
    factor.push_back(std::move(row));
}

double meanOf(std::span<const double> values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// How probable scales are, and which way they become more so. In logarithms of the lengths and, last, of `own`.
class Evidence
{
public:
    Evidence(const KnobCoordinates& coordinates, const Observations& observations)
        : m_groups(coordinates.groups())
        , m_count(observations.count())
        , m_usualLength(std::log(0.5 * std::sqrt(static_cast<double>(std::max<std::size_t>(m_groups, 1)))))
    {
        const double middle = meanOf(observations.values);
        for (const double value : observations.values)
            m_values.push_back(value - middle);
        const std::size_t dimensions = coordinates.dimensions();
        for (std::size_t i = 0; i < m_count; ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const std::size_t at = m_squares.size();
                m_squares.resize(at + m_groups);
                for (std::size_t d = 0; d < dimensions; ++d) {
                    const double difference = observations.places[i * dimensions + d]
                                              - observations.places[j * dimensions + d];
                    m_squares[at + coordinates.groupOf(d)] += difference * difference;
                }
            }
    }

    double usualLength() const { return m_usualLength; }

    std::vector<double> gradient(const std::vector<double>& logs) const;

private:
    std::size_t m_groups;
    std::size_t m_count;
    double m_usualLength; ///< its logarithm
    std::vector<double> m_values; ///< their mean is 0
    std::vector<double> m_squares; ///< of distances, by pair and group
};

std::vector<double> Evidence::gradient(const std::vector<double>& logs) const
{
    const std::size_t n = m_count;
    std::vector<double> inverseSquares(m_groups);
    for (std::size_t g = 0; g < m_groups; ++g)
        inverseSquares[g] = std::exp(-2 * logs[g]);
    const double own = std::exp(logs[m_groups]);

    Rows factor;
    std::vector<double> slopes; // of each pair: (1 + r) / 3 exp(-r) * 5, the kernel's by a square's logarithm
    slopes.reserve(n * n / 2);
    const double* squares = m_squares.data();
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> row(i + 1);
        for (std::size_t j = 0; j < i; ++j, squares += m_groups) {
            const double r = std::sqrt(5 * dot(squares, inverseSquares.data(), m_groups));
            const double fall = std::exp(-r);
            row[j] = (1 + r + r * r / 3) * fall;
            slopes.push_back((1 + r) * fall * (5.0 / 3));
        }
        row[i] = 1 + own;
        addFactorRow(factor, std::move(row));
    }
    // The inverse of the factor, by columns, and of the matrix.
    Rows inverse(n, std::vector<double>(n, 0.0));
    for (std::size_t j = 0; j < n; ++j) {
        inverse[j][j] = 1 / factor[j][j];
        for (std::size_t i = j + 1; i < n; ++i)
            inverse[j][i] = -dot(factor[i].data() + j, inverse[j].data() + j, i - j) / factor[i][i];
    }
    std::vector<double> weights(n); // inverse matrix times values
    {
        std::vector<double> half(n);
        for (std::size_t i = 0; i < n; ++i) {
            half[i] = 0;
            for (std::size_t j = 0; j <= i; ++j)
                half[i] += inverse[j][i] * m_values[j];
        }
        for (std::size_t j = 0; j < n; ++j)
            weights[j] = dot(inverse[j].data() + j, half.data() + j, n - j);
    }
    double product = kPriorValues;
    for (std::size_t i = 0; i < n; ++i)
        product += weights[i] * m_values[i];
    const double variance = product / (static_cast<double>(n) + kPriorValues);

    std::vector<double> gradient(m_groups + 1);
    squares = m_squares.data();
    std::size_t pair = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j, squares += m_groups, ++pair) {
            const double element = dot(inverse[i].data() + i, inverse[j].data() + i, n - i);
            const double slope = slopes[pair] * (weights[i] * weights[j] / variance - element);
            for (std::size_t g = 0; g < m_groups; ++g)
                gradient[g] += slope * squares[g] * inverseSquares[g];
        }
        const double element = dot(inverse[i].data() + i, inverse[i].data() + i, n - i);
        gradient[m_groups] += 0.5 * own * (weights[i] * weights[i] / variance - element);
    }
    for (std::size_t g = 0; g < m_groups; ++g)
        gradient[g] -= (logs[g] - m_usualLength) / (kLengthSpread * kLengthSpread);
    gradient[m_groups] -= (logs[m_groups] - std::log(kUsualOwn)) / (kOwnSpread * kOwnSpread);
    return gradient;
}

} // namespace

KernelScales fitScales(const KnobCoordinates& coordinates, const Observations& observations, KernelScales start,
                       int steps)
{
    const Evidence evidence(coordinates, observations);
    std::vector<double> logs(coordinates.groups() + 1, evidence.usualLength());
    logs.back() = std::log(kUsualOwn);
    if (start.lengths.size() == coordinates.groups() && !start.lengths.empty()) {
        for (std::size_t g = 0; g < start.lengths.size(); ++g)
            logs[g] = std::log(start.lengths[g]);
        logs.back() = std::log(start.own);
    }
    std::vector<double> widths(logs.size(), kFirstStep), before(logs.size(), 0.0);
    for (int step = 0; step < steps && observations.count() > 1; ++step) {
        std::vector<double> gradient = evidence.gradient(logs);
        for (std::size_t k = 0; k < logs.size(); ++k) {
            const double agreement = gradient[k] * before[k];
            if (agreement > 0)
                widths[k] = std::min(widths[k] * 1.2, kMostStep);
            else if (agreement < 0)
                widths[k] = std::max(widths[k] * 0.5, kLeastStep);
            if (agreement < 0)
                gradient[k] = 0; // it went too far: waits for a step
            const bool length = k + 1 < logs.size();
            if (gradient[k] != 0)
                logs[k] += gradient[k] > 0 ? widths[k] : -widths[k];
            logs[k] = std::clamp(logs[k], std::log(length ? kLeastLength : kLeastOwn),
                                 std::log(length ? kMostLength : kMostOwn));
            before[k] = gradient[k];
        }
    }
    KernelScales scales;
    for (std::size_t g = 0; g < coordinates.groups(); ++g)
        scales.lengths.push_back(std::exp(logs[g]));
    scales.own = std::exp(logs.back());
    return scales;
}

Expectations::Expectations(const KnobCoordinates& coordinates, const Observations& observations,
                           const KernelScales& scales)
    : m_dimensions(coordinates.dimensions())
    , m_own(scales.own)
    , m_middle(meanOf(observations.values))
    , m_known(observations.count())
{
    LATHE_CHECK(scales.lengths.size() == coordinates.groups()) << scales.lengths.size();
    for (std::size_t d = 0; d < m_dimensions; ++d)
        m_inverse.push_back(1 / scales.lengths[coordinates.groupOf(d)]);
    double product = kPriorValues;
    for (std::size_t i = 0; i < m_known; ++i) {
        scale(std::span(observations.places).subspan(i * m_dimensions, m_dimensions), m_places);
        std::vector<double> row(i + 1);
        for (std::size_t j = 0; j < i; ++j) {
            double square = 0;
            for (std::size_t d = 0; d < m_dimensions; ++d) {
                const double difference = m_places[i * m_dimensions + d] - m_places[j * m_dimensions + d];
                square += difference * difference;
            }
            row[j] = matern(square);
        }
        row[i] = 1 + m_own;
        addFactorRow(m_factor, std::move(row));
        const std::vector<double>& made = m_factor.back();
        m_solution.push_back((observations.values[i] - m_middle - dot(made.data(), m_solution.data(), i)) / made[i]);
        product += m_solution[i] * m_solution[i];
    }
    m_variance = product / (static_cast<double>(m_known) + kPriorValues);
}

void Expectations::scale(std::span<const double> place, std::vector<double>& out) const
{
    for (std::size_t d = 0; d < m_dimensions; ++d)
        out.push_back(place[d] * m_inverse[d]);
}

std::size_t Expectations::addCandidates(std::span<const double> places, std::size_t count)
{
    const std::size_t first = m_packs.size() * kPack;
    std::vector<double> scaled;
    for (std::size_t from = 0; from < count; from += kPack) {
        Pack& pack = m_packs.emplace_back(); // places of no candidate stay zeros, which nobody asks for
        pack.places.resize(m_dimensions * kPack);
        for (std::size_t lane = 0; lane < std::min(kPack, count - from); ++lane) {
            scaled.clear();
            scale(places.subspan((from + lane) * m_dimensions, m_dimensions), scaled);
            for (std::size_t d = 0; d < m_dimensions; ++d)
                pack.places[d * kPack + lane] = scaled[d];
        }
        pack.rows.reserve((m_factor.size() + 2 * kPack) * kPack);
        for (std::size_t row = 0; row < m_factor.size(); ++row)
            addRow(pack, row);
    }
    return first;
}

void Expectations::addRow(Pack& pack, std::size_t row) const
{
    double values[kPack] = {};
    for (std::size_t d = 0; d < m_dimensions; ++d) {
        const double place = m_places[row * m_dimensions + d];
        const double* candidates = pack.places.data() + d * kPack;
        for (std::size_t k = 0; k < kPack; ++k)
            values[k] += (candidates[k] - place) * (candidates[k] - place);
    }
    for (double& value : values)
        value = matern(value);
    const std::vector<double>& factor = m_factor[row];
    const double* above = pack.rows.data();
    for (std::size_t j = 0; j < row; ++j, above += kPack) {
        const double weight = factor[j];
        for (std::size_t k = 0; k < kPack; ++k)
            values[k] -= weight * above[k];
    }
    for (std::size_t k = 0; k < kPack; ++k) {
        values[k] /= factor[row];
        pack.means[k] += values[k] * m_solution[row];
        pack.explained[k] += values[k] * values[k];
    }
    pack.rows.insert(pack.rows.end(), values, values + kPack);
}

double Expectations::mean(std::size_t candidate) const
{
    return m_middle + m_packs[candidate / kPack].means[candidate % kPack];
}

double Expectations::deviation(std::size_t candidate) const
{
    const double explained = m_packs[candidate / kPack].explained[candidate % kPack];
    return std::sqrt(m_variance * std::max(1 + kOwnShare * m_own - explained, 1e-9));
}

void Expectations::assume(std::size_t candidate)
{
    const Pack& pack = m_packs[candidate / kPack];
    const std::size_t lane = candidate % kPack;
    std::vector<double> row(m_factor.size() + 1);
    for (std::size_t j = 0; j < m_factor.size(); ++j)
        row[j] = pack.rows[j * kPack + lane];
    row.back() = std::sqrt(std::max(1 + m_own - pack.explained[lane], 1e-10));
    for (std::size_t d = 0; d < m_dimensions; ++d)
        m_places.push_back(pack.places[d * kPack + lane]);
    m_factor.push_back(std::move(row));
    m_solution.push_back(0); // the mean is what it says
    for (Pack& each : m_packs)
        addRow(each, m_factor.size() - 1);
}

} // namespace lathe::templates
