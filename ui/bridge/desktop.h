#pragma once

#include "ui/bridge/jobs.h"

#include <QObject>

namespace lathe::ui {

/// What the window asks of the desktop over D-Bus: whether it is light or dark, and to tell people something while the
/// window is not looked at. The one class that sees D-Bus. Everything is asked for without waiting; where no bus,
/// portal or notification server answers, nothing happens. GUI thread.
class Desktop final : public QObject
{
    Q_OBJECT

public:
    enum class Scheme
    {
        Unknown, ///< nobody answered, or the desktop has no wish
        Light,
        Dark
    };
    Q_ENUM(Scheme)

    using QObject::QObject;

    /// Connects on a thread, then asks for the scheme and follows it. `address` empty: the session's bus.
    void connectToBus(const QString& address = {});
    Scheme scheme() const { return m_scheme; }
    bool isConnected() const { return m_bus != nullptr; }

    /// A notification; notificationClicked() follows if a person clicks it and the server says so. A later one replaces
    /// it.
    void notify(const QString& title, const QString& text);

signals:
    /// Sent for the first answer, too, Unknown included.
    void schemeChanged(lathe::ui::Desktop::Scheme scheme);
    void notificationClicked();

private:
    struct Bus; ///< a connection, which ends with it
    void onConnected(std::shared_ptr<Bus> bus);
    void setScheme(Scheme scheme);

    std::shared_ptr<Bus> m_bus; ///< null: not connected
    bool m_answered = false;
    Scheme m_scheme = Scheme::Unknown;
    uint m_notification = 0; ///< the latest, 0: none
    JobLane m_jobs;
    Job m_connecting;
};

} // namespace lathe::ui
