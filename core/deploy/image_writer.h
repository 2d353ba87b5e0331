#pragma once

#include "core/runtime/image.h"
#include "core/wire/artifact.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::deploy {

/// Builds the model description that core/runtime/image.h defines. Adds nothing of its own and checks nothing:
/// runtime::openImage() is the judge of the result.
class ImageWriter
{
public:
    explicit ImageWriter(std::string_view networkName);

    struct Tensor
    {
        std::string name;
        DType dtype = DType::F32;
        runtime::Storage storage = runtime::Storage::Arena;
        std::uint64_t offset = 0; ///< bytes in arena or weights; the port's index of inputs and outputs
        IndexMap map;
        std::uint32_t device = 0; ///< 0: the processor; else as addDevice() said
        std::uint32_t inPlaceOf = 0; ///< runtime::ImageTensor::inPlaceOf
    };
    std::uint32_t addTensor(const Tensor& tensor); ///< returns its index
    /// Phases are taken from the library's table in the order of the calls unless firstPhase says otherwise.
    void addKernel(std::string_view name, std::span<const std::uint32_t> arguments, std::uint32_t outputCount,
                   std::uint32_t firstPhase, std::uint32_t phaseCount);
    /// Beside the processor. The largest scratch of its kernels is found here. Returns its number, from 1.
    std::uint32_t addDevice(std::string_view target, std::uint64_t arenaBytes, std::uint64_t alignment);
    /// A kernel that runs on a device of launches; it is written once however many instructions run it, if they give
    /// the number that the first call returned.
    struct Launches
    {
        std::uint32_t first = 0, count = 0;
    };
    Launches addLaunches(std::uint32_t device, const KernelInfo& kernel);
    void addDeviceKernel(std::string_view name, std::uint32_t device, std::span<const std::uint32_t> arguments,
                         std::uint32_t outputCount, Launches launches);
    void addCopy(std::string_view name, std::uint32_t from, std::uint32_t to);
    void addTransform(std::string_view name, std::uint32_t from, std::uint32_t to);
    /// Of the instructions that are added next, the first `whenTrue` and the `whenFalse` behind them.
    void addBranch(std::string_view name, std::uint32_t condition, std::uint32_t whenTrue, std::uint32_t whenFalse);
    /// The `body` instructions that are added next.
    void addLoop(std::string_view name, std::uint32_t trips, std::uint32_t condition, std::uint32_t iteration,
                 std::uint32_t body);
    void addRow(std::string_view name, std::uint32_t from, std::uint32_t iteration, std::uint32_t to);
    void addSwap(std::string_view name, std::uint32_t one, std::uint32_t other);
    /// What the kernels were made for, and what a processor must have for them.
    void setTarget(std::string_view target, std::span<const std::string> features);
    void addInput(std::uint32_t tensor, std::string_view layout);
    void addOutput(std::uint32_t tensor, std::string_view layout);
    void addExtent(std::uint32_t output, std::uint32_t axis, std::uint32_t count); ///< `count` is a tensor

    struct Sizes
    {
        std::uint64_t arena = 0;
        std::uint64_t weights = 0;
        std::uint64_t teamScratch = 0;
        std::uint64_t partScratch = 0; ///< rounded up to 64
        std::uint64_t phases = 0;
    };
    std::vector<std::byte> finish(const Sizes& sizes) const;

private:
    std::uint32_t addString(std::string_view text);
    void addInstruction(runtime::InstructionKind kind, std::string_view name, std::span<const std::uint32_t> arguments,
                        std::uint32_t outputCount, std::uint32_t firstPhase, std::uint32_t phaseCount,
                        std::uint32_t device = 0);

    std::vector<runtime::ImageTensor> m_tensors;
    std::vector<runtime::ImageAxis> m_axes;
    std::vector<runtime::ImageInstruction> m_instructions;
    std::vector<std::uint32_t> m_arguments;
    std::vector<runtime::ImagePort> m_inputs, m_outputs;
    std::vector<runtime::ImageExtent> m_extents;
    std::string m_strings;
    std::vector<std::uint32_t> m_features;
    std::vector<runtime::ImageDevice> m_devices;
    std::vector<runtime::ImageLaunch> m_launches;
    std::vector<runtime::ImageLaunchBuffer> m_launchBuffers;
    std::uint32_t m_name = 0, m_target = 0;
};

/// Writes the checksum into a finished description (again, after a change).
void sealImage(std::span<std::byte> description);

} // namespace lathe::deploy
