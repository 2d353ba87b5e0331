#include "ui/views/graph_layouter.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QFileInfo>
#include <QProcess>
#include <QSaveFile>
#include <QStandardPaths>

#include <utility>

namespace lathe::ui {

namespace {

using namespace std::chrono_literals;

constexpr auto kDeadline = 8s; // ten times what the slowest network known takes
// Part of each name: answers of other versions of lathe-layout are never taken.
constexpr char kVersion[] = "2";

} // namespace

GraphLayouter::GraphLayouter(QObject* parent)
    : QObject(parent)
    , m_program(findProgram())
    , m_cache(QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/layouts"))
{
    m_deadline.setSingleShot(true);
    m_deadline.setInterval(kDeadline);
    connect(&m_deadline, &QTimer::timeout, this, [this] {
        giveUp(tr("The graph layout took longer than %1 s and was stopped.")
                   .arg(static_cast<double>(m_deadline.interval()) / 1000));
    });
}

GraphLayouter::~GraphLayouter()
{
    cancel();
    for (QProcess* process : findChildren<QProcess*>())
        process->waitForFinished(1000); // it was killed: this takes no time
}

QString GraphLayouter::findProgram()
{
    const QDir here(QCoreApplication::applicationDirPath());
    for (const char* place : {"lathe-layout", "../bin/lathe-layout"})
        if (const QFileInfo file(here.filePath(QLatin1String(place))); file.isExecutable())
            return file.canonicalFilePath();
    return here.filePath(QStringLiteral("lathe-layout")); // to be named where it is missed
}

std::optional<GraphLayout> GraphLayouter::ask(const GraphShape& shape)
{
    cancel();
    m_shape = shape;
    const QByteArray question = layoutQuestion(shape);
    m_name = QString::fromLatin1(QCryptographicHash::hash(kVersion + question, QCryptographicHash::Sha256).toHex());
    QFile known(m_cache.filePath(m_name));
    if (known.open(QIODevice::ReadWrite | QIODevice::ExistingOnly)) {
        if (auto layout = readLayout(qUncompress(known.readAll()), shape)) {
            known.setFileTime(QDateTime::currentDateTime(),
                              QFileDevice::FileModificationTime); // the longest unused go first
            return layout;
        }
        known.remove();
    }
    m_process = new QProcess(this);
    connect(m_process, &QProcess::finished, this, &GraphLayouter::finish);
    connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            giveUp(tr("Cannot start the graph layout program lathe-layout (%1): install Lathe again.").arg(m_program));
    });
    m_deadline.start();
    m_process->start(m_program, {});
    if (m_process != nullptr) { // a start can fail at once
        m_process->write(question);
        m_process->closeWriteChannel();
    }
    return std::nullopt;
}

void GraphLayouter::cancel()
{
    m_deadline.stop();
    if (QProcess* process = std::exchange(m_process, nullptr)) {
        process->disconnect(this);
        connect(process, &QProcess::finished, process, &QObject::deleteLater);
        if (process->state() == QProcess::NotRunning)
            process->deleteLater();
        process->kill();
    }
}

void GraphLayouter::giveUp(const QString& sentence)
{
    cancel();
    emit failed(sentence);
}

void GraphLayouter::finish()
{
    const QByteArray answer = m_process->readAllStandardOutput();
    const QString complaint =
        QString::fromLocal8Bit(m_process->readAllStandardError()).section(QLatin1Char('\n'), 0, 0).trimmed();
    if (m_process->exitStatus() == QProcess::CrashExit) {
        giveUp(tr("The graph layout program crashed."));
    } else if (auto layout = readLayout(answer, m_shape)) {
        cancel();
        remember(answer);
        emit laidOut(*layout);
    } else {
        giveUp(complaint.isEmpty() ? tr("The graph layout program returned no layout.")
                                   : tr("The graph layout program failed: %1").arg(complaint));
    }
}

void GraphLayouter::remember(const QByteArray& answer)
{
    // Without a folder for it, or with a full disk, the next time asks again: nothing is lost.
    if (!m_cache.mkpath(QStringLiteral(".")))
        return;
    QSaveFile file(m_cache.filePath(m_name));
    if (!file.open(QIODevice::WriteOnly) || file.write(qCompress(answer)) < 0 || !file.commit())
        return;
    qint64 bytes = 0;
    for (const QFileInfo& info : m_cache.entryInfoList(QDir::Files, QDir::Time)) { // newest first
        bytes += info.size();
        if (bytes > m_cacheLimit)
            QFile::remove(info.filePath());
    }
}

} // namespace lathe::ui
