#pragma once

#include "core/session/options/options.h"
#include "core/session/views.h"
#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::session {

/// A function of the network whose layouts are chosen.
struct LayoutFunction
{
    std::string name;
    std::int32_t subgraph = -1; ///< NodeView::subgraph of its nodes
    std::int32_t task = -1; ///< -1: it computes nothing that is tuned, it only takes several inputs that must lie alike
    std::string input, output; ///< as chosen: "NCHW16c"
    double kernelMs = 0; ///< in one run of the network
    std::string trial; ///< whose kernel that is; empty: a default schedule, or none is needed
    std::vector<std::string> choices; ///< layouts in which it can give its result
};

/// A tensor on its way between two functions.
struct LayoutTensor
{
    std::int32_t from = -1, to = -1; ///< LayoutsView::functions; -1: what works in one order only, or the network's end
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::string written, read; ///< as chosen: different ones are converted in between
    double conversionMs = 0; ///< in one run of the network; 0: nothing is converted
    std::vector<std::string> choices; ///< layouts that a wish for this tensor can name
};

/// The layouts of a network, as an export would choose them.
struct LayoutsView
{
    std::vector<LayoutFunction> functions; ///< topological order
    std::vector<LayoutTensor> tensors;
    double totalMs = 0; ///< kernels and conversions
    double kernelsMs = 0; ///< the kernels alone
    double fastestMs = 0; ///< with the fastest kernel of each function, and what must then be converted
    double fastestKernelsMs = 0; ///< of these the kernels alone
    /// With default schedules, as they were measured, in the network's own layout; kUnknown: not all of them were.
    double defaultMs = kUnknown;
    std::int64_t defaultsMissing = 0; ///< functions whose default schedule was not measured
    std::string solver; ///< that chose: "dp", "pbqp" (graph::plan::Solver)
    bool optimal = false; ///< nothing is faster, as far as these figures tell
    std::int64_t guessed = 0; ///< conversions whose time was worked out, not measured
    bool canMeasure = true; ///< these can be timed on this machine, which is the one that the records are of
};

/// A wish for a layout: of a function's result, or of a tensor on its way.
struct LayoutWish
{
    bool isTensor = false;
    std::int32_t index = 0; ///< of LayoutsView::functions, or ::tensors
    std::string layout; ///< one of its choices
};

/// The network under wishes, beside what was chosen without them.
struct WishedLayouts
{
    LayoutsView view;
    double differenceMs = 0; ///< of the totals: positive is slower
    std::vector<std::int32_t> functions, tensors; ///< that have other layouts or kernels than before
};

/// What the choice of layouts has come to.
enum class PlanStep : std::uint8_t
{
    Timing, ///< conversions are timed
    Timed,
    Solving,
    Solved
};

/// Among which records layouts are chosen, and how.
struct LayoutRequest
{
    /// Of these: strict, logs, packages, the graph tuner and its limits.
    CompileOptions options = {};
    /// Conversions that were never timed are timed on this machine, where it is the one that the records are of, and
    /// kept with the project if that can be written to. Else what they take is worked out.
    bool measures = true;
    std::function<void(PlanStep)> told = {}; ///< on the calling thread; null: nobody wants to know
};

/// The choice of layouts of a network, as it was read. Its calls may block; any thread, one at a time.
class NetworkLayouts
{
public:
    virtual ~NetworkLayouts() = default;
    virtual const LayoutsView& view() const = 0;
    /// Errors: NotFound (no such function or tensor, none of its choices), Unsupported (these wishes do not go
    /// together).
    virtual Result<WishedLayouts> under(const std::vector<LayoutWish>& wishes) const = 0;
    /// Writes the records that are taken, in the network's order, as a log of the reference's template tuner. Returns
    /// how many functions it lacks, since no template made their kernels. Errors: StoreFailed.
    virtual Result<std::int64_t> writeLog(const std::filesystem::path& file) const = 0;
};

/// How tensors lie between the functions of a network. TuningSession::layouts().
class LayoutPart
{
public:
    virtual ~LayoutPart() = default;
    /// Null: no record has a layout of its own, so that there is nothing to choose. Blocks: call it off the GUI thread.
    /// Errors: NotFound (there is neither a project nor a log), InvalidArgument (a run goes on: it would be disturbed
    /// by measuring), StoreFailed, BadFile, Unsupported, Cancelled.
    virtual Result<std::shared_ptr<const NetworkLayouts>> chooseLayouts(const LayoutRequest& request,
                                                                        std::stop_token stop) = 0;
};

} // namespace lathe::session
