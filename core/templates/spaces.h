#pragma once

#include "core/templates/template_table.h"
#include "core/templates/workload_args.h"

#include <initializer_list>

namespace lathe::templates {

// The rows of the table, a file for each family of targets.
std::vector<Template> x86Templates(); ///< autotvm.md 3.1
std::vector<Template> cudaTemplates(); ///< 3.2; for all GPUs without templates of their own
std::vector<Template> maliTemplates(); ///< 3.3

/// A size of a split that is bound to threads of a block.
struct ThreadSize
{
    const char* knob;
    std::size_t place; ///< among its sizes, 0 is the outermost
};

/// Refuses configurations whose product of these sizes exceeds the limit; adds nothing where the limit is not known.
void limitThreads(ConfigSpace& space, const TemplateFacts& facts, std::initializer_list<ThreadSize> sizes);

/// The error of a workload that a template cannot compute: "the strides of conv2d_nchw_winograd.cuda" is not "1".
Error notFor(const Workload& workload, std::string_view part, std::string wanted);
/// Winograd's transforms know neither strides nor dilation. Errors: that.
Result<> checkUnitSteps(const Workload& workload, const ConvArgs& conv);

} // namespace lathe::templates
