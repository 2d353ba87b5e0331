#pragma once

#include "core/templates/template_table.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::templates {

/// What a template computes.
enum class Pattern : std::uint8_t
{
    Conv2d, ///< over all channels
    DepthwiseConv2d,
    Dense
};

/// A template that a person wrote, read from a file at run time.
///
/// The file is JSON:
///
///     {"template": "blocked_conv.mine", "family": "cpu", "pattern": "conv2d",
///      "knobs": [{"name": "tile_co", "split": "co", "parts": 2, "largest": 64},
///                {"name": "tile_x", "split": "x", "parts": 2, "largest": 28},
///                {"name": "unroll", "option": [0, 1]}],
///      "steps": [{"split": "co", "by": "tile_co"},
///                {"split": "x", "by": "tile_x"},
///                {"order": ["n", "co.0", "y", "x.0", "ci", "ky", "kx", "x.1", "co.1"]},
///                {"sum at": "x.0"},
///                {"unroll": "x.1"}, {"unroll": "kx", "if": "unroll"},
///                {"vectorize": "co.1"},
///                {"pack weight": ["co.0", "ci", "ky", "kx", "co.1"]},
///                {"parallel": 3}]}
///
/// Axes are those of the pattern: conv2d has n, co, y, x and ci, ky, kx, which are summed over; depthwise_conv2d has n,
/// co, y, x and ky, kx; dense has m, n and k. "x.1" is the second part of x, once it was split; x alone the first.
///
/// Two stages have loops: the sum, and the store behind it, which takes what elementwise operators follow. A step is
/// for both where both have the loop, else for the sum. Padding is computed where it is read. Steps, in any number, in
/// the order in which they stand:
///   split AXIS by KNOB        by the sizes that the knob chooses, of as many parts
///   order [LOOPS]             all loops of the sum, the outermost first; the store has those of them that it has
///   sum at LOOP               the sum is computed inside of this loop of the store
///   unroll LOOP, vectorize LOOP
///   pack weight [LOOPS]       the weight lies in the order of these loops, all that it depends on, packed ahead of
///   time parallel N                the first N loops of the store are one, and shared out among the threads; the last
///   step
/// "if": a step is left out where this knob chooses 0 or false.
///
/// Knobs: {"name", "split": AXIS, "parts": 2 or more, "policy": "factors" (the default), "power2" or "verbose",
/// "largest": of the innermost size} or {"name", "option": [whole numbers or true and false]}.
struct UserTemplate
{
    Template row;
    std::string name; ///< row.name refers to it
    std::string family; ///< of targets: "cpu"
    Pattern pattern = Pattern::Conv2d;
};

/// Errors: NotFound; BadFile with the place that is off.
Result<std::shared_ptr<const UserTemplate>> readTemplateFile(const std::filesystem::path& file);
/// The same of a text; `file` is for errors.
Result<std::shared_ptr<const UserTemplate>> userTemplateOf(std::string_view text, const std::string& file);

/// Makes it known to findTemplate() and workloadsOf(), in the place of one of the same name. Any thread.
/// Errors: InvalidArgument for the name of a template that is built in.
Result<> addUserTemplate(std::shared_ptr<const UserTemplate> added);
std::vector<std::shared_ptr<const UserTemplate>> userTemplates();

} // namespace lathe::templates
