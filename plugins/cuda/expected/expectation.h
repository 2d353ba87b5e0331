#pragma once

#include "core/backend/c_source.h"
#include "plugins/cuda/model/analytic_model.h"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace lathe::cuda {

/// How often the loops of a launch run, as far as the machine code may not tell.
struct LoopExtents
{
    std::vector<std::uint64_t> open; ///< at most: of loops whose extents are no constants, as they stand
    std::uint64_t most = 0; ///< the largest of all; 0: there is no loop
};
LoopExtents extentsOf(const ir::Launch& launch);
/// Extents for the `unknown` loops of which the machine code does not tell how often they run. Where there are as many
/// as the launch has with an open extent, they are these; else the compiler has divided some of them, or lost sight of
/// a counter: then each is taken to run as often as any loop of the launch, so that nothing seems faster than it is.
std::vector<std::uint64_t> guessed(const LoopExtents& known, std::size_t unknown);

/// A launch that somebody wants to know about.
struct LaunchQuestion
{
    const backend::SourceLaunch* launch = nullptr;
    const std::string* head = nullptr; ///< KernelSource::head
    double footprintBytes = 0; ///< of all that its parameters point to
    LoopExtents extents;
};

/// What the model says of one launch.
struct Expectation
{
    KernelReading reading;
    LaunchTime time; ///< at the boost clock, as networks of single images run
    std::int64_t instructions = 0;
    std::size_t guessedLoops =
        0; ///< of which the code does not tell how often they run: taken to run as often as may be
};

/// The questions that a kernel's launches ask. `source` is what was printed of `nest`; both must outlive them.
std::vector<LaunchQuestion> questionsOf(const ir::LoopNest& nest, const backend::KernelSource& source);

/// Makes machine code of launches for a GPU that is not there, reads it back, and asks the model. What was asked once
/// is known. One thread at a time.
class Expectations
{
public:
    explicit Expectations(const GpuFacts& gpu)
        : m_gpu(gpu)
    {
    }

    /// An answer to each question, in order. Launches that are new are compiled and disassembled together, since either
    /// tool takes longer to start than for one of them; where that fails, one by one. Errors: those of Nvrtc and of
    /// nvdisasm.h, of readSass(), readKernel() and launchTimeOf(); Unsupported for code with loops of a launch that
    /// has none.
    std::vector<Result<Expectation>> ask(std::span<const LaunchQuestion> questions);

    /// The machine code of a program of CUDA C++, as nvdisasm writes it. Errors: as above.
    Result<std::string> disassembly(const std::string& source) const;

    const GpuFacts& gpu() const { return m_gpu; }

private:
    void make(std::span<const LaunchQuestion* const> questions);
    Result<Expectation> read(const SassModule& module, const LaunchQuestion& question) const;

    const GpuFacts& m_gpu;
    std::unordered_map<std::string, Result<Expectation>> m_known;
};

/// Seconds of a kernel of these launches, one after another as a graph starts them: with the gap that each has.
double secondsOf(std::span<const Expectation> launches, const GpuFacts& gpu);

/// For people: a launch a paragraph, with the figures that the model goes by.
std::string toText(const backend::KernelSource& source, std::span<const Expectation> launches, const GpuFacts& gpu);

} // namespace lathe::cuda
