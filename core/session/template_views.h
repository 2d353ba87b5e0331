#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// A parameter of a template.
struct KnobView
{
    std::string name;
    std::string kind; ///< "split", "reorder", "annotate", "option"
    std::int64_t extent = 0; ///< of the axis that a split splits; 0: it is no split
    std::vector<std::string> choices; ///< the first ones, as people read them: "[-1, 8]"
    std::uint64_t choiceCount = 0;
};

/// A template with the arguments that tasks of the network give it: a task of the reference's template tuner.
struct TemplateView
{
    std::string name; ///< "conv2d_NCHWc.x86"
    std::string workload; ///< as logs key it
    /// The tasks that it computes, in the order in which they are tuned; the first is searched, the others measure what
    /// was best there.
    std::vector<std::int32_t> tasks;
    bool hasSteps = false; ///< it can be turned into code
    std::uint64_t size = 0; ///< configurations
    double invalidShare = 0; ///< of these, that constraints refuse
    bool invalidIsExact = false; ///< all were looked at; else a sample
    std::vector<KnobView> knobs;
};

/// The template that made a trial, of TrialView::sketch; empty: none did.
std::string_view templateOfSketch(std::string_view sketch);

} // namespace lathe::session
