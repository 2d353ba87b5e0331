#pragma once

#include "ui/views/graph_layout.h"

#include <QDir>
#include <QObject>
#include <QTimer>

#include <chrono>

QT_BEGIN_NAMESPACE
class QProcess;
QT_END_NAMESPACE

namespace lathe::ui {

/// Asks the program lathe-layout for layouts, one at a time, and remembers its answers on disk by what was asked. GUI
/// thread; never waits.
class GraphLayouter final : public QObject
{
    Q_OBJECT

public:
    explicit GraphLayouter(QObject* parent = nullptr);
    ~GraphLayouter() override;

    /// What is remembered comes at once; else laidOut() or failed() follows. What was asked before is given up.
    std::optional<GraphLayout> ask(const GraphShape& shape);
    void cancel();
    bool isWaiting() const { return m_process != nullptr; }

    /// lathe-layout beside this program, or in the bin folder next to that.
    static QString findProgram();
    void setProgram(const QString& program) { m_program = program; }
    void setDeadline(std::chrono::milliseconds deadline) { m_deadline.setInterval(deadline); }
    void setCacheFolder(const QString& folder) { m_cache = QDir(folder); }
    void setCacheLimit(qint64 bytes) { m_cacheLimit = bytes; }

signals:
    void laidOut(const lathe::ui::GraphLayout& layout);
    void failed(const QString& sentence);

private:
    void finish();
    void giveUp(const QString& sentence);
    void remember(const QByteArray& answer);

    QString m_program;
    QDir m_cache;
    qint64 m_cacheLimit = qint64(16) << 20;
    QProcess* m_process = nullptr; ///< null: nothing is asked
    QTimer m_deadline;
    GraphShape m_shape;
    QString m_name; ///< of the answer's file
};

} // namespace lathe::ui
