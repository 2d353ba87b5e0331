#pragma once

#include "core/measure/task_data.h"
#include "core/measure/types.h"

#include <string>
#include <vector>

namespace lathe::test {

/// A matrix whose values are doubled: the smallest task that computes something.
inline measure::TaskDataPtr doubleTask()
{
    compute::DagBuilder builder;
    const auto a = builder.placeholder("A", {64, 64}, DType::F32);
    const auto b = builder.compute("B", {64, 64}, {"i", "j"}, "", [&](const auto& axes) {
        return builder.at(a, {axes[0], axes[1]}) * 2.0F;
    });
    const auto dag = std::move(builder).finish({b});
    const auto data = dag ? measure::makeTaskData(*dag, {false}, 3, {}) : Result<measure::TaskDataPtr>(dag.error());
    return data ? *data : nullptr;
}

/// So many candidates of it, of two kinds.
inline std::vector<measure::MeasureRequest> doubleRequests(int count)
{
    static const measure::TaskDataPtr data = doubleTask();
    std::vector<measure::MeasureRequest> all;
    for (int i = 0; i < count; ++i) {
        measure::MeasureRequest request;
        request.trial = std::string(32, 'a');
        request.candidate.task = "double";
        request.candidate.steps = i % 2 == 0 ? "[]" : R"([["SP", 1, 0, 64, [4], 1]])";
        request.task = data;
        request.plan.number = 1;
        request.plan.minRepeatMs = 0;
        request.ordinal = i;
        all.push_back(request);
    }
    return all;
}

} // namespace lathe::test
