#pragma once

#include "core/templates/template_table.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::templates {

/// A template that a person wrote, read from a file at run time. The file is JSON:
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
/// Members of the file:
///   "template"  the name, as logs have it; no built-in template's. It begins with "depthwise" if the pattern is
///               depthwise_conv2d, and only then.
///   "family"    of targets; "cpu", which is also what a file without it means.
///   "pattern"   the operator that it computes, with the axes that there are:
///                 conv2d            n, co, y, x (batch, channel, row and column of the output); ci, ky, kx (channel of
///                                   the input, row and column of the kernel), which are summed over
///                 depthwise_conv2d  n, co, y, x; ky, kx, which are summed over
///                 dense             m, n (rows of the data and of the weight); k, which is summed over
///   "knobs"     what the tuner chooses, 1 to 32 of them. All choices of one with all of the others are the space.
///   "steps"     the schedule, 1 to 256 of them, carried out in the order in which they stand.
///
/// A knob is of one of two kinds:
///   {"name": NAME, "split": AXIS}     sizes that an axis is split into. It may also have
///     "parts"    how many sizes, 2 (if it is left out) to 4;
///     "policy"   the inner sizes are "factors" of the axis (if it is left out), powers of two ("power2") or both
///                ("verbose"), of which the last two need not divide it;
///     "largest"  what the innermost size is at most.
///   {"name": NAME, "option": VALUES}  one of the values: whole numbers of 32 bits, or true and false; none twice.
///
/// The operator has two nests of loops: the sum, and the store, which takes the sum, applies the elementwise operators
/// that follow it, and writes the output. The sum has a loop for each axis; the store has those that are not summed
/// over. Padding is computed where it is read. A loop is named by its axis: "x". Once x was split, its loops are "x.0",
/// "x.1" and so on, from the outermost to the innermost, and "x" alone is "x.0".
///
/// Steps, of which each changes the sum, and the store too where it has that loop:
///   {"split": AXIS, "by": KNOB}   splits the axis, once, into the sizes that the knob chooses.
///   {"order": [LOOPS]}            all loops of the sum, from the outermost to the innermost. The store takes its own
///                                 loops in the same order.
///   {"sum at": LOOP}              the sum is computed inside of this loop of the store. Without it, the whole sum
///   comes
///                                 before the store.
///   {"unroll": LOOP}              writes out the loop's iterations. All that is written out so is at most 256 vectors
///                                 long together: a loop that would make it longer, counted in the order of these
///                                 steps, stays a loop.
///   {"vectorize": LOOP}           the loop is done with vectors; with more than 64 vectors it stays a loop.
///   {"pack weight": [LOOPS]}      the weight lies in memory in the order of these loops, which are all that it depends
///                                 on. It is packed ahead of time; a weight that is no constant is left as it is.
///   {"parallel": COUNT}           the outermost loops of the store, 1 to 8 of them, become one, which is shared out
///                                 among the threads. None of them may be unrolled or vectorized. No step may follow.
/// Each step may have "if": the name of an option. It is left out where that option is 0 or false.
///
/// Whether the steps fit each other is seen on a task: a template whose first configuration makes no steps is not
/// offered for it.
struct UserTemplate
{
    Template row;
    std::string name; ///< row.name refers to it
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
