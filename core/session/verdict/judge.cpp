#include "core/session/verdict/judge.h"

#include "core/runtime/processors.h"

#include <utility>

namespace lathe::session {

VerdictEvent judged(const LoadedModel& model, const MeasuredEvent& measured, const Gain& gain,
                    const measure::MachineState& machine, std::vector<TaskFacts> tasks, const Proposed& proposed)
{
    RunFacts facts;
    facts.gain = gain;
    facts.machine = machine;
    facts.measuredMs = measured.ms;
    facts.parts = measured.estimated;
    facts.small = measured.small;
    facts.startsKernels = model.target.traits().form == KernelForm::Launches;
    facts.tasks = std::move(tasks);
    facts.proposed = proposed;
    if (const BackendTraits& traits = model.target.traits(); traits.runsHere && traits.sharesCores) {
        facts.threads = model.target.threads();
        facts.processors = runtime::processorCount();
    }
    return {gain, machine, diagnose(facts)};
}

} // namespace lathe::session
