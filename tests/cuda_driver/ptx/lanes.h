#pragma once

#include "tests/cuda_driver/ptx/decoder.h"
#include "tests/cuda_driver/ptx/processor.h"

#include <cmath>
#include <limits>
#include <type_traits>

// What handlers of arithmetic are made of: a function of values, done for the lanes of a row.

namespace lathe::ptx {

/// How a value of type T lies in a row.
template<typename T>
using SlotOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template<typename T>
LATHE_PTX_INLINE T valueOf(SlotOf<T> slot)
{
    if constexpr (sizeof(T) == sizeof(slot))
        return std::bit_cast<T>(slot);
    else if constexpr (sizeof(T) == 2)
        return std::bit_cast<T>(static_cast<uint16_t>(slot));
    else
        return std::bit_cast<T>(static_cast<uint8_t>(slot));
}

template<typename T>
LATHE_PTX_INLINE SlotOf<T> slotOf(T value)
{
    if constexpr (sizeof(T) == sizeof(SlotOf<T>))
        return std::bit_cast<SlotOf<T>>(value);
    else if constexpr (sizeof(T) == 2)
        return std::bit_cast<uint16_t>(value);
    else
        return std::bit_cast<uint8_t>(value);
}

/// d[lane] = f(lane) for these lanes. Where all lanes of a warp are there it is a plain loop over 32, of which
/// compilers make vectors: lanes that do not exist have registers, too, which nobody reads. Where lanes have gone apart
/// f is computed for the others as well, unless these are few.
template<typename D, typename F>
LATHE_PTX_INLINE void assignLanes(const Warp& warp, LaneMask lanes, D* d, F&& f)
{
    constexpr unsigned kFew = 8;
    if (lanes == kAllLanes || lanes == warp.existing) {
        LATHE_PTX_LANES
        for (unsigned lane = 0; lane < kLanes; ++lane)
            d[lane] = f(lane);
    } else if (std::popcount(lanes) > static_cast<int>(kFew)) {
        LATHE_PTX_LANES
        for (unsigned lane = 0; lane < kLanes; ++lane)
            d[lane] = (lanes >> lane & 1) != 0 ? f(lane) : d[lane];
    } else {
        for (LaneMask left = lanes; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(left));
            d[lane] = f(lane);
        }
    }
}

/// The handler of a class with a function run(warp, instruction, lanes), which is to be LATHE_PTX_INLINE.
template<typename Work>
Handler handlerFor()
{
    return forThisProcessor<Work, void, Warp&, const Instruction&, LaneMask>();
}

template<typename T, typename R, auto F>
struct Unary
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const auto* const a = warp.row<SlotOf<T>>(i.a);
        assignLanes(warp, lanes, warp.row<SlotOf<R>>(i.d),
                    [=](unsigned lane) LATHE_PTX_LAMBDA { return slotOf<R>(F(valueOf<T>(a[lane]))); });
    }
};

template<typename T, typename R, auto F>
struct Binary
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const auto* const a = warp.row<SlotOf<T>>(i.a);
        const auto* const b = warp.row<SlotOf<T>>(i.b);
        assignLanes(warp, lanes, warp.row<SlotOf<R>>(i.d), [=](unsigned lane) LATHE_PTX_LAMBDA {
            return slotOf<R>(F(valueOf<T>(a[lane]), valueOf<T>(b[lane])));
        });
    }
};

template<typename T, typename C, typename R, auto F>
struct Ternary
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const auto* const a = warp.row<SlotOf<T>>(i.a);
        const auto* const b = warp.row<SlotOf<T>>(i.b);
        const auto* const c = warp.row<SlotOf<C>>(i.c);
        assignLanes(warp, lanes, warp.row<SlotOf<R>>(i.d), [=](unsigned lane) LATHE_PTX_LAMBDA {
            return slotOf<R>(F(valueOf<T>(a[lane]), valueOf<T>(b[lane]), valueOf<C>(c[lane])));
        });
    }
};

/// Handlers of a function of values F, from T to R.
template<typename T, typename R, auto F>
inline const Handler unary = handlerFor<Unary<T, R, F>>();
template<typename T, typename R, auto F>
inline const Handler binary = handlerFor<Binary<T, R, F>>();
/// The third operand may be of another type: mad.wide.
template<typename T, typename C, typename R, auto F>
inline const Handler ternary = handlerFor<Ternary<T, C, R, F>>();

/// Runs `inner` with another rounding than to the nearest.
void roundedRun(Warp& warp, const Instruction& instruction, LaneMask lanes);
int roundingOf(Rounding rounding); // of <cfenv>

/// Emits an arithmetic instruction, with the rounding that it asks for.
void emitRounded(Decoding& decoding, Handler handler);

/// Sets d, and a, b, c as far as there are operands, all of one type.
void operandsOf(Decoding& decoding, Type result, Type type, size_t sources);

} // namespace lathe::ptx
