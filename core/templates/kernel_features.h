#pragma once

#include "core/compute/dag.h"
#include "core/runtime/kernel_form.h"
#include "core/schedule/step.h"
#include "core/templates/tuner_table.h"

#include <functional>
#include <vector>

namespace lathe::templates {

/// What a configuration's steps are applied to, and what becomes of it.
struct KernelSource
{
    compute::DagPtr dag;
    KernelForm form = KernelForm::Phases;
    std::vector<bool> constantInputs; ///< SearchAlternative::constantInputs
};

/// Features of the kernels that configurations are lowered to. Empty for kinds that need no kernel. `stepsOf` makes the
/// steps of a configuration; its errors are those of the features.
ConfigFeatures kernelFeatures(FeatureKind kind, KernelSource source,
                              std::function<Result<std::vector<schedule::Step>>(const Config&)> stepsOf);

} // namespace lathe::templates
