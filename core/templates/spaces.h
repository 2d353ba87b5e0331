#pragma once

#include "core/templates/template_table.h"
#include "core/templates/workload_args.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

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

// What a device cannot run (autotvm.md 3.4), as far as a configuration says it. They add nothing where the limit is
// not known.
/// Refuses configurations whose product of these sizes exceeds the threads of a block.
void limitThreads(ConfigSpace& space, const TemplateFacts& facts, std::initializer_list<ThreadSize> sizes);
/// Likewise, of virtual threads.
void limitVirtualThreads(ConfigSpace& space, const TemplateFacts& facts, std::initializer_list<ThreadSize> sizes);
/// The shapes of the tiles that a block of a configuration keeps in shared memory.
using SharedTiles = std::function<std::vector<std::vector<std::int64_t>>(const Config&)>;
/// Refuses configurations whose tiles, of `dtype`, take more than the shared memory of a block.
void limitShared(ConfigSpace& space, const TemplateFacts& facts, const std::string& dtype, SharedTiles tiles);
/// The product of the inner sizes of a split, from place 1 on: how much of the axis a block has. 1: there is no such
/// split.
std::int64_t innerSize(const Config& config, const std::string& knob);

/// The error of a workload that a template cannot compute: "the strides of conv2d_nchw_winograd.cuda" is not "1".
Error notFor(const Workload& workload, std::string_view part, std::string wanted);
/// Winograd's transforms know neither strides nor dilation. Errors: that.
Result<> checkUnitSteps(const Workload& workload, const ConvArgs& conv);

} // namespace lathe::templates
