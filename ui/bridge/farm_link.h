#pragma once

#include "core/session/farm_history.h"
#include "core/session/farm_view.h"
#include "core/session/remote_claim.h"
#include "ui/bridge/jobs.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include <memory>
#include <optional>

QT_BEGIN_NAMESPACE
class QTimer;
QT_END_NAMESPACE

namespace lathe::session {
class FarmWatch;
}

namespace lathe::ui {

/// The window's look at a farm: hears what its devices tell at a broker, for all pages. Everything that may take its
/// time is a job, also the look that happens twice a second: the library below holds a lock while it tries in vain to
/// reach a broker, for seconds. A look that is not answered within a second counts as a broker that does not answer.
/// Lives on the GUI thread.
class FarmLink final : public QObject
{
    Q_OBJECT

public:
    enum class State
    {
        None, ///< no broker was named
        Connecting, ///< for the first time
        Connected,
        Away, ///< the broker does not answer any more; view() is what was heard last
        Failed ///< it could not be reached at all: failure() says why. Where it may come yet, that is tried again
    };
    /// Where a broker is: HOST:PORT, nats://HOST:PORT or tls://HOST:PORT; and the file of a token for it, if it wants
    /// one.
    struct Place
    {
        QString broker, token;
        bool operator==(const Place&) const = default;
    };

    explicit FarmLink(QObject* parent = nullptr);
    ~FarmLink() override;

    /// The one of last time; before the first time the one that the environment names.
    static Place stored();
    /// As last time: nothing happens where nobody named a broker, or the farm was left.
    void connectAgain();
    /// Leaves the one before. Remembered in the settings.
    void connectTo(const Place& place);
    void leave();

    State state() const { return m_state; }
    const Place& place() const { return m_place; } ///< empty: none
    session::BrokerWords words() const;
    /// As it was when the broker was heard last.
    const session::FarmView& view() const { return m_view; }
    const session::FarmHistory& history() const { return m_history; }
    /// Each device that is there has been heard since the broker answers.
    bool isSettled() const;
    const std::optional<Error>& failure() const { return m_failure; }
    QDateTime heardAt() const { return m_heardAt; } ///< when the broker was heard last
    /// Who we are there (session::userAt()); empty: nobody who may ask for devices.
    QString user() const { return m_user; }

signals:
    void changed(); ///< twice a second while a broker is named, and whenever the state is another
    void stateChanged();

private:
    struct Opened;
    void open();
    void takeOpened(Opened opened);
    void look();
    void take(session::FarmView view);
    void goAway();
    void setState(State state);
    void letGo();

    State m_state = State::None;
    Place m_place;
    quint64 m_attempt = 0; ///< answers to earlier ones are not wanted
    std::shared_ptr<session::FarmWatch> m_watch;
    session::FarmView m_view;
    session::FarmHistory m_history;
    std::optional<Error> m_failure;
    QDateTime m_heardAt;
    QString m_user;
    QTimer* m_timer = nullptr;
    QElapsedTimer m_asked; ///< since the look that is not answered yet
    QElapsedTimer m_inState;
    QElapsedTimer m_tried; ///< since the last open()
    JobLane m_opens, m_looks;
    JobLane m_ends{JobLane::Width::AllAtOnce, JobLane::Work::IsAlwaysDone};
    Job m_opening, m_looking;
};

} // namespace lathe::ui
