#pragma once

#include "core/session/device_directory.h"
#include "ui/bridge/jobs.h"

#include <QObject>

namespace lathe::ui {

/// The window's copy of the device directory, for all pickers and pages. Asked for on a thread; lives on the GUI
/// thread.
class DeviceList final : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    /// Asks all back ends anew; changed() follows. While that goes on, nothing happens.
    void refresh();
    /// Asks unless an answer has come.
    void ensureAsked();
    bool isAsking() const { return m_asking.isRunning(); }
    bool isKnown() const { return m_known; } ///< an answer has come
    const session::DeviceDirectory& directory() const { return m_directory; }

signals:
    void changed(); ///< what is known, or whether somebody is being asked

private:
    session::DeviceDirectory m_directory;
    bool m_known = false;
    JobLane m_jobs;
    Job m_asking;
};

} // namespace lathe::ui
