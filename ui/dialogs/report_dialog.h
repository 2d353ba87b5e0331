#pragma once

#include "ui/bridge/jobs.h"

#include <QDialog>

QT_BEGIN_NAMESPACE
class QLabel;
class QLineEdit;
class QPushButton;
QT_END_NAMESPACE

namespace lathe::ui {

/// Writes a project's report as one HTML file, and opens it. Not modal.
class ReportDialog final : public QDialog
{
    Q_OBJECT

public:
    ReportDialog(const QString& project, const QString& suggestedFile, QWidget* parent = nullptr);

private:
    void write();
    void updateButtons();
    void retranslate();

    QString m_project;
    JobLane m_jobs{JobLane::Width::OneByOne, JobLane::Work::IsAlwaysDone}; ///< also when the dialog is closed meanwhile
    Job m_writing;
    bool m_written = false;
    QLabel *m_label = nullptr, *m_command = nullptr, *m_result = nullptr, *m_about = nullptr;
    QLineEdit* m_file = nullptr;
    QPushButton *m_browse = nullptr, *m_write = nullptr, *m_open = nullptr, *m_copy = nullptr, *m_close = nullptr;
};

} // namespace lathe::ui
