#pragma once

#include "core/support/open_file.h"

#include <chrono>
#include <optional>
#include <string_view>

namespace lathe::serve {

/// Something that one process of this machine has at a time, under a name, as long as this lives; it ends with its
/// process, however that ends. (An abstract address of unix(7): there is no file that could be left over, or belong to
/// somebody else.)
class MachineLock
{
public:
    /// Nothing: another process has it.
    static std::optional<MachineLock> tryTake(std::string_view name);

private:
    explicit MachineLock(OpenFile socket)
        : m_socket(std::move(socket))
    {
    }
    OpenFile m_socket;
};

/// Whoever measures has it meanwhile: kernels that are timed on one machine at the same time disturb each other,
/// whatever devices they run on, as they share its memory, its processor's time and its heat.
inline constexpr std::string_view kMeasuring = "lathe-measuring";
/// How often one who waits for it looks.
inline constexpr std::chrono::milliseconds kMeasuringLook{2};

} // namespace lathe::serve
