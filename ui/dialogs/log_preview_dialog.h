#pragma once

#include "core/session/log_preview.h"
#include "ui/bridge/jobs.h"

#include <QDialog>
#include <QStringList>

#include <optional>

QT_BEGIN_NAMESPACE
class QLabel;
class QProgressBar;
class QPushButton;
class QStandardItemModel;
QT_END_NAMESPACE

namespace lathe::ui {

class TableView;
class Workspace;

/// What tuning logs hold, before anything is changed: the workloads of template tuners, which tasks would get records,
/// and what would be skipped and why. Then they are imported, or not. Not modal; closes with the network.
class LogPreviewDialog final : public QDialog
{
    Q_OBJECT

public:
    LogPreviewDialog(Workspace& workspace, const QStringList& files, QWidget* parent);

signals:
    void importWanted(const QStringList& files);

private:
    /// A table with a heading; hidden while it has no rows.
    struct Part
    {
        QLabel* title = nullptr;
        TableView* table = nullptr;
        QStandardItemModel* rows = nullptr;
    };
    Part makePart(const char* name, std::initializer_list<int> widths);
    void makeWidgets();
    void read();
    void retranslate();
    void fillPart(const Part& part, const QString& title, const QStringList& headings, const QList<QStringList>& rows,
                  std::initializer_list<int> numbers);
    void fillWorkloads();
    void fillTasks();
    void fillSkipped();
    QString taskName(std::int32_t task) const;
    QString introText() const;
    bool hasNews() const;

    Workspace& m_workspace;
    QStringList m_files;
    std::optional<session::LogPreview> m_preview; ///< nothing: it is being read, or cannot be
    std::optional<Error> m_problem;
    QLabel* m_intro = nullptr;
    QProgressBar* m_progress = nullptr;
    Part m_workloads, m_tasks, m_skipped;
    QPushButton *m_import = nullptr, *m_cancel = nullptr;
    JobLane m_jobs; ///< last: what it tells uses the widgets
};

} // namespace lathe::ui
