#pragma once

#include <cstddef>
#include <span>

namespace lathe::templates {

/// How well predictions find the best, as XGBoost's rounds are judged (autotvm.md 7.2, a-recall@N): the mean over
/// i < n of r(i), which is how many of the first i rows by prediction have a true rank up to i, from 0, divided by
/// i + 1. As the reference has it: r(0) is always 0, so that even what predicts all stays below 1, and where there are
/// fewer than n rows the missing ones count as 0. Of equal predictions and equal labels the one that stands first ranks
/// first.
///
/// @param predicted, labels  of the same length; more is better
double averageRecall(std::span<const float> predicted, std::span<const float> labels, std::size_t n);

} // namespace lathe::templates
