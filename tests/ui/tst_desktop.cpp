#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/desktop.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/notice_settings.h"
#include "ui/models/workspace.h"
#include "ui/shell/run_notice.h"
#include "ui/views/appearance.h"

#include <QApplication>
#include <QCheckBox>
#include <QDBusConnection>
#include <QDBusContext>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_desktop {

using namespace lathe;
using Scheme = ui::Desktop::Scheme;

/// Answers as xdg-desktop-portal does: a variant within a variant.
class FakePortal : public QObject
{
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.portal.Settings")

public:
    uint scheme = 1;

public slots:
    QDBusVariant Read(const QString& group, const QString& key) const
    {
        if (group != "org.freedesktop.appearance" || key != "color-scheme")
            return QDBusVariant(QVariant::fromValue(QDBusVariant(QString("unknown"))));
        return QDBusVariant(QVariant::fromValue(QDBusVariant(scheme)));
    }

signals:
    void SettingChanged(const QString& group, const QString& key, const QDBusVariant& value);
};

class FakeNotifications : public QObject
{
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")

public:
    QStringList titles, texts;
    QList<uint> replaced;

public slots:
    uint Notify(const QString&, uint replaces, const QString&, const QString& title, const QString& text,
                const QStringList&, const QVariantMap&, int)
    {
        titles << title;
        texts << text;
        replaced << replaces;
        return 41;
    }

signals:
    void ActionInvoked(uint id, const QString& action);
};

/// The desktop's wish for light or dark and its notifications, on a bus of the test's own.
class TestDesktop : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QProcess m_daemon;
    QString m_address;
    FakePortal m_portal;
    FakeNotifications m_notifications;

    static bool isDark() { return QApplication::palette().color(QPalette::Window).lightness() < 128; }

private slots:
    void initTestCase()
    {
        lathe::test::settleIn(m_dir.path());
        m_daemon.start("dbus-daemon",
                       {"--session", "--nofork", "--print-address=1", "--address=unix:dir=" + m_dir.path()});
        if (!m_daemon.waitForStarted())
            return;
        QTRY_VERIFY_WITH_TIMEOUT(m_daemon.canReadLine() || m_daemon.state() == QProcess::NotRunning, 20000);
        m_address = QString::fromUtf8(m_daemon.readLine()).trimmed();
        QDBusConnection desktop = QDBusConnection::connectToBus(m_address, "desktop");
        QVERIFY(desktop.isConnected());
        QVERIFY(desktop.registerObject("/org/freedesktop/portal/desktop", &m_portal,
                                       QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals));
        QVERIFY(desktop.registerObject("/org/freedesktop/Notifications", &m_notifications,
                                       QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals));
        QVERIFY(desktop.registerService("org.freedesktop.portal.Desktop"));
        QVERIFY(desktop.registerService("org.freedesktop.Notifications"));
    }

    void withoutABusThereIsNoWish()
    {
        ui::Desktop desktop;
        QSignalSpy changed(&desktop, &ui::Desktop::schemeChanged);
        desktop.connectToBus("unix:path=/nonexistent/bus");
        QTRY_COMPARE(changed.size(), 1);
        QVERIFY(desktop.scheme() == Scheme::Unknown && !desktop.isConnected());
        desktop.notify("title", "text"); // nobody hears it
    }

    void theWishIsReadAndFollowed()
    {
        if (m_address.isEmpty())
            QSKIP("the desktop's wish needs dbus-daemon, which is not installed");
        ui::Desktop desktop;
        connect(&desktop, &ui::Desktop::schemeChanged, this, [](Scheme scheme) {
            ui::setSystemDark(scheme == Scheme::Unknown ? std::nullopt : std::optional(scheme == Scheme::Dark));
        });
        ui::applyAppearance(ui::Appearance::System);
        QVERIFY(!isDark());
        desktop.connectToBus(m_address);
        QTRY_VERIFY(desktop.scheme() == Scheme::Dark);
        QVERIFY(isDark());
        QSignalSpy changed(&desktop, &ui::Desktop::schemeChanged);
        emit m_portal.SettingChanged("org.freedesktop.appearance", "accent-color", QDBusVariant(2u));
        emit m_portal.SettingChanged("org.freedesktop.appearance", "color-scheme", QDBusVariant(2u));
        QTRY_VERIFY(desktop.scheme() == Scheme::Light);
        QCOMPARE(changed.size(), 1); // the accent colour is another setting
        QVERIFY(!isDark());
        // A choice of one's own counts more than the desktop's wish.
        ui::applyAppearance(ui::Appearance::Light);
        emit m_portal.SettingChanged("org.freedesktop.appearance", "color-scheme", QDBusVariant(1u));
        QTRY_VERIFY(desktop.scheme() == Scheme::Dark);
        QVERIFY(!isDark());
        ui::applyAppearance(ui::Appearance::System);
        QVERIFY(isDark());
        emit m_portal.SettingChanged("org.freedesktop.appearance", "color-scheme", QDBusVariant(0u));
        QTRY_VERIFY(desktop.scheme() == Scheme::Unknown);
        QVERIFY(!isDark());
    }

    void theEndOfARunIsTold()
    {
        if (m_address.isEmpty())
            QSKIP("notifications need dbus-daemon, which is not installed");
        ui::Desktop desktop;
        desktop.connectToBus(m_address);
        QTRY_VERIFY(desktop.isConnected());
        QWidget window;
        ui::Workspace workspace;
        ui::RunNotice notice(workspace, desktop, window);
        notice.setParent(nullptr);
        const auto send = [&](session::RunState state, const char* text) {
            emit workspace.bridge().eventsArrived({{61, session::StateEvent{state, text}}});
        };
        send(session::RunState::Stopped, ""); // by the user, who knows it
        send(session::RunState::Failed, "the disk is full");
        QTRY_COMPARE(m_notifications.titles.size(), 1);
        QVERIFY(m_notifications.titles.first().contains("failed"));
        QCOMPARE(m_notifications.texts.first(), QString("the disk is full"));
        ui::setNoticesWanted(false);
        send(session::RunState::Finished, "");
        ui::setNoticesWanted(true);
        QTest::qWait(0);
        QSignalSpy clicked(&desktop, &ui::Desktop::notificationClicked);
        emit m_notifications.ActionInvoked(7, "default"); // another program's
        emit m_notifications.ActionInvoked(41, "default");
        QTRY_COMPARE(clicked.size(), 1);
        QTRY_VERIFY(window.isVisible());
        window.activateWindow();
        QTRY_VERIFY(window.isActiveWindow());
        send(session::RunState::Finished, ""); // it is looked at
        window.hide();
        QTRY_VERIFY(!window.isActiveWindow());
        send(session::RunState::Finished, "");
        QTRY_COMPARE(m_notifications.titles.size(), 2);
        QVERIFY(m_notifications.titles.last().contains("finished"));
        QVERIFY(m_notifications.texts.last().contains("1:01"));
        QCOMPARE(m_notifications.replaced.last(), 41u);
    }

    void cleanupTestCase()
    {
        QDBusConnection::disconnectFromBus("desktop");
        m_daemon.kill();
        m_daemon.waitForFinished();
    }
};

LATHE_TEST_GUI(TestDesktop)

} // namespace tst_desktop

#include "tst_desktop.moc"
