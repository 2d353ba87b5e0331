#include "core/deploy/library.h"

#include "core/deploy/constants.h"
#include "core/deploy/names.h"
#include "core/deploy/stub_object.h"
#include "core/deploy/templates.h"
#include "core/runtime/image.h"
#include "core/support/files.h"
#include "core/support/message.h"
#include "core/support/prepared_file.h"
#include "core/target/target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
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
    variants = std::move(other.variants);
    weightsBytes = other.weightsBytes;
    return *this;
}

namespace {

/// Bytes of the vectors that code with these features computes on.
int vectorBytes(const std::vector<std::string>& features)
{
    const auto has = [&](const char* name) { return std::ranges::find(features, name) != features.end(); };
    return has("avx512f") && has("avx512vl") ? 64 : has("avx") ? 32 : 16;
}

/// With its kernels compiled.
struct CompiledVariant
{
    StagedVariant staged;
    CompiledKernels compiled;
};

/// Whether what was made of its kernels is for a device's driver, not for the linker.
bool hasLaunches(const CompiledKernels& compiled)
{
    return std::ranges::any_of(compiled.kernels,
                               [](const KernelInfo& kernel) { return kernel.form == KernelForm::Launches; });
}

/// The best first.
Result<std::vector<CompiledVariant>> compileVariants(std::span<const VariantSource> sources)
{
    std::vector<CompiledVariant> variants;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const VariantSource& source = sources[i];
        CompiledVariant& variant = variants.emplace_back();
        variant.staged.source = i;
        variant.staged.target = source.target;
        LATHE_TRY_ASSIGN(variant.staged.kernels, collectKernels(source.graph, source.partition, source.choices,
                                                                i == 0 ? std::string() : fmt::format("v{}_", i)));
        auto compiled = source.compiler.compile(variant.staged.kernels.sources);
        if (!compiled && sources.size() > 1)
            return makeError(compiled.error().code, say(Msg::VariantNoted, source.target, compiled.error()));
        LATHE_TRY_ASSIGN(variant.compiled, std::move(compiled));
        variant.staged.features = variant.compiled.features;
        for (const std::vector<std::byte>& object : variant.compiled.objects)
            variant.staged.codeBytes += object.size();
    }
    std::ranges::stable_sort(variants, [](const CompiledVariant& a, const CompiledVariant& b) {
        const auto rank = [](const CompiledVariant& v) {
            return std::tuple(hasLaunches(v.compiled), vectorBytes(v.staged.features), v.staged.features.size());
        };
        return rank(a) > rank(b);
    });
    return variants;
}

} // namespace

Result<StagedLibrary> buildLibrary(std::span<const VariantSource> sources, const LibraryOptions& options)
{
    if (options.output.filename().empty())
        return makeError(Errc::InvalidArgument, say(Msg::NoLibraryFile, options.output.string()));
    if (sources.empty() || sources.size() > runtime::kMostVariants)
        return makeError(Errc::InvalidArgument, say(Msg::VariantsTooMany, runtime::kMostVariants, sources.size()));
    const std::string machine = options.machine.empty() ? thisMachine() : options.machine;
    StagedLibrary staged;
    staged.output = std::filesystem::absolute(options.output);
    staged.name = libraryName(options.name, options.output);
    LATHE_TRY(checkDestination(ExportedFiles::of(staged.output, staged.name), options.overwrite));

    std::filesystem::path archive = options.runtimeArchive;
    if (archive.empty()) { // before the compiler, which takes long
        LATHE_TRY_ASSIGN(archive, findRuntimeArchive(machine));
    }
    staged.inputRanges = options.inputRanges;
    const graph::Graph& graph = sources.front().graph;
    staged.inputs = portsOf(graph, graph.inputs, options.inputLayouts);
    staged.outputs = portsOf(graph, graph.outputs, options.outputLayouts);
    for (std::size_t i = 0; i < staged.outputs.size(); ++i)
        staged.outputs[i].name = graph.outputName(i);
    for (const graph::OutputExtent& extent : graph.outputExtents)
        staged.outputs[static_cast<std::size_t>(extent.output)].dynamicAxes.push_back(extent.axis);
    LATHE_TRY_ASSIGN(std::vector<CompiledVariant> variants, compileVariants(sources));
    removeLeftByKilled(staged.output.parent_path(), fmt::format(".{}.", staged.name));
    staged.file = stagedFile(staged.output.parent_path(), staged.name, getpid());
    // Beside the library, since that is where there must be room for it; removed with it.
    const std::filesystem::path weightsFile = staged.file.string() + ".weights";
    ConstantPool constants(weightsFile, options.weightsInMemory, options.derived);
    StubRequest stubs;
    stubs.machine = machine;
    backend::LibraryRequest request;
    std::vector<std::byte> descriptions, code;
    std::set<std::string> drivers; // kinds of targets
    for (CompiledVariant& variant : variants) {
        const VariantSource& source = sources[variant.staged.source];
        PlanOptions planOptions;
        planOptions.name = staged.name;
        planOptions.inputLayouts = options.inputLayouts;
        planOptions.outputLayouts = options.outputLayouts;
        planOptions.target = source.target;
        planOptions.features = variant.staged.features;
        planOptions.constants = &constants;
        LATHE_TRY_ASSIGN(variant.staged.image,
                         planModel(source.graph, source.partition, source.choices, variant.staged.kernels,
                                   variant.compiled.kernels, planOptions));
        const ModelImage& image = variant.staged.image;
        constexpr std::size_t kAlignment = runtime::kTensorAlignment;
        descriptions.resize((descriptions.size() + kAlignment - 1) / kAlignment * kAlignment);
        descriptions.insert(descriptions.end(), image.description.begin(), image.description.end());
        variant.staged.image.description = {};
        stubs.phases.insert(stubs.phases.end(), image.phases.begin(), image.phases.end());
        if (hasLaunches(variant.compiled)) {
            drivers.insert(source.target.substr(0, source.target.find(' ')));
            for (const std::vector<std::byte>& object : variant.compiled.objects) // one behind the other
                code.insert(code.end(), object.begin(), object.end());
        } else if (!variant.compiled.kernels.empty()) {
            std::ranges::move(variant.compiled.objects, std::back_inserter(request.objects));
        }
        staged.variants.push_back(std::move(variant.staged));
    }
    staged.weightsBytes = constants.bytes();
    for (const std::string& function : interfaceFunctions()) {
        stubs.functions.emplace_back("lathe_" + staged.name + "_" + function, "lathe_0_" + function);
        request.exports.push_back(stubs.functions.back().first);
    }
    request.archives = {std::move(archive)};
    for (const std::string& kind : drivers) {
        stubs.drivers.push_back("lathe_driver_" + kind);
        LATHE_TRY_ASSIGN(request.archives.emplace_back(), findDriverArchive(kind, machine));
    }
    LATHE_TRY_ASSIGN(std::vector<std::byte> stubObject, makeStubObject(stubs));
    request.name = staged.output.filename().string();
    request.objects.push_back(std::move(stubObject));
    request.sections.push_back({"lathe_0_description", std::move(descriptions), {}, 64});
    const bool large = constants.inFile();
    request.sections.push_back({"lathe_0_weights", std::move(constants).take(),
                                large ? weightsFile : std::filesystem::path(), 4096}); // may be used as mapped
    request.sections.push_back({"lathe_0_code", std::move(code), {}, 64});
    request.output = staged.file;
    LATHE_TRY(sources.front().compiler.link(request));
    std::error_code ignored;
    std::filesystem::remove(weightsFile, ignored);
    return staged;
}

Result<StagedLibrary> buildLibrary(const graph::Graph& graph, const graph::Partition& partition,
                                   std::span<const KernelChoice> choices, Compiler& compiler,
                                   const LibraryOptions& options)
{
    const VariantSource only[] = {{graph, partition, choices, compiler, options.target}};
    return buildLibrary(only, options);
}

} // namespace lathe::deploy
