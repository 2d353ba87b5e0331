#pragma once

#include "core/backend/listing.h"
#include "core/ir/loop_nest.h"
#include "core/schedule/lower.h"
#include "core/support/result.h"
#include "core/target/target.h"
#include "core/wire/artifact.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lathe::backend {

/// What one launch of a kernel takes of a device, as its compiler has it; -1: it does not say.
struct LaunchFigures
{
    std::int64_t registers = -1; ///< of a thread, of 32 bits
    std::int64_t sharedBytes = -1; ///< of a block
    std::int64_t localBytes = -1; ///< of a thread: arrays that are no registers, and registers that found no room
    std::int64_t spilledBytes = -1; ///< written and read for want of registers, by all accesses in the code
};

/// Static facts of one emitted kernel, free of charge for pruning and for the window.
struct EmitInfo
{
    std::int64_t vectorSpills = 0; ///< stack references to vector registers in the emitted code
    std::int64_t codeBytes = 0;
    double emitMs = 0;
    std::vector<LaunchFigures> launches = {}; ///< in the order in which they run; empty: the back end has none
};

struct BuiltKernel
{
    Result<> status; ///< BuildFailed or Unsupported (by name of what the back end refuses), kernel by kernel
    EmitInfo info;
};

struct Artifact
{
    std::vector<std::byte> bytes;
    ArtifactDescriptor descriptor; ///< the kernels that were built, in order
    std::vector<BuiltKernel> kernels; ///< one per request
    double linkProcessorSeconds = 0;
};

/// Sections of a deploy library: named, aligned, read-only bytes.
struct BinarySection
{
    std::string symbol; ///< start; SYMBOL_end follows
    std::vector<std::byte> bytes;
    /// If not empty, the section is large and in this file instead, from kSectionFileStart to the end. The linking side
    /// turns the file into an object file by writing the rest around the section, so that gigabytes are copied only
    /// once: from there into the library.
    std::filesystem::path file;
    std::int64_t alignment = 64;
};
inline constexpr std::uint64_t kSectionFileStart = 4096;

struct LibraryRequest
{
    std::string name; ///< DT_SONAME: the file name under which programs find it
    std::vector<std::vector<std::byte>> objects; ///< from compileObject
    std::vector<BinarySection> sections;
    std::vector<std::filesystem::path> archives; ///< core/runtime for this triple, and drivers of devices
    std::vector<std::string> exports; ///< the only dynamic symbols
    std::filesystem::path output;
};

/// Codegen half of a back end: host-side C++ against the shared core, loaded by lathe-builder alone and only if the
/// build id is equal. One instance per thread; calls may abort the process (a compiler's bug), which is why it lives
/// there.
class Codegen
{
public:
    virtual ~Codegen() = default;
    /// Which device the code that is made from now on is to run on, as its device half describes it (JSON,
    /// DeviceIdentity::fingerprint); empty: none in particular. Where a back end's code is the same for all devices of
    /// the target: nothing.
    virtual void aimAt(const std::string& /*device*/) {}
    /// Several candidates in one artifact. The call fails only if nothing could be made at all.
    virtual Result<Artifact> build(std::span<const schedule::LoweredKernel> kernels) = 0;
    /// A text of one kernel, for people and tests; `name` is that of one of TargetKind::listings. It changes nothing of
    /// what build() makes. Errors: Unsupported (no such listing), those of making it.
    virtual Result<Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) = 0;
    /// The code of all kernels for deploy libraries. Kernels of phases: a relocatable object with the phases, symbols
    /// "<nest.name>_p<i>", for linkLibrary(). Kernels of launches: what the DeviceDriver of the kind
    /// (core/runtime/device_driver.h) takes as ContextRequest::code, where what several calls made stands one behind
    /// the other; its size is a multiple of 8 bytes, and it says which launches are in it. `infos` comes in as
    /// kernelInfo() has it for each; a back end that names launches otherwise puts their symbols there.
    virtual Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel> kernels,
                                                         std::span<KernelInfo> infos) = 0;
    virtual Result<> linkLibrary(const LibraryRequest& request) = 0;
    /// What a processor must have to run what is made here, as core/runtime/cpu_features.h names it: libraries check
    /// that when they are loaded. For back ends whose code runs on no such processor: nothing.
    virtual std::vector<std::string> features() const { return {}; }
};

/// What a codegen plugin exports:
///     extern "C" const lathe::backend::CodegenPlugin* lathe_codegen_create();
/// `buildId` must equal backend::buildId().
struct CodegenPlugin
{
    const char* buildId;
    const char* kind; ///< first word of the targets that it makes code for
    Result<std::unique_ptr<Codegen>> (*create)(const Target& target);
};
using CodegenPluginFn = const CodegenPlugin* (*)();
const char* buildId();

} // namespace lathe::backend
