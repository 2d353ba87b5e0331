#pragma once

#include "core/templates/config_space.h"
#include "core/templates/template_steps.h"
#include "core/templates/workload_args.h"

#include <functional>
#include <span>
#include <string_view>

namespace lathe::templates {

/// What a template needs to know of the target beside the workload.
struct TemplateFacts
{
    /// Of 32-bit vectors: 4 without AVX2, 8 with it, 16 with AVX-512 (autotvm.md 3.1). Fallbacks look at it.
    std::int64_t vectorLanes = 8;
    /// How convolutions of processors split the width of the output: Verbose since v0.7 of the reference, Factors
    /// before and in its tutorial (5.1 has the sizes of both).
    SplitPolicy widthPolicy = SplitPolicy::Verbose;
    /// Whether generated code must be unrolled explicitly, as for the reference's targets nvptx and rocm.
    bool explicitUnroll = false;
    // Limits of GPUs. 0: unknown, nothing is refused for it.
    std::int64_t maxThreadsPerBlock = 0;
    std::int64_t maxVirtualThreads = 0;
    std::int64_t maxSharedBytes = 0; ///< of a block
};

/// A parametric schedule of the reference: which configurations it has for a workload.
struct Template
{
    std::string_view name; ///< of its tasks, as logs have it
    std::string_view family; ///< of the targets that it is for (Target::family())
    Pattern pattern = Pattern::Conv2d;
    /// The reference's plevel: where nothing was measured, of several templates for an operator that with the highest.
    std::int32_t priority = 10;
    /// Errors: InvalidArgument for a workload that the template cannot compute.
    std::function<Result<ConfigSpace>(const Workload& workload, const TemplateFacts& facts)> space;
    /// What is used where nothing was measured; it may lie outside of the space, as the reference's do. Null: its
    /// fallbacks are made from records of similar workloads (fallbackLike()).
    std::function<Result<Config>(const Workload& workload, const TemplateFacts& facts, const ConfigSpace& space)>
        fallback = {};
    /// Its schedule. Null: configurations of it can be read and shown, and are not turned into code yet.
    StepsOf steps = {};
    /// Of those that compute by winograd's transforms: the tile m of the image, by which the alternative "winograd:m"
    /// of a task is chosen. Null: it computes the task's direct form.
    std::int64_t (*winogradTile)(const ConvArgs& conv) = nullptr;
    /// Whether the reference offers it for a nest of its pattern. Null: for all.
    bool (*suits)(const MatchedNest& nest) = nullptr;
};

/// Target::family() of processors: whom people's own templates are for.
inline constexpr std::string_view kProcessorFamily = "cpu";

/// Those that are built in, by target: processors, GPUs, Mali. Of one family and pattern they stand in the order in
/// which the reference makes tasks of them.
std::span<const Template> allTemplates();
bool isBuiltIn(const Template& row);
/// Those that are built in, then people's own.
std::vector<const Template*> templatesOfFamily(std::string_view family);
/// Of them and of people's own (user_template.h). Null: there is none of this name.
const Template* findTemplate(std::string_view name);

/// The space of a workload. Errors: NotFound for an unknown template; as Template::space.
Result<ConfigSpace> spaceOf(const Workload& workload, const TemplateFacts& facts = {});

/// The fallback of a template, its first configuration where it has no rule of its own.
/// Errors: as spaceOf().
Result<Config> fallbackOf(const Workload& workload, const TemplateFacts& facts = {});

} // namespace lathe::templates
