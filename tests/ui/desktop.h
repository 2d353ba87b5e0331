#pragma once

#include <QElapsedTimer>
#include <QImage>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtEndian>
#include <QtTest>

/// A virtual screen of its own (Xvfb) with a real keyboard (xdotool), for tests that use the program as a person does:
/// there is nothing between them and the window but keys and what the screen shows. No window manager runs; focus is
/// set by name.
class Desktop
{
public:
    /// Empty if a desktop can be had, else which package is missing.
    static QString missing()
    {
        for (const char* program : {"Xvfb", "xdotool"})
            if (QStandardPaths::findExecutable(QLatin1String(program)).isEmpty())
                return QStringLiteral("%1 is not installed (packaging/dependencies, section test)")
                    .arg(QLatin1String(program));
        return {};
    }

    ~Desktop()
    {
        m_server.terminate();
        m_server.waitForFinished(5000);
    }

    bool start(const QSize& size)
    {
        m_server.setProcessChannelMode(QProcess::SeparateChannels);
        // Without -noreset the server starts over when its last client was killed, and turns the next one away
        // meanwhile.
        m_server.start(QStringLiteral("Xvfb"),
                       {QStringLiteral("-noreset"), QStringLiteral("-displayfd"), QStringLiteral("1"),
                        QStringLiteral("-nolisten"), QStringLiteral("tcp"), QStringLiteral("-fbdir"), m_frames.path(),
                        QStringLiteral("-screen"), QStringLiteral("0"),
                        QStringLiteral("%1x%2x24").arg(size.width()).arg(size.height())});
        if (!m_server.waitForStarted())
            return false;
        while (!m_server.canReadLine())
            if (!m_server.waitForReadyRead(20000))
                return false;
        m_display = QStringLiteral(":") + QString::fromLatin1(m_server.readLine().trimmed());
        return true;
    }

    /// For programs that are to show themselves here.
    QProcessEnvironment environment() const
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("DISPLAY"), m_display);
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("xcb"));
        environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
        return environment;
    }

    /// The visible window whose title matches, or "" after the wait; it gets the keyboard.
    QString focus(const QString& title, int waitMs = 30000) const
    {
        QElapsedTimer timer;
        timer.start();
        do {
            const QString found = run({QStringLiteral("search"), QStringLiteral("--onlyvisible"),
                                       QStringLiteral("--name"), title})
                                      .section(QLatin1Char('\n'), 0, 0);
            if (!found.isEmpty()) {
                run({QStringLiteral("windowfocus"), QStringLiteral("--sync"), found});
                return found;
            }
            QTest::qWait(100);
        } while (timer.elapsed() < waitMs);
        return {};
    }

    void key(const QString& keys) const { run({QStringLiteral("key"), QStringLiteral("--clearmodifiers"), keys}); }
    void type(const QString& text) const { run({QStringLiteral("type"), QStringLiteral("--clearmodifiers"), text}); }

    /// What the screen shows now. Xvfb keeps it in a file in the format XWD: a header of big-endian words, a table of
    /// colours of 12 bytes each, and rows of 32 bits a pixel.
    QImage screen() const
    {
        QFile file(m_frames.filePath(QStringLiteral("Xvfb_screen0")));
        if (!file.open(QIODevice::ReadOnly))
            return {};
        const QByteArray bytes = file.readAll();
        const auto word = [&bytes](int index) { return qFromBigEndian<quint32>(bytes.constData() + index * 4); };
        if (bytes.size() < 100 || word(11) != 32) // bits per pixel
            return {};
        const qsizetype width = word(4), height = word(5), stride = word(12), start = word(0) + word(19) * 12;
        if (start + stride * height > bytes.size())
            return {};
        return QImage(reinterpret_cast<const uchar*>(bytes.constData()) + start, static_cast<int>(width),
                      static_cast<int>(height), stride, QImage::Format_RGB32)
            .copy();
    }

private:
    QString run(const QStringList& words) const
    {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.start(QStringLiteral("xdotool"), words);
        process.waitForFinished(20000);
        return QString::fromUtf8(process.readAllStandardOutput()).trimmed();
    }

    QProcess m_server;
    QTemporaryDir m_frames;
    QString m_display;
};
