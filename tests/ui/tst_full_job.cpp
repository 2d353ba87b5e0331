#include "tests/support/test_program.h"
#include "tests/ui/desktop.h"

#include <QDeadlineTimer>
#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>

#include <csignal>

namespace tst_full_job {

/// The whole job as a person does it, in the real program on a screen, with the keyboard alone: open resnet-18, tune,
/// watch, pause, have the program killed, reopen, resume, export, compare with an earlier run, report. What came of it
/// is read from the files that the program left, by the command line's program.
///
/// LATHE_JOB_SECONDS: how long it tunes (30). LATHE_SCREENSHOTS: a folder that gets a picture of each station.
class TestFullJob : public QObject
{
    Q_OBJECT

    Desktop m_desktop;
    QTemporaryDir m_home;
    QProcess m_window;
    double m_seconds = 30;
    QSet<QString> m_before; ///< trials known before the kill

    QString program(const char* name) const
    {
        return QCoreApplication::applicationDirPath() + QStringLiteral("/../bin/") + QLatin1String(name);
    }
    QString project() const { return m_home.filePath(QStringLiteral(".local/share/Lathe/Lathe/resnet-18.lathe")); }
    QString earlier() const { return m_home.filePath(QStringLiteral("earlier.lathe")); }
    QString library() const { return m_home.filePath(QStringLiteral("libresnet-18.so")); }

    QStringList reports() const
    {
        QStringList found;
        for (const QFileInfo& file : QFileInfo(project()).dir().entryInfoList({QStringLiteral("*.html")}, QDir::Files))
            found << file.absoluteFilePath();
        return found;
    }
    QByteArray settings() const
    {
        QFile file(m_home.filePath(QStringLiteral(".config/Lathe/Lathe.conf")));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QProcessEnvironment environment() const
    {
        QProcessEnvironment environment = m_desktop.environment();
        environment.insert(QStringLiteral("HOME"), m_home.path());
        environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), m_home.path());
        for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
            environment.remove(QLatin1String(name));
        return environment;
    }

    QByteArray cli(const QStringList& words, int expected = 0)
    {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.start(program("lathe-cli"), words);
        if (!process.waitForFinished(300000) || process.exitCode() != expected)
            qWarning() << words << process.exitCode() << process.readAllStandardError();
        return process.exitCode() == expected ? process.readAllStandardOutput() : QByteArray();
    }

    QSet<QString> trials()
    {
        QSet<QString> ids;
        if (!QFileInfo::exists(project()))
            return ids;
        for (const QJsonValue& row : QJsonDocument::fromJson(cli({QStringLiteral("records"), QStringLiteral("list"),
                                                                  project(), QStringLiteral("--json")}))
                                         .array())
            ids.insert(row.toObject()[QStringLiteral("trial")].toString());
        return ids;
    }

    /// Whether there are more within five minutes: QTRY_VERIFY counts its own pauses, not the time that the asking
    /// takes.
    bool more(qsizetype than)
    {
        for (const QDeadlineTimer end(std::chrono::minutes(5)); !end.hasExpired(); QTest::qWait(500))
            if (trials().size() > than)
                return true;
        return false;
    }

    void launch(const QStringList& words = {})
    {
        m_window.setProcessEnvironment(environment());
        m_window.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_window.start(program("lathe"), words);
        QVERIFY(m_window.waitForStarted());
        QVERIFY2(!m_desktop.focus(QStringLiteral("Lathe$")).isEmpty(), "no window came up");
    }

    /// A picture of the station; a screen of one colour, or nearly, is a window that was not painted.
    void look(const char* name)
    {
        QTest::qWait(1500); // what a person would wait before looking
        const QImage image = m_desktop.screen();
        QVERIFY(!image.isNull());
        QSet<QRgb> colors;
        for (int y = 0; y < image.height(); y += 2)
            for (int x = 0; x < image.width(); x += 2)
                colors.insert(image.pixel(x, y));
        QVERIFY2(colors.size() > 50, name);
        if (const QString folder = qEnvironmentVariable("LATHE_SCREENSHOTS"); !folder.isEmpty())
            QVERIFY(image.save(QDir(folder).filePath(QLatin1String(name) + QStringLiteral(".png"))));
    }

    /// Runs the command whose text the palette finds by these letters.
    void command(const QString& letters)
    {
        m_desktop.key(QStringLiteral("ctrl+shift+p"));
        QTest::qWait(500);
        m_desktop.type(letters);
        QTest::qWait(300);
        m_desktop.key(QStringLiteral("Return"));
        QTest::qWait(500);
    }

private slots:
    void initTestCase()
    {
        if (const QString what = Desktop::missing(); !what.isEmpty())
            QSKIP(qPrintable(what));
        if (const double given = qEnvironmentVariable("LATHE_JOB_SECONDS").toDouble(); given > 0)
            m_seconds = given;
        QVERIFY(m_desktop.start(QSize(1280, 800)));
    }

    void cleanup()
    {
        if (QTest::currentTestFailed() && !qEnvironmentVariable("LATHE_SCREENSHOTS").isEmpty())
            m_desktop.screen().save(
                QDir(qEnvironmentVariable("LATHE_SCREENSHOTS")).filePath(QStringLiteral("failed.png")));
    }

    void cleanupTestCase()
    {
        m_window.terminate();
        if (!m_window.waitForFinished(30000))
            m_window.kill();
        m_window.waitForFinished(5000);
    }

    void anEarlierRunIsThere()
    {
        QVERIFY(!cli({QStringLiteral("tune"), QStringLiteral("zoo:resnet-18"), QStringLiteral("--project"), earlier(),
                      QStringLiteral("--trials"), QStringLiteral("40"), QStringLiteral("--trials-per-round"),
                      QStringLiteral("2"), QStringLiteral("--json")})
                     .isEmpty());
    }

    void aNetworkOfTheZooIsOpenedFromTheStartPage()
    {
        launch();
        look("1_start");
        m_desktop.key(QStringLiteral("alt+n"));
        m_desktop.type(QStringLiteral("resnet-18"));
        m_desktop.key(QStringLiteral("Return"));
        QVERIFY(!m_desktop.focus(QStringLiteral("^zoo:resnet-18")).isEmpty());
        look("2_opened");
    }

    void tuningFillsTheProjectAndPauseHoldsIt()
    {
        m_desktop.key(QStringLiteral("alt+b"));
        m_desktop.type(QStringLiteral("50 min")); // it is stopped by hand, however slow this build is
        m_desktop.key(QStringLiteral("F5"));
        QVERIFY(more(20));
        look("3_tuning");
        QTest::qWait(static_cast<int>(m_seconds * 500)); // half of the time; the rest comes after the kill
        m_desktop.key(QStringLiteral("F7"));
        // The round that goes on is finished first.
        qsizetype count = -1;
        int same = 0;
        for (int i = 0; i < 60 && same < 3; ++i) {
            QTest::qWait(2000);
            const qsizetype now = trials().size();
            same = now == count ? same + 1 : 0;
            count = now;
        }
        QVERIFY2(same == 3, "the run goes on although it was paused");
        look("4_paused");
        m_desktop.key(QStringLiteral("F7"));
        QVERIFY(more(count));
    }

    void killedAndReopenedNothingIsLost()
    {
        m_before = trials();
        QVERIFY(m_before.size() > 20);
        ::kill(static_cast<pid_t>(m_window.processId()), SIGKILL);
        QVERIFY(m_window.waitForFinished(10000));
        launch();
        look("5_reopened");
        m_desktop.key(QStringLiteral("ctrl+shift+t"));
        QVERIFY(!m_desktop.focus(QStringLiteral("resnet-18.* – Lathe$")).isEmpty());
        const QSet<QString> after = trials();
        QVERIFY2(after.contains(m_before), "trials were lost");
        m_before = after;
    }

    void theRunIsResumed()
    {
        QTest::qWait(3000);
        m_desktop.key(QStringLiteral("F6"));
        QVERIFY(more(m_before.size() + 20));
        look("6_resumed");
        QTest::qWait(static_cast<int>(m_seconds * 500));
        m_desktop.key(QStringLiteral("shift+F5"));
        QTest::qWait(15000); // the run ends in order: its last measurement of the whole network
        QVERIFY(trials().contains(m_before));
    }

    void theLibraryIsExportedAndRight()
    {
        m_desktop.key(QStringLiteral("ctrl+e"));
        QVERIFY(!m_desktop.focus(QStringLiteral("^Export")).isEmpty());
        look("7_export");
        m_desktop.key(QStringLiteral("alt+e"));
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(library()), 300000);
        look("8_exported");
        m_desktop.key(QStringLiteral("Escape"));
        QVERIFY2(!cli({QStringLiteral("verify"), library()}).isEmpty(), "the library does not compute the network");
        QVERIFY(!m_desktop.focus(QStringLiteral("resnet-18.* – Lathe$")).isEmpty());
    }

    void anEarlierRunIsCompared()
    {
        m_desktop.key(QStringLiteral("alt+6"));
        QTest::qWait(1000);
        m_desktop.key(QStringLiteral("alt+p"));
        QVERIFY(!m_desktop.focus(QStringLiteral("^Compare with")).isEmpty());
        m_desktop.type(earlier());
        m_desktop.key(QStringLiteral("Return"));
        // What is pinned is remembered with the window's settings.
        QTRY_VERIFY_WITH_TIMEOUT(settings().contains("earlier.lathe"), 30000);
        QVERIFY(!m_desktop.focus(QStringLiteral("resnet-18.* – Lathe$")).isEmpty());
        look("9_compared");
        const QByteArray told = cli({QStringLiteral("compare"), earlier(), project(), QStringLiteral("--json")});
        QVERIFY(QJsonDocument::fromJson(told).isObject());
    }

    void theReportIsWritten()
    {
        m_desktop.key(QStringLiteral("ctrl+shift+r"));
        QVERIFY(!m_desktop.focus(QStringLiteral("^Report$")).isEmpty());
        m_desktop.key(QStringLiteral("alt+w"));
        QTRY_VERIFY_WITH_TIMEOUT(!reports().isEmpty(), 60000);
        look("10_reported");
        QFile file(reports().first());
        QTRY_VERIFY(file.size() > 10000);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray page = file.readAll();
        QVERIFY(page.contains("resnet-18") && page.contains("<svg") && page.trimmed().endsWith("</html>"));
        QVERIFY2(!page.contains("src=\"http") && !page.contains("href=\"http"), "the report is to stand alone");
        m_desktop.key(QStringLiteral("Escape"));
    }
};

LATHE_TEST_GUILESS(TestFullJob)

} // namespace tst_full_job

#include "tst_full_job.moc"
