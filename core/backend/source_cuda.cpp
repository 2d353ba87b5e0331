#include "core/backend/source_functions.h"
#include "core/backend/source_language.h"

#include <fmt/format.h>

namespace lathe::backend {

namespace {

constexpr std::string_view kWords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do dynamic_cast else enum explicit export extern false final for friend goto if inline long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq override private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq copy_async_4 copy_async_8 copy_async_16 copy_async_or_zero_4 copy_async_or_zero_8 "
    "copy_async_or_zero_16 commit_copies wait_for_copies threadIdx blockIdx blockDim gridDim "
    "warpSize dim3 min max isnan exp fabs linux unix NULL assert";

constexpr SourceFunction kFunctions[] = {{"exp", "expf", "exp"},
                                         {"exp2", "exp2f", "exp2"},
                                         {"log", "logf", "log"},
                                         {"log2", "log2f", "log2"},
                                         {"sqrt", "sqrtf", "sqrt"},
                                         {"rsqrt", "__frsqrt_rn", "rsqrt"},
                                         {"expm1", "expm1f", "expm1"},
                                         {"log1p", "log1pf", "log1p"},
                                         {"tanh", "tanhf", "tanh"},
                                         {"erf", "erff", "erf"},
                                         {"sin", "sinf", "sin"},
                                         {"cos", "cosf", "cos"},
                                         {"tan", "tanf", "tan"},
                                         {"atan", "atanf", "atan"},
                                         {"floor", "floorf", "floor"},
                                         {"ceil", "ceilf", "ceil"},
                                         {"trunc", "truncf", "trunc"},
                                         {"round", "rintf", "rint"},
                                         {"abs", "fabsf", "fabs"},
                                         {"fabs", "fabsf", "fabs"},
                                         {"pow", "powf", "pow"},
                                         {"fmod", "fmodf", "fmod"},
                                         {"fma", "fmaf", "fma"},
                                         {"sigmoid", "sigmoid_TYPE", "sigmoid_TYPE"},
                                         {"product", "__fmul_rn", "__dmul_rn"}};

constexpr SourceHelper kHelpers[] = {
    // Both conditions are asked: the compiler makes a branch of a second that depends on the first.
    {"min_TYPE", "TYPE min_TYPE(TYPE a, TYPE b) { return (a < b) | (a != a) ? a : b; } // not-a-number stays\n"},
    {"max_TYPE", "TYPE max_TYPE(TYPE a, TYPE b) { return (a > b) | (a != a) ? a : b; }\n"},
    // The language's own is undefined for the lowest number, which wraps around.
    {"absolute_TYPE", "TYPE absolute_TYPE(TYPE x) { return x < 0 ? (TYPE)(0 - (WIDE)x) : x; }\n"},
    // By its bits: as a number it would go through float and back.
    {"shuffle_TYPE", "TYPE shuffle_TYPE(unsigned int lanes, TYPE x, int distance)\n"
                     "{\n"
                     "    x.bits = (unsigned short)__shfl_xor_sync(lanes, (int)x.bits, distance);\n"
                     "    return x;\n"
                     "}\n"}};

/// A type of 16 bits that is computed with in float, each result rounded: as hardware does it, for devices and headers
/// that have it or not. {0}: its name, {1}: the bits of a float x, {2}: the bits of a double x, {3}: the float of bits.
constexpr std::string_view kNarrowFloat = R"(struct {0}
{{
    unsigned short bits;
    {0}() = default;
    template<typename T> __device__ explicit {0}(T x) : {0}((float)x) {{}}
    __device__ explicit {0}(float x)
    {{
        {1}
    }}
    __device__ explicit {0}(double x)
    {{
        {2}
    }}
    __device__ operator float() const
    {{
        {3}
    }}
}};
__device__ inline {0} operator+({0} a, {0} b) {{ return {0}((float)a + (float)b); }}
__device__ inline {0} operator-({0} a, {0} b) {{ return {0}((float)a - (float)b); }}
__device__ inline {0} operator*({0} a, {0} b) {{ return {0}((float)a * (float)b); }}
__device__ inline {0} operator/({0} a, {0} b) {{ return {0}((float)a / (float)b); }}
)";

std::string float16()
{
    return fmt::format(kNarrowFloat, "float16", R"(asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));)",
                       R"(asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));)", R"(float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;)");
}

/// The upper half of a float. To nearest, halves to even: half of the last bit that is kept is added, and that bit; a
/// NaN keeps its upper bits, made quiet. Devices have an instruction for it from compute capability 8.0 on.
std::string bfloat16()
{
    return fmt::format(kNarrowFloat, "bfloat16", R"(const unsigned int wide = __float_as_uint(x);
        bits = x != x ? wide >> 16 | 0x40 : (wide + 0x7fff + (wide >> 16 & 1)) >> 16;)",
                       "*this = bfloat16((float)x);", "return __uint_as_float((unsigned int)bits << 16);");
}

/// The device's conversions give the ends of the type for what lies beyond them, of 32 and 64 bits. What they give for
/// not-a-number depends on the types.
std::string toInteger(DType from, DType to, const std::string& name)
{
    const SourceLanguage& language = cudaLanguage();
    const std::int64_t bits = 8 * sizeOf(to);
    const char* const target = bits == 64 ? (isSigned(to) ? "ll" : "ull") : (isSigned(to) ? "int" : "uint");
    std::string value = fmt::format("__{}2{}_rz(x)", from == DType::F64 ? "double" : "float", target);
    if (bits < 32 && isSigned(to))
        value = fmt::format("min(max({}, {}), {})", value, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);
    else if (bits < 32)
        value = fmt::format("min({}, {}u)", value, (1 << bits) - 1);
    return fmt::format("__device__ inline {0} {1}({2} x) {{ return x == x ? ({0}){3} : ({0})0; }}\n",
                       language.typeName(to), name, language.typeName(from), value);
}

/// Copies of so many bytes. Devices before compute capability 8.0 have none: their threads copy at once.
/// @param cache  "cg": past the level-1 cache, which copies of 16 bytes can go
/// @param type  of so many bytes
std::string copyHelper(int bytes, std::string_view cache, std::string_view type)
{
    return fmt::format(R"(__device__ inline void copy_async_{0}(void *to, const void *from)
{{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.{1}.shared.global [%0], [%1], {0};" : : "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#else
    *({2}*)to = *(const {2}*)from;
#endif
}}
)",
                       bytes, cache, type);
}

/// The same, or zeros alone: of no bytes that are read, whose address may be anywhere.
std::string copyOrZeroHelper(int bytes, std::string_view cache, std::string_view type, std::string_view zero)
{
    return fmt::format(R"(__device__ inline void copy_async_or_zero_{0}(void *to, const void *from, bool is)
{{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.{1}.shared.global [%0], [%1], {0}, %2;" : : "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(from), "r"(is ? {0} : 0) : "memory");
#else
    *({2}*)to = is ? *(const {2}*)from : {3};
#endif
}}
)",
                       bytes, cache, type, zero);
}

/// What waits keeps later loads behind it.
constexpr const char* kWaitHelpers = R"(__device__ inline void commit_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}
template<int groups> __device__ inline void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory");
#endif
}
)";

} // namespace

const SourceLanguage& cudaLanguage()
{
    static const std::array<std::string, 7> kCopyHelpers = {
        copyHelper(4, "ca", "unsigned int"),
        copyHelper(8, "ca", "uint2"),
        copyHelper(16, "cg", "uint4"),
        copyOrZeroHelper(4, "ca", "unsigned int", "0"),
        copyOrZeroHelper(8, "ca", "uint2", "make_uint2(0, 0)"),
        copyOrZeroHelper(16, "cg", "uint4", "make_uint4(0, 0, 0, 0)"),
        kWaitHelpers,
    };
    static const SourceLanguage kLanguage = {
        .name = "CUDA C++",
        .types = {{{"uint8", "typedef unsigned char uint8;\n"},
                   {"int8", "typedef signed char int8;\n"},
                   {"uint8", "typedef unsigned char uint8;\n"},
                   {"int16", "typedef short int16;\n"},
                   {"uint16", "typedef unsigned short uint16;\n"},
                   {"int", ""},
                   {"uint", "typedef unsigned int uint;\n"},
                   {"int64", "typedef long long int64;\n"},
                   {"uint64", "typedef unsigned long long uint64;\n"},
                   {"float16", float16()},
                   {"bfloat16", bfloat16()},
                   {"float", ""},
                   {"double", ""}}},
        .words = kWords,
        .functions = kFunctions,
        .helpers = kHelpers,
        .helperPrefix = "__device__ inline ",
        .kernel = "extern \"C\" __global__ void __launch_bounds__({3})\n",
        .globalPointer = "",
        .sharedPointer = "",
        .restrict = "__restrict__",
        .sharedArray = "__shared__ ",
        .alignedBefore = "__align__(16) ",
        .alignedAfter = "",
        .blockIndex = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
        .threadIndex = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
        .barrier = "__syncthreads();",
        .shuffleDeclaration = "",
        .shuffle = "__shfl_xor_sync({1}, {0}, {2})",
        .shuffleNarrow = "shuffle_TYPE",
        .warp = 32,
        .requiredWarp = "",
        .warpIndex = "",
        .laneIndex = "",
        .laneCount = "",
        .mostSharedBytes = 48 * 1024,
        .unsizedShared = "extern __shared__ __align__(16) unsigned char {0}[];",
        .loadsTogether = true,
        .joinsStatements = true,
        // The compiler knows that blocks' and threads' numbers are not negative, but not that their sums are.
        .quotientOfSum = "(unsigned({0}) {1} {2})",
        .unrollsLoops = true,
        .countsRemainders = true,
        .suffixOfI64 = "ll",
        .suffixOfU64 = "ull",
        .lowestI32 = "(-2147483647 - 1)",
        .lowestI64 = "(-9223372036854775807ll - 1)",
        .notANumber = {"__int_as_float(0x7fc00000)", "__longlong_as_double(0x7ff8000000000000ll)"},
        .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000ll)"},
        .hasNarrowFloats = false,
        .toInteger = &toInteger,
        .absoluteInteger = "absolute_TYPE",
        .computesVectors = false,
        .vectorOf = "make_{0}({1})",
        .spread = "spread_{0}({1})",
        .loadVector = "load_{0}({2})",
        .storeVector = "store_{0}({3}, {2});",
        .lanes = {".x", ".y", ".z", ".w"},
        .wrongOfVectors = {},
        .copy = "copy_async_{0}({1}, {2});",
        .copyOrZero = "copy_async_or_zero_{0}({1}, {2}, {3});",
        .commitCopies = "commit_copies();",
        .waitForCopies = "wait_for_copies<{0}>();",
        .copyHelpers = kCopyHelpers,
    };
    return kLanguage;
}

} // namespace lathe::backend
