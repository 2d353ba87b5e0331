#pragma once

#include "core/session/devices.h"
#include "core/session/export_part.h"
#include "core/session/follow_part.h"
#include "core/session/history.h"
#include "core/session/input_sizes.h"
#include "core/session/layout_part.h"
#include "core/session/project_part.h"
#include "core/session/replay/replay.h"
#include "core/session/run_part.h"
#include "core/session/template_views.h"
#include "core/session/views.h"
#include "core/session/weights.h"
#include "core/support/message.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// The one façade that app/ and ui/ use: a model, its tasks, its history, and the run that tunes it. Everything
/// beyond looking and running is in parts, which depend on the kind of session: a live one has project() and exports(),
/// a replay has replay().
///
/// Threads: calls may come from any one thread at a time, unless a part says more; those that block say so: call them,
/// and open(), off the GUI thread.
///
/// With OpenOptions::replay, start() plays a stored run from its beginning: its events come again with their times, and
/// tasks have no figures before.
class TuningSession : public RunPart
{
public:
    /// Errors: BadFile, Unsupported (all unsupported operators at once), InvalidArgument, StoreFailed, NotFound.
    static Result<std::unique_ptr<TuningSession>> open(OpenOptions options);
    ~TuningSession() override = default; ///< stops the run and joins

    virtual const OpenOptions& options() const = 0;
    virtual std::shared_ptr<const GraphView> graph() const = 0;
    /// The values of its constants; may outlive the session.
    virtual std::shared_ptr<Weights> weights() const = 0;
    /// What the model leaves open, with the sizes that were chosen; empty for a network of the zoo, and where all is
    /// fixed. options() says the same, in the words in which it was asked for.
    virtual const std::vector<frontend::OpenDimension>& inputSizes() const = 0;
    virtual std::vector<TaskView> tasks() const = 0; ///< a snapshot with the latest figures
    virtual std::vector<UntunedView> untuned() const = 0;
    /// What templates compute of the network, with their spaces, in the order in which they are tuned.
    virtual std::vector<TemplateView> templates() const = 0;
    virtual std::vector<Message> notices() const = 0; ///< "project is read-only because ...", "batch set to 1"
    /// The limits that search respects, of the target, detected or as set. Units are in their names, else counts.
    virtual std::vector<DeviceView::Limit> hardware() const = 0;
    /// A reader of the project for views, to be used on a thread of theirs; it may outlive the session. NotFound
    /// without a project.
    virtual Result<std::unique_ptr<History>> history() const = 0;

    /// Null: nothing can be changed, this is a replay.
    virtual ProjectPart* project() { return nullptr; }
    const ProjectPart* project() const { return const_cast<TuningSession*>(this)->project(); }
    /// Null: nothing can be exported, this is a replay.
    virtual ExportPart* exports() { return nullptr; }
    const ExportPart* exports() const { return const_cast<TuningSession*>(this)->exports(); }
    /// Null: layouts are not chosen, this is a replay.
    virtual LayoutPart* layouts() { return nullptr; }
    /// Null: not a replay.
    virtual Replay* replay() { return nullptr; }
    /// Null: it may write, or was opened to read, or nobody else writes.
    virtual const FollowPart* follow() const { return nullptr; }
    /// Why project() refuses whatever writes; nothing: it does not.
    virtual std::optional<Message> readOnly() const { return std::nullopt; }
};

/// The error for asking a replay for something that only a live session does: "a replay takes no budget: open the
/// project itself". InvalidArgument.
Error notInReplay(std::string_view what);

/// The networks that come with Lathe.
std::vector<ZooView> listZoo();

} // namespace lathe::session
