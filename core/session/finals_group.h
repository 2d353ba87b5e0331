#pragma once

#include "core/session/tuning_run.h"

namespace lathe::session {

/// The finalists of one task.
struct TuningRun::FinalsGroup
{
    struct Finalist
    {
        Record repeated;
        measure::BuiltKernelPtr built;
        TrialResult result; ///< the first failure, or of the first pass; durations of all
        std::vector<double> costsNs; ///< one per pass
    };
    std::int32_t task = -1;
    double weight = 0;
    double passSeconds = 0; ///< that its last pass took
    std::vector<Finalist> finalists;
};

} // namespace lathe::session
