#pragma once

#include "core/deploy/destination.h"
#include "core/deploy/estimate_parts.h"
#include "core/deploy/plan.h"
#include "core/deploy/port_info.h"
#include "core/deploy/runtime_archive.h"
#include "core/graph/input_ranges.h"

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace lathe::deploy {

struct LibraryOptions
{
    std::filesystem::path output; ///< NAME.so; everything else goes beside it
    bool overwrite = false; ///< also what Lathe did not write (destination.h)
    std::string name; ///< empty: from the file (names.h)
    std::filesystem::path runtimeArchive; ///< empty: findRuntimeArchive()
    std::string machine; ///< as Target::machine() names it; empty: this one
    std::string target; ///< of a single variant, for people
    std::vector<std::string> inputLayouts, outputLayouts; ///< "NCHW" ..., or empty
    std::vector<graph::InputRange> inputRanges; ///< of the network as imported, for the description; or empty
    std::uint64_t weightsInMemory = PlanOptions().weightsInMemory;
    std::shared_ptr<DerivedConstants> derived; ///< PlanOptions::derived
};

/// Code for one target in a library.
struct StagedVariant
{
    std::size_t source = 0; ///< which of the sources it was made of
    std::string target;
    std::vector<std::string> features; ///< that a processor must have (core/runtime/cpu_features.h)
    ModelImage image; ///< without its bytes: they are in the file
    KernelSet kernels;
    std::uint64_t codeBytes = 0; ///< of the objects with its kernels
};

/// A library that is linked but not yet at its place, so that it can be verified first. Removed with this object unless
/// publishLibrary() moved it.
class StagedLibrary
{
public:
    StagedLibrary() = default;
    ~StagedLibrary();
    StagedLibrary(StagedLibrary&& other) noexcept;
    StagedLibrary& operator=(StagedLibrary&& other) noexcept;
    StagedLibrary(const StagedLibrary&) = delete;
    StagedLibrary& operator=(const StagedLibrary&) = delete;

    std::filesystem::path file; ///< a complete shared object, in the folder of `output`
    std::filesystem::path output;
    std::string name;
    std::vector<PortInfo> inputs, outputs;
    std::vector<graph::InputRange> inputRanges;
    std::vector<StagedVariant> variants; ///< the best first, as the library has them
    std::uint64_t weightsBytes = 0; ///< of all together
};

/// A network as one of a library's variants has it: what is computed is the same, how may differ.
struct VariantSource
{
    const graph::Graph& graph;
    const graph::Partition& partition;
    std::span<const KernelChoice> choices;
    Compiler& compiler;
    std::string target;
};

/// Collects, compiles, plans, links. Of several variants those for devices beside the processor, those with the widest
/// vectors, and then those that ask most of a processor, come first: when it is loaded, the library takes the first
/// that runs. Weights that are packed alike are there once. Errors: InvalidArgument (no such folder), those of the
/// compiler and of the planner.
Result<StagedLibrary> buildLibrary(std::span<const VariantSource> variants, const LibraryOptions& options);
/// Of one variant, which is for options.target.
Result<StagedLibrary> buildLibrary(const graph::Graph& graph, const graph::Partition& partition,
                                   std::span<const KernelChoice> choices, Compiler& compiler,
                                   const LibraryOptions& options);

inline constexpr double kUnknownFigure = std::numeric_limits<double>::quiet_NaN();

struct SubgraphFacts
{
    std::string name;
    std::string record; ///< trial id; empty: default schedule or no work
    std::string reason;
    double estimatedMs = kUnknownFigure;
    double measuredMs = kUnknownFigure; ///< inside the library
};

/// What is known of a variant beyond what stands in the library.
struct VariantFacts
{
    std::vector<SubgraphFacts> subgraphs;
    double maxRelError = kUnknownFigure;
    std::string notVerified; ///< why it could not be
};

/// What is known of the library, for its JSON description. Unknown figures are NaN and come out as null.
struct LibraryFacts
{
    std::string network;
    std::string modelJson; ///< a JSON object: what the network was made from, with all options; empty: unknown
    std::string target;
    std::string device; ///< on which it was measured
    std::string variant; ///< its target, of those that there are
    std::vector<SubgraphFacts> subgraphs; ///< of that variant
    std::map<std::string, VariantFacts> variants; ///< by target
    unsigned threads = 0;
    double maxRelError = kUnknownFigure;
    double medianMs = kUnknownFigure, meanMs = kUnknownFigure, stdMs = kUnknownFigure, minMs = kUnknownFigure,
           p95Ms = kUnknownFigure;
    EstimateParts estimated;
};

/// Moves the library to its place and writes header (NAME.h), description (NAME.json) and examples (NAME_example.c,
/// .cpp, .py) beside it: all are on the disk before the first is put in its place, the library last. Errors: those of
/// checkDestination(), StoreFailed; then nothing was changed.
Result<ExportedFiles> publishLibrary(StagedLibrary& staged, const LibraryFacts& facts, bool overwrite = false);

} // namespace lathe::deploy
