#pragma once

/// The model description: what the executor runs, as one flat little-endian block that is read in place.
///
///     ImageHeader | tables, each aligned to 8 bytes: tensors, axes, instructions, arguments, inputs, outputs,
///     extents, strings, features
///
/// Written by core/deploy, read from a section of a deploy library; nothing in it is trusted. A library for several
/// kinds of processors has a description for each, its variants, one behind the other at multiples of 64 bytes.

#include "core/runtime/index_map.h"
#include "core/runtime/kernel_abi.h"

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

inline constexpr char kImageMagic[8] = {'L', 'A', 'T', 'H', 'E', 'M', 'D', 'L'};
inline constexpr std::uint32_t kImageVersion = 2;
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
};
static_assert(sizeof(ImageHeader) == 88 + 9 * 16);

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
    std::uint64_t offset; ///< Arena, Weights: bytes, 64-byte aligned; Input, Output: the port's index
    std::uint64_t bytes; ///< elementCount() * sizeOf(dtype)
    std::int32_t logicalRank;
    std::int32_t physicalRank;
    std::int64_t shape[kMaxRank]; ///< upper bounds
};
static_assert(sizeof(ImageTensor) == 40 + 64);

struct ImageAxis
{
    std::int64_t dim, div, extent, stride;
};

inline constexpr std::uint32_t kMostVariants = 16; ///< of one library

enum class InstructionKind : std::uint32_t
{
    Kernel = 0, ///< phases [firstPhase, +phaseCount) on its arguments
    Copy = 1, ///< arguments: source, destination, of equal bytes
    Transform = 2, ///< arguments: source, destination, of one dtype and logical shape: a layout change
    /// Argument: a condition. Of the instructions behind it the first `phaseCount` run if it is true, the `firstPhase`
    /// behind those if it is not.
    Branch = 3,
    /// Arguments: trips, condition, iteration. The `phaseCount` instructions behind it run again and again, until they
    /// have run `trips` times or the condition is false. The iteration is written: before each their number so far.
    Loop = 4,
    Row = 5, ///< arguments: source, iteration, destination, which is cut into rows of the source's size: one is written
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
    std::uint32_t reserved;
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

    const char* string(std::uint64_t offset) const { return strings + offset; }
    IndexMap map(const ImageTensor& tensor) const;
};

/// `description` must be 8-byte aligned and outlive the image. False with a reason if anything is off.
bool openImage(const std::byte* description, std::size_t bytes, Image& image, ErrorText& error);

/// Against accidents (FNV-1a of 64-bit words).
std::uint64_t imageChecksum(const std::byte* description, std::size_t bytes);

} // namespace lathe::runtime
