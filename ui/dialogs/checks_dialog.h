#pragma once

#include "core/session/report/checks.h"
#include "ui/models/history_reader.h"

#include <QDialog>

#include <vector>

QT_BEGIN_NAMESPACE
class QLabel;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// The report's checks of the open project, and what the rules found, with a cure each. Follows the workspace; not
/// modal.
class ChecksDialog final : public QDialog
{
    Q_OBJECT

public:
    ChecksDialog(Workspace& workspace, QWidget* parent);

private:
    void read();
    void fill();
    Workspace& m_workspace;
    HistoryReader m_reader;
    std::vector<session::Check> m_checks;
    QLabel* m_problem = nullptr;
    QTreeWidget *m_list = nullptr, *m_findings = nullptr;
};

} // namespace lathe::ui
