#pragma once

#include "core/deploy/port_info.h"
#include "core/runtime/clock.h"
#include "core/support/result.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lathe::deploy {

/// One instruction, timed behind the one before it.
struct ChainRow
{
    std::string name;
    std::string kind; ///< "kernel", "copy", "transform"
    std::vector<double> ms; ///< one per sweep
};

/// An exported network, loaded into this process, with one instance of it. What is in the library runs here: programs that
/// hold a project load libraries in a child.
/// Threads: one at a time.
class LoadedLibrary
{
public:
    struct Options
    {
        unsigned threads = 0; ///< 0: all processors
        bool pin = false;
        bool mapWeights = false; ///< no copy into 2 MiB pages
    };
    /// Errors: NotFound, BadFile (no exported network), Incompatible (another version of the interface, wrong machine),
    /// Internal (the library refuses, with its words).
    static Result<std::unique_ptr<LoadedLibrary>> open(const std::filesystem::path& file, const Options& options);
    ~LoadedLibrary();
    LoadedLibrary(const LoadedLibrary&) = delete;
    LoadedLibrary& operator=(const LoadedLibrary&) = delete;

    const std::string& name() const;
    const std::vector<PortInfo>& inputs() const;
    const std::vector<PortInfo>& outputs() const;
    unsigned threads() const;

    /// Copies into the instance's own buffer. Errors: InvalidArgument naming the input and what is off.
    Result<> setInput(std::size_t index, const graph::HostTensor& tensor);
    /// Values from a seed, as trials have them.
    Result<> fillInputs(std::uint64_t seed);
    graph::HostTensor input(std::size_t index) const;
    graph::HostTensor output(std::size_t index) const; ///< of the last run
    /// Errors: Internal with the library's words.
    Result<> run();

    /// Runs with every tensor that an instruction writes shown to `see`, in order.
    using Observer = std::function<void(const std::string& instruction, const PortInfo& tensor, const void* data)>;
    Result<> observe(const Observer& see);

    /// Nanoseconds per run, plan.repeat of them.
    Result<std::vector<double>> time(const runtime::RepeatPlan& plan);
    /// Each instruction by itself, in the state that a run of the network leaves for it: the one before it has just run, its
    /// weights were used a run ago. A sweep runs all instructions twice, in pairs, and times the second one of each pair from
    /// barrier to barrier, first those with even numbers, then the odd ones: no start of threads is in it. Adds a figure per
    /// sweep and instruction to `rows`, which is empty at first.
    Result<> timeChain(int sweeps, std::vector<ChainRow>& rows);

private:
    struct Impl;
    explicit LoadedLibrary(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace lathe::deploy
