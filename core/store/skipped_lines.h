#pragma once

#include "core/support/message.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::store {

/// Lines of logs that were not taken, for one reason.
struct SkippedLines
{
    std::string reason;
    About about = {}; ///< the reason
    std::int64_t count = 0;
    std::string file; ///< of the first of them
    std::int64_t line = 0;
};

/// Counts lines by the reason why they are not taken. Reasons may quote the lines, so there may be as many as lines:
/// beyond kMostReasons they are counted as others.
class SkippedCounts
{
public:
    static constexpr std::size_t kMostReasons = 100;

    void add(const Message& why, std::string_view file, std::int64_t line);
    /// The most frequent first.
    std::vector<SkippedLines> take();

private:
    std::vector<SkippedLines> m_all;
};

} // namespace lathe::store
