#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::session {

struct LoadedModel;

/// What the values of one constant are like. Minimum, maximum, mean, deviation and histogram are of its finite values;
/// they are NaN, and the histogram is empty, where it has none.
struct WeightStatistics
{
    static constexpr int kBins = 64;

    std::int64_t count = 0; ///< of all values
    std::int64_t zeros = 0; ///< of both signs
    std::int64_t nans = 0;
    std::int64_t infinities = 0; ///< of both signs
    double min = 0, max = 0, mean = 0;
    double deviation = 0; ///< of the population: sqrt(mean((x - mean)^2))
    /// kBins counts of equal width from min to max; the last holds max itself. A single one where min is max.
    std::vector<std::int64_t> histogram;
};

/// The constants of a network as it is compiled (after the passes), for people to look at: TensorView::constant names
/// them. Nothing is copied but what is asked for: constants in a file stay there. One that passes derive from such a
/// constant is made when it is looked at, and kept until another is.
///
/// Threads: any; values can be read while statistics are computed. Calls read the disk, so never the GUI thread.
///
/// Errors: BadFile (the model's file was cut short or written to), Cancelled, InvalidArgument (no such constant or
/// place), those of making a derived constant.
class Weights
{
public:
    explicit Weights(std::shared_ptr<const LoadedModel> model);

    /// `count` values from the one at `first` on, in row-major order, each as the shortest text that gives it back
    /// (halves: five digits).
    Result<std::vector<std::string>> texts(std::int32_t constant, std::int64_t first, std::int64_t count);
    /// Takes two passes over the values the first time, and is kept. 100 million floats take about a second.
    Result<std::shared_ptr<const WeightStatistics>> statistics(std::int32_t constant, std::stop_token stop);
    /// As NumPy's .npy; bfloat16, which NumPy has not, as uint16 with the same bits. The file takes its name only when
    /// it is whole. Errors: also InvalidArgument and StoreFailed of the file.
    Result<> save(std::int32_t constant, const std::filesystem::path& file);

private:
    struct Opened;
    Result<std::shared_ptr<const Opened>> open(std::int32_t constant);

    const std::shared_ptr<const LoadedModel> m_model;
    std::mutex m_mutex; ///< of what follows; not held while values are looked at
    std::shared_ptr<const Opened> m_opened; ///< the last one
    std::map<std::int32_t, std::shared_ptr<const WeightStatistics>> m_statistics;
};

} // namespace lathe::session
