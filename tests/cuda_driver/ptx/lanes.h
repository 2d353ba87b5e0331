#pragma once

#include "tests/cuda_driver/ptx/decoder.h"

#include <cmath>
#include <limits>
#include <type_traits>

// What handlers of arithmetic are made of: a function of values, done for the lanes of a row.

// Of a loop over lanes, whose rounds do not depend on each other.
#if defined(__clang__)
#define LATHE_PTX_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LATHE_PTX_LANES _Pragma("GCC ivdep")
#endif

namespace lathe::ptx {

/// How a value of type T lies in a row.
template<typename T>
using SlotOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template<typename T>
inline T valueOf(SlotOf<T> slot)
{
    if constexpr (sizeof(T) == sizeof(slot))
        return std::bit_cast<T>(slot);
    else if constexpr (sizeof(T) == 2)
        return std::bit_cast<T>(static_cast<uint16_t>(slot));
    else
        return std::bit_cast<T>(static_cast<uint8_t>(slot));
}

template<typename T>
inline SlotOf<T> slotOf(T value)
{
    if constexpr (sizeof(T) == sizeof(SlotOf<T>))
        return std::bit_cast<SlotOf<T>>(value);
    else if constexpr (sizeof(T) == 2)
        return std::bit_cast<uint16_t>(value);
    else
        return std::bit_cast<uint8_t>(value);
}

/// f(lane) for these lanes; in full warps as a plain loop, which compilers make vectors of.
template<typename F>
inline void overLanes(LaneMask lanes, F&& f)
{
    if (lanes == kAllLanes) {
        LATHE_PTX_LANES
        for (unsigned lane = 0; lane < kLanes; ++lane)
            f(lane);
    } else {
        forEachLane(lanes, f);
    }
}

template<typename T, typename R, auto F>
void unary(Warp& warp, const Instruction& i, LaneMask lanes)
{
    auto* const d = warp.row<SlotOf<R>>(i.d);
    const auto* const a = warp.row<SlotOf<T>>(i.a);
    overLanes(lanes, [=](unsigned lane) { d[lane] = slotOf<R>(F(valueOf<T>(a[lane]))); });
}

template<typename T, typename R, auto F>
void binary(Warp& warp, const Instruction& i, LaneMask lanes)
{
    auto* const d = warp.row<SlotOf<R>>(i.d);
    const auto* const a = warp.row<SlotOf<T>>(i.a);
    const auto* const b = warp.row<SlotOf<T>>(i.b);
    overLanes(lanes, [=](unsigned lane) { d[lane] = slotOf<R>(F(valueOf<T>(a[lane]), valueOf<T>(b[lane]))); });
}

/// The third operand may be of another type: mad.wide.
template<typename T, typename C, typename R, auto F>
void ternary(Warp& warp, const Instruction& i, LaneMask lanes)
{
    auto* const d = warp.row<SlotOf<R>>(i.d);
    const auto* const a = warp.row<SlotOf<T>>(i.a);
    const auto* const b = warp.row<SlotOf<T>>(i.b);
    const auto* const c = warp.row<SlotOf<C>>(i.c);
    overLanes(lanes, [=](unsigned lane) {
        d[lane] = slotOf<R>(F(valueOf<T>(a[lane]), valueOf<T>(b[lane]), valueOf<C>(c[lane])));
    });
}

/// Runs `inner` with another rounding than to the nearest.
void roundedRun(Warp& warp, const Instruction& instruction, LaneMask lanes);
int roundingOf(Rounding rounding); // of <cfenv>

/// Emits an arithmetic instruction, with the rounding that it asks for.
void emitRounded(Decoding& decoding, Handler handler);

/// Sets d, and a, b, c as far as there are operands, all of one type.
void operandsOf(Decoding& decoding, Type result, Type type, size_t sources);

} // namespace lathe::ptx
