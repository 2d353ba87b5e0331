#include "core/deploy/library.h"

#include "core/deploy/names.h"
#include "core/deploy/stub_object.h"
#include "core/deploy/templates.h"
#include "core/support/files.h"
#include "core/support/message.h"
#include "core/target/target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace lathe::deploy {

namespace {

std::vector<PortInfo> portsOf(const graph::Graph& graph, const std::vector<graph::ValueId>& ids,
                              const std::vector<std::string>& layouts)
{
    std::vector<PortInfo> ports;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const graph::Value& value = graph.value(ids[i]);
        ports.push_back({value.name, i < layouts.size() ? layouts[i] : "", {value.dtype, value.shape}, {}});
    }
    return ports;
}

} // namespace

namespace {

/// Removes what the linker, killed while it wrote `staged`, may have left beside it under names that begin alike.
void removeStaged(const std::filesystem::path& staged)
{
    std::error_code ignored;
    for (std::filesystem::directory_iterator entry(staged.parent_path(), ignored), end; entry != end;
         entry.increment(ignored))
        if (entry->path().filename().string().starts_with(staged.filename().string()))
            std::filesystem::remove(entry->path(), ignored);
}

std::filesystem::path stagedFile(const std::filesystem::path& folder, const std::string& name, long process)
{
    return folder / fmt::format(".{}.{}.so", name, process);
}

/// Removes what programs that were killed while they made this library have left.
void removeAbandoned(const std::filesystem::path& folder, const std::string& name)
{
    std::error_code ignored;
    const std::string start = fmt::format(".{}.", name);
    std::vector<long> gone;
    for (std::filesystem::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
        const std::string file = entry->path().filename().string();
        if (!file.starts_with(start))
            continue;
        char* rest = nullptr;
        const long process = std::strtol(file.c_str() + start.size(), &rest, 10);
        if (process > 0 && std::string_view(rest).starts_with(".so") && ::kill(static_cast<pid_t>(process), 0) != 0
            && errno == ESRCH)
            gone.push_back(process);
    }
    for (const long process : gone)
        removeStaged(stagedFile(folder, name, process));
}

} // namespace

StagedLibrary::~StagedLibrary()
{
    if (!file.empty())
        removeStaged(file);
}

StagedLibrary::StagedLibrary(StagedLibrary&& other) noexcept
{
    *this = std::move(other);
}

StagedLibrary& StagedLibrary::operator=(StagedLibrary&& other) noexcept
{
    std::swap(file, other.file); // what was staged here goes away with `other`
    output = std::move(other.output);
    name = std::move(other.name);
    inputs = std::move(other.inputs);
    inputRanges = std::move(other.inputRanges);
    outputs = std::move(other.outputs);
    image = std::move(other.image);
    kernels = std::move(other.kernels);
    return *this;
}

Result<StagedLibrary> buildLibrary(const graph::Graph& graph, const graph::Partition& partition,
                                   std::span<const KernelChoice> choices, Compiler& compiler,
                                   const LibraryOptions& options)
{
    if (options.output.filename().empty())
        return makeError(Errc::InvalidArgument, say(Msg::NoLibraryFile, options.output.string()));
    const std::string machine = options.machine.empty() ? thisMachine() : options.machine;
    StagedLibrary staged;
    staged.output = std::filesystem::absolute(options.output);
    staged.name = libraryName(options.name, options.output);
    LATHE_TRY(checkDestination(ExportedFiles::of(staged.output, staged.name), options.overwrite));

    std::filesystem::path runtime = options.runtimeArchive;
    if (runtime.empty()) { // before the compiler, which takes long
        LATHE_TRY_ASSIGN(runtime, findRuntimeArchive(machine));
    }
    staged.inputRanges = options.inputRanges;
    staged.inputs = portsOf(graph, graph.inputs, options.inputLayouts);
    staged.outputs = portsOf(graph, graph.outputs, options.outputLayouts);
    for (std::size_t i = 0; i < staged.outputs.size(); ++i)
        staged.outputs[i].name = graph.outputName(i);
    for (const graph::OutputExtent& extent : graph.outputExtents)
        staged.outputs[static_cast<std::size_t>(extent.output)].dynamicAxes.push_back(extent.axis);
    LATHE_TRY_ASSIGN(staged.kernels, collectKernels(graph, partition, choices));
    LATHE_TRY_ASSIGN(CompiledKernels compiled, compiler.compile(staged.kernels.sources));
    PlanOptions planOptions;
    planOptions.name = staged.name;
    planOptions.inputLayouts = options.inputLayouts;
    planOptions.outputLayouts = options.outputLayouts;
    removeAbandoned(staged.output.parent_path(), staged.name);
    staged.file = stagedFile(staged.output.parent_path(), staged.name, getpid());
    // Beside the library, since that is where there must be room for it; removed with it.
    planOptions.weightsFile = staged.file.string() + ".weights";
    planOptions.weightsInMemory = options.weightsInMemory;
    planOptions.derived = options.derived;
    LATHE_TRY_ASSIGN(staged.image, planModel(graph, partition, choices, staged.kernels, compiled.kernels, planOptions));

    StubRequest stubs;
    stubs.machine = machine;
    backend::LibraryRequest request;
    for (const std::string& function : interfaceFunctions()) {
        stubs.functions.emplace_back("lathe_" + staged.name + "_" + function, "lathe_0_" + function);
        request.exports.push_back(stubs.functions.back().first);
    }
    stubs.phases = staged.image.phases;
    LATHE_TRY_ASSIGN(std::vector<std::byte> stubObject, makeStubObject(stubs));
    request.name = staged.output.filename().string();
    request.objects = std::move(compiled.objects);
    request.objects.push_back(std::move(stubObject));
    request.sections.push_back({"lathe_0_description", std::exchange(staged.image.description, {}), {}, 64});
    const bool large = staged.image.weights.empty() && staged.image.weightsBytes > 0;
    const std::filesystem::path weightsFile = large ? planOptions.weightsFile : std::filesystem::path();
    request.sections.push_back(
        {"lathe_0_weights", std::exchange(staged.image.weights, {}), weightsFile, 4096}); // may be used as mapped
    request.runtimeArchive = std::move(runtime);
    request.output = staged.file;
    LATHE_TRY(compiler.link(request));
    std::error_code ignored;
    std::filesystem::remove(planOptions.weightsFile, ignored);
    return staged;
}

} // namespace lathe::deploy
