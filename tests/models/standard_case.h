#pragma once

#include "core/deploy/compiler.h"
#include "core/graph/operator.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lathe::conformance {

enum class Outcome : std::uint8_t
{
    Passed,
    Unsupported, ///< the importer named what it lacks
    Failed,
    Excluded ///< strings, sequences, optionals, other element types, other domains, training, contradictions
};

struct Verdict
{
    Outcome outcome = Outcome::Failed;
    std::string op; ///< of the case's (last) node; "expanded" functions count under the function's name
    std::string text; ///< what is unsupported or wrong
    bool folded = false; ///< nothing was left to compile: import evaluated the whole network
    std::vector<std::string> bound; ///< inputs whose values the case gave at import
};

/// Runs one folder of the standard (model.onnx, test_data_set_*) three times: by the reference executor on the network
/// as read, by it on the network as rewritten, and by the library that lathe-builder makes of it with default
/// schedules.
class CaseRunner
{
public:
    explicit CaseRunner(deploy::Compiler& compiler, std::filesystem::path scratch)
        : m_compiler(compiler)
        , m_scratch(std::move(scratch))
    {
    }
    Verdict run(const std::filesystem::path& folder);

private:
    deploy::Compiler& m_compiler;
    std::filesystem::path m_scratch;
};

} // namespace lathe::conformance
