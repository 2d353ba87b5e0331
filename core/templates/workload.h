#pragma once

#include "core/support/result.h"
#include "core/templates/json_value.h"

#include <string>
#include <vector>

namespace lathe::templates {

/// A task of the reference as its logs name it: a template and the arguments that it was run with (autotvm.md 1).
/// Tensors are ["TENSOR", [1, 64, 56, 56], "float32"], what is a tuple there is a list, all else stands for itself.
/// Compares by value. The template need not be one that is known here.
struct Workload
{
    std::string task; ///< "conv2d_NCHWc.x86"
    std::vector<JsonValue> args;

    bool operator==(const Workload& other) const { return task == other.task && args == other.args; }
};

/// ["conv2d_NCHWc.x86", ["TENSOR", ...], ...] in one line, as logs key it. Numbers are spelt as they were written:
/// 1e-5 and 1e-05 are equal workloads with two keys.
std::string workloadKey(const Workload& workload);

/// Reads what workloadKey() makes. Errors: BadFile.
Result<Workload> workloadFromKey(std::string_view text);

/// A name and a list, as a line of a log has them apart. Errors: BadFile, with the place.
Result<Workload> workloadFromJson(const JsonValue& task, const JsonValue& args);

} // namespace lathe::templates
