#include "ui/bridge/farm_link.h"

#include "core/session/farm_place.h"
#include "core/session/farm_watch.h"

#include <QSettings>
#include <QTimer>

#include <utility>

namespace lathe::ui {

namespace {

constexpr int kLookMs = 500;
/// With the time between two looks, a broker that is dead is told of within two seconds.
constexpr qint64 kPatienceMs = 900;
/// A broker that could not be reached, or whose connection does not come back by itself, is tried anew so often.
constexpr qint64 kRetryMs = 5000;

const QString kBroker = QStringLiteral("farm/broker");
const QString kToken = QStringLiteral("farm/token");
const QString kConnected = QStringLiteral("farm/connected");

} // namespace

struct FarmLink::Opened
{
    Result<std::unique_ptr<session::FarmWatch>> watch;
    std::string user;
};

FarmLink::FarmLink(QObject* parent)
    : QObject(parent)
    , m_timer(new QTimer(this))
{
    connect(m_timer, &QTimer::timeout, this, &FarmLink::look);
}

FarmLink::~FarmLink()
{
    letGo();
}

FarmLink::Place FarmLink::stored()
{
    const QSettings settings;
    if (settings.contains(kBroker))
        return {settings.value(kBroker).toString(), settings.value(kToken).toString()};
    return {QString::fromStdString(session::usualFarm()), {}};
}

void FarmLink::connectAgain()
{
    const Place place = stored();
    if (!place.broker.isEmpty() && QSettings().value(kConnected, true).toBool())
        connectTo(place);
}

void FarmLink::connectTo(const Place& place)
{
    QSettings settings;
    settings.setValue(kBroker, place.broker);
    settings.setValue(kToken, place.token);
    settings.setValue(kConnected, true);
    letGo();
    m_place = place;
    m_view = {};
    m_view.broker = place.broker.toStdString();
    m_history = {};
    m_failure.reset();
    m_heardAt = {};
    m_user.clear();
    m_timer->start(kLookMs);
    setState(State::Connecting);
    open();
}

void FarmLink::leave()
{
    QSettings().setValue(kConnected, false);
    letGo();
    m_timer->stop();
    m_place = {};
    m_view = {};
    m_history = {};
    m_failure.reset();
    m_user.clear();
    setState(State::None);
}

session::BrokerWords FarmLink::words() const
{
    return {m_place.broker.toStdString(), m_place.token.toStdString()};
}

bool FarmLink::isSettled() const
{
    return m_state == State::Connected && m_inState.elapsed() >= session::FarmWatch::kFirstLook.count();
}

void FarmLink::open()
{
    m_tried.start();
    const quint64 attempt = ++m_attempt;
    m_opening = m_opens.run(
        [words = words()](const JobLink&) {
            return Opened{session::FarmWatch::open(words.address, words.token), session::userAt(words)};
        },
        [this, attempt](Opened opened) {
            if (attempt == m_attempt)
                takeOpened(std::move(opened));
            else if (opened.watch)
                m_ends.run(
                    [watch = std::shared_ptr(*std::move(opened.watch))](const JobLink&) mutable {
                        watch.reset();
                        return true;
                    },
                    [](bool) {});
        });
}

void FarmLink::takeOpened(Opened opened)
{
    if (opened.watch) {
        if (m_watch)
            letGo();
        m_watch = *std::move(opened.watch);
        m_user = QString::fromStdString(opened.user);
        m_failure.reset();
        look();
        return;
    }
    if (m_state == State::Away && opened.watch.error().code == Errc::NotFound)
        return; // as is known
    letGo();
    m_failure = opened.watch.error();
    setState(State::Failed);
    emit changed(); // of the same state for another reason
}

/// Twice a second, whatever the state.
void FarmLink::look()
{
    const bool mayCome = m_state == State::Away
                         || (m_state == State::Failed && m_failure && m_failure->code == Errc::NotFound);
    if (mayCome && !m_opening.isRunning() && m_tried.elapsed() >= kRetryMs && m_inState.elapsed() >= kRetryMs)
        open();
    if (!m_watch) {
        emit changed();
        return;
    }
    if (m_looking.isRunning()) {
        if (m_asked.elapsed() >= kPatienceMs)
            goAway();
        return;
    }
    m_asked.start();
    m_looking = m_looks.run(
        [watch = m_watch](const JobLink&) {
            const bool answers = watch->answers();
            session::FarmView view = watch->snapshot();
            view.connected = view.connected && answers;
            return view;
        },
        [this](session::FarmView view) { take(std::move(view)); });
}

void FarmLink::take(session::FarmView view)
{
    if (!view.connected) {
        goAway();
        return;
    }
    m_history.take(view, std::chrono::system_clock::now());
    m_view = std::move(view);
    m_heardAt = QDateTime::currentDateTime();
    if (m_state == State::Connected)
        emit changed();
    else
        setState(State::Connected);
}

void FarmLink::goAway()
{
    m_history.take({}, std::chrono::system_clock::now());
    m_view.connected = false;
    if (m_state == State::Away)
        emit changed();
    else
        setState(State::Away);
}

void FarmLink::setState(State state)
{
    if (std::exchange(m_state, state) == state)
        return;
    m_inState.start();
    emit stateChanged();
    emit changed();
}

/// Ending a connection to a broker that is away may take its time.
void FarmLink::letGo()
{
    ++m_attempt;
    m_looking.drop();
    if (m_watch)
        m_ends.run(
            [watch = std::exchange(m_watch, nullptr)](const JobLink&) mutable {
                watch.reset();
                return true;
            },
            [](bool) {});
}

} // namespace lathe::ui
