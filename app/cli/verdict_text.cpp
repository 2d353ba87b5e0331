#include "app/cli/verdict_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

using namespace session;

std::string verdictText(const VerdictEvent& verdict)
{
    const auto list = [&verdict](Gravity gravity) {
        std::string lines;
        for (const Finding& finding : verdict.findings)
            if (finding.gravity == gravity)
                lines += fmt::format("  {}: {}. {}\n", textOf(finding.title), textOf(finding.evidence),
                                     textOf(finding.cure));
        return lines;
    };
    std::string text = textOf(sayGain(verdict.gain)) + '\n';
    if (const std::string doubts = list(Gravity::Doubt); !doubts.empty())
        text += "Do not rely on this yet:\n" + doubts;
    if (const std::string hints = list(Gravity::Hint); !hints.empty())
        text += "What you can do:\n" + hints;
    return text;
}

nlohmann::json verdictJson(const VerdictEvent& verdict)
{
    return {{"text", textOf(sayGain(verdict.gain))},
            {"believable", believable(verdict.gain, verdict.findings)},
            {"gain", toJson(verdict.gain)},
            {"machine", toJson(verdict.machine)},
            {"findings", toJson(verdict.findings)}};
}

} // namespace lathe::cli
