#pragma once

#include "core/templates/config.h"
#include "core/templates/workload.h"

namespace lathe::templates {

/// A measurement of the reference's template tuner, a line of its log (version 0.2, autotvm.md 9):
///
///     {"input": ["llvm -keys=cpu", "dense_nopack.x86", [["TENSOR", ...], ...], {}], "config": {"index": 7,
///     "code_hash": null, "entity": [...]}, "result": [[0.00041], 0, 1.93, 1660000000.5], "version": 0.2,
///     "tvm_version": "0.9.0"}
struct TemplateTrial
{
    std::string target; ///< as the reference writes it: "llvm -keys=cpu -mcpu=core-avx2"
    Workload workload;
    JsonValue kwargs = {JsonValue::Members()}; ///< the reference has none
    Config config;
    std::vector<Real> costs; ///< seconds of one run, one for each repeat; after a failure what the log has: 1e9
    std::int32_t error = 0; ///< the reference's number (autotvm.md 8), 0: none
    Real allCost = {}; ///< seconds of building and running
    Real timestamp = {}; ///< seconds since 1970, when the run ended
    std::optional<std::string> version = {}; ///< of the reference: "0.9.0"; nothing: the line does not say
    JsonStyle style = JsonStyle::Spaced; ///< of the line

    /// Seconds, by which the reference ranks; infinite after a failure.
    double meanCost() const;
};

/// Nothing for a comment (# first) and a blank line. Members that the form does not have are passed over.
/// Errors: BadFile for what is no such line, with the place that is off; Unsupported for another version. A line is
/// read and checked whole: no number in it is out of range, no list absurdly long.
Result<std::optional<TemplateTrial>> readTemplateLine(std::string_view line);

/// The line without its end; of what readTemplateLine() made of a line in the documented form it is the same, bit for
/// bit.
std::string templateLine(const TemplateTrial& trial);

/// What makes a measurement unique: target, task, arguments and configuration.
std::string trialKey(const TemplateTrial& trial);

} // namespace lathe::templates
