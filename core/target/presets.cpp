// Hardware limits by target: the reference's presets (auto-scheduler.md 9.4) and, for CPUs, what can be known of a
// model by its name or of this machine by asking it.

#include "core/target/presets.h"

#include "core/target/detect.h"
#include "core/target/kinds.h"

#include <cstdint>
#include <string>

namespace lathe {
namespace {

constexpr std::int64_t kUnlimited = 2147483647;

struct GpuPreset
{
    std::string_view name;
    std::int64_t sharedBytes, localBytes, threads, vthreads, warp;
    std::int64_t shuffles; ///< lanes that exchange registers; 0: none, or the driver says which
};

constexpr GpuPreset kCuda{"cuda", 49152, kUnlimited, 1024, 8, 32, 32};
constexpr GpuPreset kMali{"mali", 32768, kUnlimited, 256, 1, 1, 0};
constexpr GpuPreset kAdreno{"adreno", 32768, 32768, 256, 1, 1, 0};
/// A device's own figures replace these as soon as one is opened (BackendTraits::takesDeviceFigures).
constexpr GpuPreset kOpencl{"opencl", 32768, kUnlimited, 256, 1, 1, 0};

Hardware gpu(const GpuPreset& preset)
{
    const std::string origin = "preset " + std::string(preset.name);
    Hardware hardware;
    const auto put = [&](const char* name, std::int64_t value) { hardware.limits[name] = {value, origin}; };
    put("num_cores", -1);
    put("vector_unit_bytes", 16);
    put("cache_line_bytes", 64);
    put("max_shared_memory_per_block", preset.sharedBytes);
    put("max_local_memory_per_block", preset.localBytes);
    put("max_threads_per_block", preset.threads);
    put("max_vthread_extent", preset.vthreads);
    put("warp_size", preset.warp);
    if (preset.shuffles > 0)
        put("shuffle_width", preset.shuffles);
    return hardware;
}

struct CpuPreset
{
    std::string_view prefix; ///< of -mcpu; the first that fits
    std::int64_t vectorBytes, registers, fmaPerCycle, l1d, l2, l3;
};

constexpr std::int64_t kPresetKiB = 1024, kMiB = 1024 * 1024;
constexpr CpuPreset kCpus[] = {
    {"znver4", 64, 32, 1, 32 * kPresetKiB, kMiB, 32 * kMiB},
    {"znver5", 64, 32, 2, 48 * kPresetKiB, kMiB, 32 * kMiB},
    {"znver", 32, 16, 2, 32 * kPresetKiB, 512 * kPresetKiB, 16 * kMiB},
    {"skylake-avx512", 64, 32, 2, 32 * kPresetKiB, kMiB, 24 * kMiB},
    {"cascadelake", 64, 32, 2, 32 * kPresetKiB, kMiB, 24 * kMiB},
    {"icelake-server", 64, 32, 2, 48 * kPresetKiB, 1280 * kPresetKiB, 48 * kMiB},
    {"sapphirerapids", 64, 32, 2, 48 * kPresetKiB, 2 * kMiB, 96 * kMiB},
    {"emeraldrapids", 64, 32, 2, 48 * kPresetKiB, 2 * kMiB, 160 * kMiB},
    {"graniterapids", 64, 32, 2, 48 * kPresetKiB, 2 * kMiB, 256 * kMiB},
    {"x86-64-v4", 64, 32, 1, 32 * kPresetKiB, kMiB, 16 * kMiB},
    {"x86-64-v3", 32, 16, 2, 32 * kPresetKiB, 256 * kPresetKiB, 8 * kMiB},
    {"x86-64", 16, 16, 1, 32 * kPresetKiB, 256 * kPresetKiB, 8 * kMiB},
    {"haswell", 32, 16, 2, 32 * kPresetKiB, 256 * kPresetKiB, 8 * kMiB},
    {"broadwell", 32, 16, 2, 32 * kPresetKiB, 256 * kPresetKiB, 8 * kMiB},
    {"skylake", 32, 16, 2, 32 * kPresetKiB, 256 * kPresetKiB, 8 * kMiB},
    {"alderlake", 32, 16, 2, 48 * kPresetKiB, 1280 * kPresetKiB, 24 * kMiB},
    {"neoverse", 16, 32, 2, 64 * kPresetKiB, kMiB, 32 * kMiB},
    {"apple-", 16, 32, 4, 128 * kPresetKiB, 12 * kMiB, 0},
    {"cortex-a7", 16, 32, 2, 32 * kPresetKiB, 512 * kPresetKiB, 2 * kMiB},
    {"cortex-a", 16, 32, 1, 32 * kPresetKiB, 256 * kPresetKiB, 0},
};

Hardware namedCpu(const std::string& name, const std::string& triple)
{
    CpuPreset preset{"", 16, 16, 1, 32 * kPresetKiB, 256 * kPresetKiB, 0};
    std::string origin = "preset cpu";
    if (triple.starts_with("aarch64"))
        preset.registers = 32;
    for (const CpuPreset& candidate : kCpus) {
        if (name.starts_with(candidate.prefix) && !name.empty()) {
            preset = candidate;
            origin = "preset " + std::string(candidate.prefix);
            break;
        }
    }
    Hardware hardware;
    const auto put = [&](const char* key, std::int64_t value) { hardware.limits[key] = {value, origin}; };
    put("vector_unit_bytes", preset.vectorBytes);
    put("vector_registers", preset.registers);
    put("fma_per_cycle", preset.fmaPerCycle);
    put("cache_line_bytes", 64);
    put("l1d_bytes", preset.l1d);
    put("l2_bytes", preset.l2);
    put("l3_bytes", preset.l3);
    return hardware;
}

} // namespace

bool hasMemoryOfBlocks(std::string_view family)
{
    return family != "mali";
}

Hardware gpuPresets(std::string_view name)
{
    for (const GpuPreset& preset : {kCuda, kMali, kAdreno})
        if (preset.name == name)
            return gpu(preset);
    return gpu(kOpencl);
}

Hardware cpuPresets(const Target& target)
{
    const std::string name = target.attribute("mcpu").value_or("native");
    const std::string triple = target.attribute("mtriple").value_or(target.attribute("host").value_or(""));
    Hardware hardware = name == "native" && triple.empty() ? detectHardware() : namedCpu(name, triple);
    const bool said = target.attribute("threads").has_value();
    hardware.limits["num_cores"] = {target.threads(), said ? "user" : "detected"};
    // The reference's figures of GPUs are zero for a CPU.
    for (const char* key : {"max_shared_memory_per_block", "max_local_memory_per_block", "max_threads_per_block",
                            "max_vthread_extent", "warp_size"})
        hardware.limits[key] = {0, "preset cpu"};
    return hardware;
}

Hardware defaultHardware(const Target& target)
{
    const TargetKindPtr kind = findTargetKind(target.kind());
    return kind && kind->presets ? kind->presets(target) : cpuPresets(target);
}

std::string referenceTargetText(const Target& target)
{
    return target.kind() == "cpu" ? "llvm -keys=cpu" : target.text();
}

std::string familyOfRecord(std::string_view target)
{
    if (const auto known = Target::parse(target))
        return known->family();
    const std::string_view kind = target.substr(0, target.find(' '));
    if (kind == "llvm" || kind == "c")
        return "cpu";
    return target.find("device=mali") != std::string_view::npos ? "mali" : "gpu";
}

namespace {

/// Of the reference's "-NAME=VALUE"; empty: there is none.
std::string_view referenceAttribute(std::string_view target, std::string_view start)
{
    const std::size_t at = target.find(start);
    if (at == std::string_view::npos)
        return {};
    const std::string_view value = target.substr(at + start.size());
    return value.substr(0, value.find(' '));
}

} // namespace

std::vector<std::string> referenceKeys(std::string_view target)
{
    std::vector<std::string> keys;
    if (const std::string_view list = referenceAttribute(target, "-keys="); !list.empty()) {
        for (std::size_t from = 0; from <= list.size();) {
            const std::size_t comma = std::min(list.find(',', from), list.size());
            if (comma > from)
                keys.emplace_back(list.substr(from, comma - from));
            from = comma + 1;
        }
        return keys;
    }
    if (const std::string_view device = referenceAttribute(target, "-device="); !device.empty())
        keys.emplace_back(device);
    const std::string_view kind = target.substr(0, target.find(' '));
    keys.emplace_back(kind == "llvm" || kind == "c" ? "cpu" : kind);
    if (kind == "cuda" || kind == "opencl" || kind == "vulkan" || kind == "rocm" || kind == "metal")
        keys.emplace_back("gpu");
    return keys;
}

std::string referenceModel(std::string_view target)
{
    const std::string_view model = referenceAttribute(target, "-model=");
    return model == "unknown" ? std::string() : std::string(model);
}

} // namespace lathe
