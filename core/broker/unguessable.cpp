#include "core/broker/unguessable.h"

#include <cstdint>
#include <random>

namespace lathe::broker {

Hash128 unguessable()
{
    std::random_device random; // the system's
    const auto half = [&] { return std::uint64_t(random()) << 32 | random(); };
    return {half(), half()};
}

} // namespace lathe::broker
