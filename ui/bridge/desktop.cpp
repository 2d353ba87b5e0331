#include "ui/bridge/desktop.h"

#include <QCoreApplication>
#include <QDBusConnection>
#include <QDBusConnectionInterface>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QFileInfo>
#include <QThread>

namespace lathe::ui {

namespace {

const QString kPortal = QStringLiteral("org.freedesktop.portal.Desktop");
const QString kPortalPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString kPortalSettings = QStringLiteral("org.freedesktop.portal.Settings");
const QString kAppearance = QStringLiteral("org.freedesktop.appearance");
const QString kColorScheme = QStringLiteral("color-scheme");
const QString kNotifications = QStringLiteral("org.freedesktop.Notifications");
const QString kNotificationsPath = QStringLiteral("/org/freedesktop/Notifications");

/// Portals wrap the value in one variant, older ones in two.
QVariant unwrapped(QVariant value)
{
    while (value.metaType() == QMetaType::fromType<QDBusVariant>())
        value = value.value<QDBusVariant>().variant();
    return value;
}

Desktop::Scheme schemeOf(const QVariant& value)
{
    bool good = false;
    const uint wish = unwrapped(value).toUInt(&good);
    return !good       ? Desktop::Scheme::Unknown
           : wish == 1 ? Desktop::Scheme::Dark
           : wish == 2 ? Desktop::Scheme::Light
                       : Desktop::Scheme::Unknown;
}

/// Hears the bus's signals: here, since slots must know the types of D-Bus and no header of ours does.
class Ears final : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

public slots:
    void onSettingChanged(const QDBusMessage& message) // group, key, value
    {
        const QVariantList values = message.arguments();
        if (values.size() == 3 && values[0].toString() == kAppearance && values[1].toString() == kColorScheme)
            emit schemeHeard(schemeOf(values[2]));
    }
    void onActionInvoked(uint id, const QString& action)
    {
        if (action == QStringLiteral("default"))
            emit clicked(id);
    }

signals:
    void schemeHeard(lathe::ui::Desktop::Scheme scheme);
    void clicked(uint id);
};

/// Asking for a bus where there is none would start one.
bool sessionHasBus()
{
    return qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS")
           || (qEnvironmentVariableIsSet("XDG_RUNTIME_DIR")
               && QFileInfo::exists(qEnvironmentVariable("XDG_RUNTIME_DIR") + QStringLiteral("/bus")));
}

} // namespace

struct Desktop::Bus
{
    explicit Bus(QString named)
        : name(std::move(named))
    {
    }
    ~Bus() { QDBusConnection::disconnectFromBus(name); }
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;
    QDBusConnection connection() const { return QDBusConnection(name); }
    const QString name;
};

void Desktop::connectToBus(const QString& address)
{
    Q_ASSERT(QThread::currentThread() == thread() && !m_connecting.isRunning() && !isConnected());
    if (address.isEmpty() && !sessionHasBus()) {
        onConnected(nullptr);
        return;
    }
    static int number = 0;
    const QString name = QStringLiteral("lathe-desktop-%1").arg(++number);
    // Connecting waits for the bus to greet.
    m_connecting = m_jobs.run(
        [address, name](const JobLink&) {
            auto bus = std::make_shared<Bus>(name);
            const QDBusConnection made = address.isEmpty()
                                             ? QDBusConnection::connectToBus(QDBusConnection::SessionBus, name)
                                             : QDBusConnection::connectToBus(address, name);
            return made.isConnected() ? bus : nullptr;
        },
        [this](std::shared_ptr<Bus> bus) { onConnected(std::move(bus)); });
}

void Desktop::onConnected(std::shared_ptr<Bus> connected)
{
    m_bus = std::move(connected);
    if (!isConnected()) {
        setScheme(Scheme::Unknown);
        return;
    }
    QDBusConnection bus = m_bus->connection();
    auto* ears = new Ears(this);
    connect(ears, &Ears::schemeHeard, this, &Desktop::setScheme);
    connect(ears, &Ears::clicked, this, [this](uint id) {
        if (id == m_notification && id != 0)
            emit notificationClicked();
    });
    // Of any sender: to name one would wait for the bus to say who that is.
    bus.connect({}, kPortalPath, kPortalSettings, QStringLiteral("SettingChanged"), ears,
                SLOT(onSettingChanged(QDBusMessage)));
    bus.connect({}, kNotificationsPath, kNotifications, QStringLiteral("ActionInvoked"), ears,
                SLOT(onActionInvoked(uint, QString)));
    QDBusMessage read = QDBusMessage::createMethodCall(kPortal, kPortalPath, kPortalSettings, QStringLiteral("Read"));
    read << kAppearance << kColorScheme;
    auto* answer = new QDBusPendingCallWatcher(bus.asyncCall(read), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        answer->deleteLater();
        const QDBusPendingReply<QDBusVariant> reply = *answer;
        if (!m_answered) // a change that came meanwhile is newer
            setScheme(reply.isError() ? Scheme::Unknown : schemeOf(reply.value().variant()));
    });
}

void Desktop::setScheme(Scheme scheme)
{
    if (std::exchange(m_answered, true) && m_scheme == scheme)
        return;
    m_scheme = scheme;
    emit schemeChanged(scheme);
}

void Desktop::notify(const QString& title, const QString& text)
{
    if (!isConnected())
        return;
    QDBusMessage message = QDBusMessage::createMethodCall(kNotifications, kNotificationsPath, kNotifications,
                                                          QStringLiteral("Notify"));
    // "default" is the click on the notification itself; servers do not show its label.
    message << QCoreApplication::applicationName() << m_notification << QStringLiteral("lathe") << title << text
            << QStringList{QStringLiteral("default"), title}
            << QVariantMap{{QStringLiteral("desktop-entry"), QStringLiteral("lathe")}} << -1;
    auto* answer = new QDBusPendingCallWatcher(m_bus->connection().asyncCall(message), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        answer->deleteLater();
        if (const QDBusPendingReply<uint> reply = *answer; !reply.isError())
            m_notification = reply.value();
    });
}

} // namespace lathe::ui

#include "desktop.moc"
