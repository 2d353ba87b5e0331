#pragma once

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRandomGenerator>
#include <QSet>
#include <QTemporaryDir>
#include <QUuid>
#include <QtTest>

#include <csignal>

namespace lathe::test {

/// What is stored of a trial that another run with the same results would have, too.
struct StoredTrial
{
    QString candidate, status;
    double costMs = 0;
    bool operator==(const StoredTrial&) const = default;
};

/// A folder for a run whose programs are killed: they keep their temporary files in it, and carry a mark in their
/// environment, by which those that outlived the others are found.
class KilledRun
{
public:
    KilledRun()
    {
        QDir(m_dir.path()).mkdir(QStringLiteral("tmp"));
        QDir(m_dir.path()).mkdir(QStringLiteral("projects"));
        QDir(m_dir.path()).mkdir(QStringLiteral("home"));
        QFile::setPermissions(m_dir.filePath(QStringLiteral("home")),
                              QFile::ReadOwner | QFile::WriteOwner
                                  | QFile::ExeOwner); // a runtime folder must be private
    }

    static QString program(const char* name)
    {
        return QCoreApplication::applicationDirPath() + QStringLiteral("/../bin/") + QLatin1String(name);
    }
    QString project(const char* name) const
    {
        return m_dir.filePath(QStringLiteral("projects/") + QLatin1String(name));
    }

    QProcessEnvironment environment() const
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("TMPDIR"), m_dir.filePath(QStringLiteral("tmp")));
        environment.insert(QStringLiteral("HOME"), m_dir.filePath(QStringLiteral("home")));
        environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), m_dir.filePath(QStringLiteral("home")));
        for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
            environment.remove(QLatin1String(name));
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        environment.insert(QStringLiteral("LATHE_TEST_MARK"), m_mark);
        return environment;
    }

    /// Processes of this run that live: pid -> program's name.
    QMap<pid_t, QString> processes() const
    {
        QMap<pid_t, QString> found;
        const QByteArray mark = QByteArrayLiteral("LATHE_TEST_MARK=") + m_mark.toLatin1();
        for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            bool isNumber = false;
            const pid_t pid = entry.toInt(&isNumber);
            if (isNumber
                && read(QStringLiteral("/proc/%1/environ").arg(pid)).split('\0').contains(mark)) // a zombie has none
                found[pid] = QFileInfo(QFile::symLinkTarget(QStringLiteral("/proc/%1/exe").arg(pid))).fileName();
        }
        return found;
    }

    /// What programs left in the places where they keep temporary files, and beside the projects.
    QStringList leftovers() const
    {
        QStringList found = QDir(m_dir.filePath(QStringLiteral("tmp")))
                                .entryList(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot);
        for (const QString& file :
             QDir(m_dir.filePath(QStringLiteral("projects")))
                 .entryList(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot))
            if (!file.endsWith(QStringLiteral(".lathe")))
                found << file;
        return found + (sharedMemory() - m_sharedBefore).values();
    }

    /// By (round, index), without what the finals measured again; ids of all into `ids`.
    QMap<QPair<int, int>, StoredTrial> stored(const QString& project, QSet<QString>& ids) const
    {
        QProcess list;
        list.setProcessEnvironment(environment());
        list.start(program("lathe-cli"),
                   {QStringLiteral("records"), QStringLiteral("list"), project, QStringLiteral("--json")});
        QMap<QPair<int, int>, StoredTrial> found;
        if (!list.waitForFinished(60000) || list.exitCode() != 0)
            return found;
        for (const QJsonValue& row : QJsonDocument::fromJson(list.readAllStandardOutput()).array()) {
            const QJsonObject record = row.toObject();
            ids.insert(record[QStringLiteral("trial")].toString());
            if (record[QStringLiteral("round")].toInt() < 0)
                continue;
            found[{record[QStringLiteral("round")].toInt(), record[QStringLiteral("index")].toInt()}] = {
                record[QStringLiteral("candidate")].toString(), record[QStringLiteral("status")].toString(),
                record[QStringLiteral("cost_ms")].toDouble()};
        }
        return found;
    }

private:
    static QByteArray read(const QString& file)
    {
        QFile in(file);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }
    static QSet<QString> sharedMemory()
    {
        const QStringList names = QDir(QStringLiteral("/dev/shm"))
                                      .entryList({QStringLiteral("lathe*")},
                                                 QDir::AllEntries | QDir::Hidden | QDir::System);
        return QSet<QString>(names.begin(), names.end());
    }

    QTemporaryDir m_dir;
    QString m_mark = QUuid::createUuid().toString(QUuid::WithoutBraces);
    QSet<QString> m_sharedBefore = sharedMemory();
};

/// $LATHE_KILLS, else what a test does in passing.
inline int killsWanted(int few)
{
    const int given = qEnvironmentVariable("LATHE_KILLS").toInt();
    return given > 0 ? given : few;
}

/// Of $LATHE_TEST_SEED, else of chance; says which.
inline QRandomGenerator seededRandom()
{
    bool given = false;
    quint32 seed = qEnvironmentVariable("LATHE_TEST_SEED").toUInt(&given);
    if (!given)
        seed = QRandomGenerator::global()->generate();
    qInfo("LATHE_TEST_SEED=%u", seed);
    return QRandomGenerator(seed);
}

} // namespace lathe::test
