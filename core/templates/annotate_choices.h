#pragma once

#include "core/support/result.h"
#include "core/templates/entity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::templates {

/// How axes may be marked (autotvm.md 2.3). `policy` is one of
/// - words joined by "_" of "unroll", "vec" and "try" (no mark): each axis may have each of them, in this order, the
///   last axis varying fastest; combinations that vectorize more than one axis are dropped;
/// - "bind_gpu", "bind_gpu_virtual": one choice, by the number of axes;
/// - "locate_cache": all combinations of `anchors` of the axes, in lexicographic order.
struct AnnotateRule
{
    std::int32_t axes = 0;
    std::string policy;
    std::int32_t anchors = 0;
};

/// AnnotateEntity each, AnchorEntity for locate_cache.
/// Errors: InvalidArgument for unknown policies, too few axes for a binding, and more than kMaxChoices choices.
Result<std::vector<Entity>> annotateChoices(const std::string& knob, const AnnotateRule& rule);

std::string_view toString(Mark mark); ///< "threadIdx.x"
std::optional<Mark> markFromString(std::string_view name);

} // namespace lathe::templates
