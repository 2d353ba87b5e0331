#include "core/templates/kernel_features.h"

#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/templates/loop_features.h"

namespace lathe::templates {

ConfigFeatures kernelFeatures(FeatureKind kind, KernelSource source,
                              std::function<Result<std::vector<schedule::Step>>(const Config&)> stepsOf)
{
    if (kind != FeatureKind::IterVar && kind != FeatureKind::Curve)
        return {};
    return [kind, source = std::move(source),
            stepsOf = std::move(stepsOf)](const Config& config) -> Result<std::vector<float>> {
        LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, stepsOf(config));
        LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(source.dag, steps));
        schedule::LowerOptions options;
        options.form = source.form;
        options.constantInputs = source.constantInputs;
        LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(std::move(state), options));
        return kind == FeatureKind::IterVar ? iterVarFeatures(kernel.nest) : curveFeatures(kernel.nest);
    };
}

} // namespace lathe::templates
