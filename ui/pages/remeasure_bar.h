#pragma once

#include "core/session/session.h"

#include <QWidget>

#include <vector>

QT_BEGIN_NAMESPACE
class QLabel;
class QProgressBar;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class TrialJobs;
class Workspace;

/// How far the trials are that are measured again, or the logs that are imported, with a way to stop; afterwards what
/// came of it. Hidden until there is something to say.
class RemeasureBar final : public QWidget
{
    Q_OBJECT

public:
    enum class Tells
    {
        Measured,
        MeasuredAndImported
    };

    RemeasureBar(Workspace& workspace, Tells tells, QWidget* parent);

    /// "Measured again: 2 valid, 1 failed. ..."
    static QString outcome(const std::vector<session::RemeasuredTrial>& trials);

private:
    void show(const QString& text, bool going);
    void tellImports(TrialJobs& jobs);

    QLabel* m_text = nullptr;
    QProgressBar* m_progress = nullptr;
    QToolButton *m_stop = nullptr, *m_close = nullptr;
};

} // namespace lathe::ui
