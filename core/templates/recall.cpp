#include "core/templates/recall.h"

#include "core/support/check.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace lathe::templates {

double averageRecall(std::span<const float> predicted, std::span<const float> labels, std::size_t n)
{
    LATHE_CHECK(predicted.size() == labels.size()) << predicted.size() << " predictions, " << labels.size();
    const std::size_t rows = labels.size();
    std::vector<std::size_t> byPrediction(rows);
    std::iota(byPrediction.begin(), byPrediction.end(), 0);
    std::stable_sort(byPrediction.begin(), byPrediction.end(),
                     [&](std::size_t a, std::size_t b) { return predicted[a] > predicted[b]; });
    // Ranks by label, given to places by prediction.
    std::vector<std::size_t> byLabel(rows);
    std::iota(byLabel.begin(), byLabel.end(), 0);
    std::stable_sort(byLabel.begin(), byLabel.end(),
                     [&](std::size_t a, std::size_t b) { return labels[byPrediction[a]] > labels[byPrediction[b]]; });
    std::vector<std::size_t> rankAt(rows);
    for (std::size_t rank = 0; rank < rows; ++rank)
        rankAt[byLabel[rank]] = rank;

    double sum = 0;
    std::size_t found = 0; // places before i whose rank is up to i
    for (std::size_t i = 0; i < std::min(n, rows); ++i) {
        if (i > 0 && rankAt[i - 1] <= i)
            ++found;
        if (i > 0 && byLabel[i] + 1 < i) // of rank i, and at a place that was looked at before
            ++found;
        sum += static_cast<double>(found) / static_cast<double>(i + 1);
    }
    return n == 0 ? 0 : sum / static_cast<double>(n);
}

} // namespace lathe::templates
