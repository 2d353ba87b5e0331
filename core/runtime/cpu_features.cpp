// x86-64: CPUID says what the processor has, and XGETBV which registers the operating system keeps when it changes
// between threads; wide registers that it does not keep cannot be used (Intel SDM volume 1, 13.2, 14.3, 15.2; volume 2,
// CPUID; AMD64 manual volume 3, appendix E). 64-bit Arm: the kernel says in the auxiliary vector what may be used
// (Documentation/arch/arm64/elf_hwcaps).

#include "core/runtime/cpu_features.h"

#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace lathe::runtime {

namespace {

/// What CPUID is asked, and in which register it answers.
enum Word : std::uint8_t
{
    Basic, ///< leaf 1, ECX
    ExtendedB, ///< leaf 7.0, EBX
    ExtendedC, ///< leaf 7.0, ECX
    ExtendedD, ///< leaf 7.0, EDX
    SecondA, ///< leaf 7.1, EAX
    SecondD, ///< leaf 7.1, EDX
    Amd, ///< leaf 80000001, ECX
    kWords
};

constexpr std::uint32_t kVector = 0x6; ///< XCR0: registers of 16 and of 32 bytes
constexpr std::uint32_t kWide = 0xe6; ///< those of 64 bytes, the upper sixteen, and masks

struct X86Feature
{
    const char* name;
    Word word;
    std::uint8_t bit;
    std::uint32_t kept; ///< bits of XCR0
};

constexpr X86Feature kX86[] = {
    {"sse3", Basic, 0, 0},
    {"ssse3", Basic, 9, 0},
    {"fma", Basic, 12, kVector},
    {"sse4.1", Basic, 19, 0},
    {"sse4.2", Basic, 20, 0},
    {"movbe", Basic, 22, 0},
    {"popcnt", Basic, 23, 0},
    {"avx", Basic, 28, kVector},
    {"f16c", Basic, 29, kVector},
    {"bmi", ExtendedB, 3, 0},
    {"avx2", ExtendedB, 5, kVector},
    {"bmi2", ExtendedB, 8, 0},
    {"avx512f", ExtendedB, 16, kWide},
    {"avx512dq", ExtendedB, 17, kWide},
    {"adx", ExtendedB, 19, 0},
    {"avx512ifma", ExtendedB, 21, kWide},
    {"avx512cd", ExtendedB, 28, kWide},
    {"avx512bw", ExtendedB, 30, kWide},
    {"avx512vl", ExtendedB, 31, kWide},
    {"avx512vbmi", ExtendedC, 1, kWide},
    {"avx512vbmi2", ExtendedC, 6, kWide},
    {"gfni", ExtendedC, 8, 0},
    {"avx512vnni", ExtendedC, 11, kWide},
    {"avx512bitalg", ExtendedC, 12, kWide},
    {"avx512vpopcntdq", ExtendedC, 14, kWide},
    {"avx512fp16", ExtendedD, 23, kWide},
    {"avxvnni", SecondA, 4, kVector},
    {"avx512bf16", SecondA, 5, kWide},
    {"avxifma", SecondA, 23, kVector},
    {"avxvnniint8", SecondD, 4, kVector},
    {"avxneconvert", SecondD, 5, kVector},
    {"avxvnniint16", SecondD, 10, kVector},
    {"lzcnt", Amd, 5, 0},
    {"sse4a", Amd, 6, 0},
    {"prfchw", Amd, 8, 0},
    {"xop", Amd, 11, kVector},
    {"fma4", Amd, 16, kVector},
    {"tbm", Amd, 21, 0},
};

struct ArmFeature
{
    const char* name;
    bool second; ///< in AT_HWCAP2
    std::uint32_t bits; ///< all of them
};

constexpr ArmFeature kArm[] = {
    {"lse", false, 1U << 8},      {"fullfp16", false, 3U << 9},   {"rdm", false, 1U << 12},
    {"jsconv", false, 1U << 13},  {"complxnum", false, 1U << 14}, {"rcpc", false, 1U << 15},
    {"dotprod", false, 1U << 20}, {"sve", false, 1U << 22},       {"fp16fml", false, 1U << 23},
    {"lse2", false, 1U << 25},    {"rcpc-immo", false, 1U << 26}, {"sve2", true, 1U << 1},
    {"fptoint", true, 1U << 8},   {"i8mm", true, 1U << 13},       {"bf16", true, 1U << 14},
};

#if defined(__x86_64__)
struct Processor
{
    std::atomic<std::uint32_t> words[kWords] = {};
    std::atomic<std::uint32_t> kept = 0; ///< low half of XCR0
    std::atomic<bool> isAsked = false;

    void ask()
    {
        std::uint32_t a = 0, b = 0, c = 0, d = 0;
        if (__get_cpuid(1, &a, &b, &c, &d) == 0)
            return;
        words[Basic] = c;
        constexpr std::uint32_t kXgetbv = 1U << 27;
        if ((c & kXgetbv) != 0) {
            std::uint32_t low = 0, high = 0;
            __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
            kept = low;
        }
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
            words[ExtendedB] = b;
            words[ExtendedC] = c;
            words[ExtendedD] = d;
            const std::uint32_t lastPart = a;
            if (lastPart >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
                words[SecondA] = a;
                words[SecondD] = d;
            }
        }
        if (__get_cpuid(0x80000001U, &a, &b, &c, &d) != 0)
            words[Amd] = c;
    }
};

/// What this processor says. It is asked once, since the question leaves a virtual machine; two threads that come first
/// both ask, and are told the same.
const Processor& thisProcessor()
{
    constinit static Processor processor;
    if (!processor.isAsked.load(std::memory_order_acquire)) {
        processor.ask();
        processor.isAsked.store(true, std::memory_order_release);
    }
    return processor;
}
#endif

} // namespace

bool processorHas([[maybe_unused]] const char* feature)
{
#if defined(__x86_64__)
    const Processor& processor = thisProcessor();
    for (const X86Feature& known : kX86)
        if (std::strcmp(known.name, feature) == 0)
            return (processor.words[known.word] >> known.bit & 1) != 0 && (processor.kept & known.kept) == known.kept;
#elif defined(__aarch64__)
    const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
    for (const ArmFeature& known : kArm)
        if (std::strcmp(known.name, feature) == 0)
            return ((known.second ? second : first) & known.bits) == known.bits;
#endif
    return false;
}

const char* checkedFeature(const char* machine, std::uint32_t index)
{
    if (std::strcmp(machine, "x86_64") == 0)
        return index < sizeof kX86 / sizeof kX86[0] ? kX86[index].name : nullptr;
    if (std::strcmp(machine, "aarch64") == 0)
        return index < sizeof kArm / sizeof kArm[0] ? kArm[index].name : nullptr;
    return nullptr;
}

} // namespace lathe::runtime
