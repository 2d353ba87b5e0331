#pragma once

#include "core/session/session.h"

#include <QDialog>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTableWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class SessionBridge;

/// Export of a deploy library: where to, progress, then what each function runs, the verified error and the measured time.
/// Not modal: the run goes on behind it.
class ExportDialog final : public QDialog
{
    Q_OBJECT

public:
    ExportDialog(SessionBridge& bridge, const QString& suggestedFile, QWidget* parent = nullptr);

private:
    void exportNow();
    void showReport(const session::CompileReport& report);
    void showCommand();
    session::CompileOptions options() const;

    SessionBridge& m_bridge;
    QLineEdit* m_file = nullptr;
    QCheckBox* m_allowDefault = nullptr;
    QCheckBox* m_verify = nullptr;
    QCheckBox* m_benchmark = nullptr;
    QLabel* m_command = nullptr;
    QProgressBar* m_progress = nullptr;
    QLabel* m_result = nullptr;
    QTableWidget* m_coverage = nullptr;
    QPushButton* m_export = nullptr;
};

} // namespace lathe::ui
