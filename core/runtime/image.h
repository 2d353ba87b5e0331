#pragma once

/// The model description: what the executor runs, as one flat little-endian block that is read in place.
///
///     ImageHeader | tables, each aligned to 8 bytes: tensors, axes, instructions, arguments, inputs, outputs,
///     extents, strings, features, devices, launches, launch buffers
///
/// Every tensor is on a device, and every instruction runs on one. Device 0 is the processor, whose kernels are phases;
/// device d > 0 is entry d - 1 of the table of devices, whose kernels are launches. A kernel's arguments are all on its
/// own device; copies alone go from one to another, and all other instructions are the processor's.
///
/// Written by core/deploy, read from a section of a deploy library; nothing in it is trusted. A library for several
/// kinds of processors has a description for each, its variants, one behind the other at multiples of 64 bytes.

#include "core/runtime/index_map.h"
#include "core/runtime/kernel_abi.h"
#include "core/runtime/kernel_form.h"

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

inline constexpr char kImageMagic[8] = {'L', 'A', 'T', 'H', 'E', 'M', 'D', 'L'};
inline constexpr std::uint32_t kImageVersion = 3;
inline constexpr std::uint64_t kTensorAlignment = 64; ///< of every buffer that a kernel sees

struct ImageTable
{
    std::uint64_t offset; ///< from the start of the description, a multiple of 8
    std::uint64_t count; ///< records; bytes for strings
};

struct ImageHeader
{
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes;
    std::uint64_t totalBytes;
    std::uint64_t checksum; ///< imageChecksum() over the description with this field zero
    std::uint64_t arenaBytes;
    std::uint64_t weightsBytes;
    std::uint64_t teamScratchBytes; ///< largest of all kernels
    std::uint64_t partScratchBytes; ///< likewise; a multiple of 64
    std::uint64_t phaseCount; ///< length of the library's table of phases
    std::uint64_t name; ///< string: of the network
    std::uint64_t target; ///< string: what the kernels were made for, "cpu -mcpu=haswell"
    ImageTable tensors, axes, instructions, arguments, inputs, outputs, extents, strings;
    ImageTable features; ///< strings: what the processor must have for that, as processorHas() takes it
    ImageTable devices, launches, launchBuffers;
};
static_assert(sizeof(ImageHeader) == 88 + 12 * 16);

/// What runs a part of the network beside the processor, with memory of its own.
struct ImageDevice
{
    std::uint32_t target; ///< string: what its kernels were made for, "opencl -device=mali"
    std::uint32_t reserved;
    std::uint64_t arenaBytes; ///< activations in its memory
    std::uint64_t scratchBytes; ///< what the launches of one kernel hand over to each other, the most of all kernels
    std::uint64_t alignment; ///< of what lies in either: a power of two from 64 to kMostAlignment
};
static_assert(sizeof(ImageDevice) == 32);
inline constexpr std::uint64_t kMostAlignment = 4096;
inline constexpr std::uint32_t kMostDevices = 16; ///< beside the processor

/// One start of a grid of blocks of threads. The launches of a kernel run in order, each sees what those before wrote.
struct ImageLaunch
{
    std::uint32_t symbol; ///< string: of the function in the device's code
    std::uint32_t argumentCount; ///< of the kernel that it is part of
    std::uint32_t firstBuffer; ///< in the table of launch buffers: what the function's parameters point to, in order
    std::uint32_t bufferCount; ///< at most kMostLaunches
    std::uint32_t grid[3]; ///< blocks along x, y, z: 1 to kMostBlocks
    std::uint32_t block[3]; ///< threads of one along x, y, z: at least 1, at most kMostThreads together
    std::uint64_t sharedBytes; ///< of a block, declared by the function itself
};
static_assert(sizeof(ImageLaunch) == 48);

struct ImageLaunchBuffer
{
    std::uint64_t offset; ///< of scratch: in the device's; 0 of an argument
    std::uint64_t bytes; ///< likewise
    std::uint32_t argument; ///< of the kernel, from 0; kScratchBuffer: of its scratch
    std::uint32_t reserved;
};
static_assert(sizeof(ImageLaunchBuffer) == 24);
inline constexpr std::uint32_t kScratchBuffer = UINT32_MAX;

enum class Storage : std::uint32_t
{
    Arena = 0,
    Weights = 1,
    Input = 2, ///< bound by the caller; read only
    Output = 3
};

struct ImageTensor
{
    std::uint32_t name; ///< byte offset in strings
    std::uint32_t dtype;
    std::uint32_t storage;
    std::uint32_t firstAxis;
    /// Arena (of its device): bytes, a multiple of the device's alignment, of the processor 64; Weights: bytes in the
    /// section, a multiple of 64, wherever they are used; Input, Output: the port's index.
    std::uint64_t offset;
    std::uint64_t bytes; ///< elementCount() * sizeOf(dtype)
    std::int32_t logicalRank;
    std::int32_t physicalRank;
    std::int64_t shape[kMaxRank]; ///< upper bounds
    std::uint32_t device; ///< of Input and Output 0: what callers bind is the processor's
    /// Of the arena of another device, that shares the processor's memory: 1 + a tensor of Storage::Input or Output,
    /// with which it is copied as a whole and nothing else writes to either, so that it may lie where that one does.
    /// 0: none.
    std::uint32_t inPlaceOf;
};
static_assert(sizeof(ImageTensor) == 48 + 64);

struct ImageAxis
{
    std::int64_t dim, div, extent, stride;
};

inline constexpr std::uint32_t kMostVariants = 16; ///< of one library

enum class InstructionKind : std::uint32_t
{
    /// Phases [firstPhase, +phaseCount) on its arguments; on another device than the processor: launches of the table.
    Kernel = 0,
    /// Arguments: source, destination, of equal bytes; they may be on different devices.
    Copy = 1,
    /// Arguments: source, destination, of one dtype and logical shape: a layout change.
    Transform = 2,
    /// Argument: a condition. Of the instructions behind it the first `phaseCount` run if it is true, the `firstPhase`
    /// behind those if it is not.
    Branch = 3,
    /// Arguments: trips, condition, iteration. The `phaseCount` instructions behind it run again and again, until they
    /// have run `trips` times or the condition is false. The iteration is written: before each their number so far.
    Loop = 4,
    /// Arguments: source, iteration, destination, which is cut into rows of the source's size: one is written.
    Row = 5,
    /// Arguments: two tensors of the arena of equal bytes, which trade places, with all tensors in them. Others lie
    /// outside of both.
    Swap = 6
};
// Conditions are one Bool; trips and iterations one I64.

/// What reports call them, by number.
inline constexpr const char* kInstructionWords[] = {"kernel", "copy", "transform", "branch", "loop", "row", "swap"};

/// Branches and loops inside each other: more are refused.
inline constexpr std::uint32_t kDeepestControl = 64;

struct ImageInstruction
{
    std::uint32_t kind;
    std::uint32_t name;
    std::uint32_t firstArgument;
    std::uint32_t argumentCount;
    std::uint32_t outputCount; ///< the last arguments are written
    std::uint32_t firstPhase;
    std::uint32_t phaseCount;
    std::uint32_t device; ///< of kernels; 0 of all others
};
static_assert(sizeof(ImageInstruction) == 32);

struct ImagePort
{
    std::uint32_t tensor; ///< of Storage::Input or Output with this port's index; its map is plain
    std::uint32_t layout; ///< string: "NCHW" or ""
};

/// An extent of an output that depends on what a run computes; its tensor has the most that it can be.
struct ImageExtent
{
    std::uint32_t output; ///< port
    std::uint32_t axis;
    std::uint32_t count; ///< tensor of one I64, which no later instruction overwrites: the true extent
    std::uint32_t reserved;
};

/// A sentence about what went wrong.
struct ErrorText
{
    char text[512] = {};
    void set(const char* format, ...) __attribute__((format(printf, 2, 3)));
};

/// A description that was checked: every index, offset, size and map in it holds.
struct Image
{
    const ImageHeader* header = nullptr;
    const ImageTensor* tensors = nullptr;
    const ImageAxis* axes = nullptr;
    const ImageInstruction* instructions = nullptr;
    const std::uint32_t* arguments = nullptr; ///< tensors
    const ImagePort* inputs = nullptr;
    const ImagePort* outputs = nullptr;
    const ImageExtent* extents = nullptr;
    const char* strings = nullptr;
    const std::uint32_t* features = nullptr; ///< strings
    const ImageDevice* devices = nullptr; ///< from device 1 on
    const ImageLaunch* launches = nullptr;
    const ImageLaunchBuffer* launchBuffers = nullptr;

    const char* string(std::uint64_t offset) const { return strings + offset; }
    IndexMap map(const ImageTensor& tensor) const;
};

/// `description` must be 8-byte aligned and outlive the image. False with a reason if anything is off.
bool openImage(const std::byte* description, std::size_t bytes, Image& image, ErrorText& error);

/// Against accidents (FNV-1a of 64-bit words).
std::uint64_t imageChecksum(const std::byte* description, std::size_t bytes);

} // namespace lathe::runtime
