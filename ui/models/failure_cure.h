#pragma once

#include "core/session/history.h"

#include <QString>

namespace lathe::ui {

/// What a person can do against a kind of failures at once, by a button.
struct FailureCure
{
    enum class Act
    {
        None,
        Timeout, ///< let candidates run for `seconds`
        Package, ///< install `package`
        Limit ///< look at the device's limit `limit`
    };
    Act act = Act::None;
    double seconds = 0;
    QString package, limit;
    QString sentence; ///< beside the general advice; empty: nothing to add
};

/// From what the failure is about: `seconds`, `package`, `limit` (support/message.h). `timeout`: seconds that a
/// candidate may run now.
FailureCure failureCure(const session::FailureView& failure, double timeout);

} // namespace lathe::ui
