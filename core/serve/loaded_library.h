#pragma once

#include "core/runtime/clock.h"
#include "core/runtime/dtype.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace lathe::serve {

/// A tensor of an exported network: dense and row-major.
struct LibraryPort
{
    std::string name;
    std::string layout;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape; ///< the most that it can be
    std::vector<std::int32_t> dynamicAxes; ///< of an output: dimensions whose extent depends on data; ascending

    std::size_t bytes() const;
};

/// Code for one kind of processor in a library.
struct LibraryVariant
{
    std::string target; ///< text
    bool runsHere = false;
};

/// One instruction, timed behind the one before it.
struct ChainRow
{
    std::string name;
    std::string kind; ///< "kernel", "copy", "transform"
    std::vector<double> ms; ///< one per sweep
};

/// An exported network, loaded into this process, with one instance of it. What is in the library runs here: of our
/// programs lathe-runner alone does that. Threads: one at a time.
class LoadedLibrary
{
public:
    struct Options
    {
        unsigned threads = 0; ///< 0: all processors
        bool mapWeights = false; ///< no copy into 2 MiB pages
        std::string variant = {}; ///< the target text of one; empty: the best that this processor runs
        std::string device = {}; ///< key of the device beside the processor; empty: the library chooses
        std::string deviceKind = {}; ///< of targets: the best variant of it, where none is named; empty: of any
    };
    /// @param name  NAME of its symbols lathe_NAME_*, which stands in the file (deploy::findLibraryName).
    /// Errors: Incompatible (does not load, another version of the interface), Internal (the library refuses, with its
    /// words).
    static Result<std::unique_ptr<LoadedLibrary>> open(const std::filesystem::path& file, const std::string& name,
                                                       const Options& options);
    ~LoadedLibrary();
    LoadedLibrary(const LoadedLibrary&) = delete;
    LoadedLibrary& operator=(const LoadedLibrary&) = delete;

    const std::vector<LibraryPort>& inputs() const;
    const std::vector<LibraryPort>& outputs() const;
    unsigned threads() const;
    const std::string& variant() const; ///< the target text of that which runs
    const std::vector<LibraryVariant>& variants() const;
    const std::string& device() const; ///< name of the device beside the processor that it runs on; empty: none

    /// Copies into the instance's own buffer. Errors: InvalidArgument (no such input, another number of bytes).
    Result<> setInput(std::size_t index, std::span<const std::byte> values);
    /// Values from a seed, as trials have them.
    Result<> fillInputs(std::uint64_t seed);
    /// Until the next call that is not const; empty where the library has no buffer.
    std::span<const std::byte> input(std::size_t index) const;
    std::span<const std::byte> output(std::size_t index) const; ///< of the last run, in the shape that it had
    std::vector<std::int64_t> outputShape(std::size_t index) const; ///< as of the last run
    /// Errors: Internal with the library's words.
    Result<> run();

    /// Runs with the tensors of these names shown to `see`, each when an instruction has written it first; those that
    /// were written again since, as in a loop, are shown once more after the run, as they were written last.
    using Observer = std::function<void(const LibraryPort& tensor, std::span<const std::byte> values)>;
    Result<> observe(const std::set<std::string, std::less<>>& wanted, const Observer& see);

    /// Nanoseconds per run, plan.repeat of them.
    Result<std::vector<double>> time(const runtime::RepeatPlan& plan);
    /// Each instruction by itself, in the state that a run of the network leaves for it: the one before it has just
    /// run, its weights were used a run ago. A sweep runs all instructions twice, in pairs, and times the second one of
    /// each pair from barrier to barrier, first those with even numbers, then the odd ones: no start of threads is in
    /// it. Adds a figure per sweep and instruction to `rows`, which is empty at first.
    Result<> timeChain(int sweeps, std::vector<ChainRow>& rows);

private:
    struct Impl;
    explicit LoadedLibrary(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace lathe::serve
