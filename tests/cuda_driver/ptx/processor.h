#pragma once

// Loops over lanes are compiled for several generations of x86-64 and the best one is chosen when the program starts:
// plain, with AVX2 and FMA, with AVX-512. What they give is the same to the bit: nothing is fused that is not written
// as a fused product.

/// Of a loop whose rounds do not depend on each other.
#if defined(__clang__)
#define LATHE_PTX_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LATHE_PTX_LANES _Pragma("GCC ivdep")
#endif

#define LATHE_PTX_INLINE inline __attribute__((always_inline))
/// Of a lambda within such a function.
#define LATHE_PTX_LAMBDA __attribute__((always_inline))

#if defined(__x86_64__)
#define LATHE_PTX_WITH_AVX2 __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#define LATHE_PTX_WITH_AVX512                                                                                          \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#endif

namespace lathe::ptx {

enum class Generation
{
    Plain,
    Avx2,
    Avx512,
};

/// LATHE_PTX_GENERATION (0, 1, 2) asks for an older one than the processor's: for tests.
Generation thisProcessor();

namespace generations {

template<typename Work, typename Result, typename... A>
Result plain(A... a)
{
    return Work::run(a...);
}
#if defined(__x86_64__)
template<typename Work, typename Result, typename... A>
LATHE_PTX_WITH_AVX2 Result avx2(A... a)
{
    return Work::run(a...);
}
template<typename Work, typename Result, typename... A>
LATHE_PTX_WITH_AVX512 Result avx512(A... a)
{
    return Work::run(a...);
}
#endif

} // namespace generations

/// Work::run(A...), which is to be LATHE_PTX_INLINE, compiled for this processor.
template<typename Work, typename Result, typename... A>
Result (*forThisProcessor())(A...)
{
#if defined(__x86_64__)
    if (thisProcessor() == Generation::Avx512)
        return generations::avx512<Work, Result, A...>;
    if (thisProcessor() == Generation::Avx2)
        return generations::avx2<Work, Result, A...>;
#endif
    return generations::plain<Work, Result, A...>;
}

} // namespace lathe::ptx
