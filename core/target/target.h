#pragma once

#include "core/support/result.h"
#include "core/target/backend_traits.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe {

/// Limits that search and code generation must respect. An open map; each value says where it came from.
/// Names: num_cores, vector_unit_bytes, cache_line_bytes, max_shared_memory_per_block, max_local_memory_per_block,
/// max_threads_per_block, max_vthread_extent, warp_size (the reference's eight) and ours: l1d_bytes, l2_bytes,
/// l3_bytes, vector_registers, fma_per_cycle, simd_width (of a processor that runs launches: threads in a vector),
/// shuffle_width (threads whose numbers follow each other that exchange registers; none: they cannot) ...
struct Hardware
{
    struct Limit
    {
        std::int64_t value = 0;
        std::string origin; ///< "preset cuda", "detected", "file x.json", "user"
    };
    std::map<std::string, Limit, std::less<>> limits;

    std::int64_t get(std::string_view name, std::int64_t fallback = 0) const;
    /// The reference's eight in its record order (auto-scheduler.md 9.4).
    std::vector<std::int64_t> referenceEight() const;
    /// What an opened device tells of itself, in place of presets and beside them; what was detected, read from a file
    /// or set by a person stays.
    void takeDeviceFigures(const Hardware& device);
};

/// What code is generated for: kind and attributes, from text such as "cpu -mcpu=znver4 -threads=2",
/// "opencl -device=mali -host=aarch64-linux-gnu", "sim -like=cuda".
class Target
{
public:
    /// Errors: InvalidArgument names the word that is off. The kinds are those of targetKinds() (kinds.h).
    static Result<Target> parse(std::string_view text);

    const std::string& kind() const { return m_kind; }
    std::optional<std::string> attribute(std::string_view key) const;
    /// Canonical: kind, then attributes in alphabetical order. parse(text()) == *this.
    std::string text() const;
    /// What its back end says of it, as of when the text was read.
    const BackendTraits& traits() const;
    /// The family whose rules of the reference apply: "cpu", "gpu" (cuda, opencl, sim -like=cuda) or "mali".
    const std::string& family() const { return traits().family; }
    /// Of the processor: the attribute, else this machine's; 1 where a device beside it runs the kernels.
    unsigned threads() const;
    /// The family of the processor that runs the code, or that the device is beside, as triples name it: "aarch64".
    std::string machine() const;
    bool operator==(const Target& other) const { return m_kind == other.m_kind && m_attributes == other.m_attributes; }

private:
    std::string m_kind = "cpu";
    std::map<std::string, std::string, std::less<>> m_attributes;
    std::shared_ptr<const BackendTraits> m_traits; ///< null: of a plain "cpu"
};

/// The target that is used if none is named: this machine's processor.
inline constexpr const char* kDefaultTarget = "cpu";

/// "x86_64", "aarch64": what this program was built for.
std::string thisMachine();

/// What is known of a target's hardware before a device was opened (TargetKind::presets): presets of the reference for
/// its targets, for plain cpu what this machine tells.
Hardware defaultHardware(const Target& target);

} // namespace lathe
