#pragma once

#include "core/session/views.h"
#include "core/support/result.h"
#include "core/target/target.h"

#include <span>
#include <string>
#include <vector>

namespace lathe::session {

/// What candidates can be measured on, as it was when it was asked for: the one list behind every picker, in the window
/// and on the command line. What people look for and this machine does not have is in it, too, with the reason.
///
/// Two names lead to a device: its own, by which its machine calls it (DeviceView::key), and that of its class, which
/// all equal ones share (DeviceView::deviceKey) and within which costs compare. Either may be asked for.
class DeviceDirectory
{
public:
    /// Asks every back end, or that of one kind of target. Blocks for a moment, since they live in a process of their
    /// own: never on the GUI thread. What keeps all of them from being asked is a row of its own.
    static DeviceDirectory ask(const std::string& kind = {});

    DeviceDirectory() = default; ///< nobody was asked yet
    explicit DeviceDirectory(std::vector<DeviceView> all)
        : m_all(std::move(all))
    {
    }

    std::span<const DeviceView> all() const { return m_all; }
    /// Back ends were asked, and answered for themselves.
    bool isAnswered() const;

    /// What a run for `target` may be measured on, usable ones first: a device that lacks what the target's code needs
    /// (backend::BackendRules::needs) is absent and says why. At least one row: where there is no device, one without a
    /// key that says why in its state.
    std::vector<DeviceView> forTarget(const std::string& target) const;

    /// The devices that `keys` ask for, each once; the name of a class asks for all of it. Without keys: all of the
    /// class that the first usable one is of. Errors: NotFound (names what there is), InvalidArgument (devices of two
    /// classes, whose costs would not compare), Unsupported (nothing is measured for the target from here).
    Result<std::vector<DeviceView>> pick(const std::string& target, std::span<const std::string> keys) const;

private:
    std::vector<DeviceView> m_all;
};

/// Whether something of this machine can run what is made for a target; the sentence says why not. Blocks as
/// DeviceDirectory::ask().
Result<> checkDeviceHere(const Target& target);

/// Whether this machine has devices of a class (DeviceView::deviceKey), by what records of a kind of target are
/// compared. Blocks as DeviceDirectory::ask().
bool hasDeviceOfClass(const std::string& kind, const std::string& deviceKey);

} // namespace lathe::session
