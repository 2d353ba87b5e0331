#pragma once

#include "core/support/open_file.h"

#include <chrono>
#include <optional>
#include <string_view>

namespace lathe::serve {

/// Something that one process of this machine has at a time, under a name, as long as this lives; it ends with its
/// process, however that ends. (An abstract address of unix(7): there is no file that could be left over, or belong to
/// somebody else. A container with a network of its own has names of its own.)
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

/// One runner of this machine measures at a time: kernels that are timed on one machine at the same time disturb each
/// other, whatever devices they run on, as they share its memory, its processor's time and its heat.
class MeasuringTurn
{
public:
    /// False: another one measures, or is the next. Whoever asks again each kLook is the next himself, and so nobody
    /// who has one job after the other leaves the others without.
    bool tryTake();
    bool has() const { return m_measuring.has_value(); }
    void give();

    static constexpr std::chrono::milliseconds kLook{2};

private:
    std::optional<MachineLock> m_next, m_measuring;
};

} // namespace lathe::serve
