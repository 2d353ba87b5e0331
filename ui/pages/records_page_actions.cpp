// What a person does with the listed trials: copies, exports, measures again, notes.

#include "ui/bridge/trial_jobs.h"
#include "ui/commands/window_actions.h"
#include "ui/models/command_line.h"
#include "ui/models/history_reader.h"
#include "ui/models/record_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/record_detail_page.h"
#include "ui/pages/records_page.h"
#include "ui/views/record_table.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QHeaderView>
#include <QLocale>

namespace lathe::ui {

namespace {

constexpr std::size_t kMaxCopied = 20000;
constexpr std::size_t kMostAgain = 1000; ///< trials that are measured again at once

} // namespace

void RecordsPage::contribute(WindowActions& actions)
{
    actions.add("records.remeasure", QT_TRANSLATE_NOOP("Actions", "Measure the selected tr&ials again"), {},
                MenuPlace{MenuSection::EditNotes, 30}, [this] {
                    emit frontRequested();
                    remeasureSelected();
                });
    actions.add("records.note", QT_TRANSLATE_NOOP("Actions", "N&ote on the selected trial"),
                {Qt::CTRL | Qt::SHIFT | Qt::Key_N}, MenuPlace{MenuSection::EditNotes, 10}, [this] {
                    emit frontRequested();
                    writeNote();
                });
    actions.addCommandLine(
        "copy.records", QT_TRANSLATE_NOOP("Actions", "Copy command line: list the recor&ds"), 90,
        [](const session::OpenOptions& open) { return recordsCommand(QString::fromStdString(open.project.string())); });
}

void RecordsPage::copyCommand(const QString& command)
{
    QApplication::clipboard()->setText(command);
    m_workspace.log(tr("Copied: %1").arg(command));
}

void RecordsPage::withSelected(std::size_t most, std::function<void(std::vector<session::TrialRow>)> then)
{
    std::vector<std::int64_t> rows;
    // Ranges, not indexes: of a million selected rows the first are wanted.
    for (const QItemSelectionRange& range : m_table->selectionModel()->selection())
        for (int row = range.top(); row <= range.bottom() && rows.size() < most; ++row)
            rows.push_back(m_model->rowIds()[static_cast<std::size_t>(row)]);
    m_exporter->ask([rows](session::History& history, std::stop_token) { return history.rows(rows); },
                    [this, then = std::move(then)](Result<std::vector<session::TrialRow>> read) {
                        if (read)
                            then(*std::move(read));
                        else
                            m_workspace.addIssue(tr("records"), read.error());
                    });
}

void RecordsPage::copyRows()
{
    withSelected(kMaxCopied, [this](const std::vector<session::TrialRow>& rows) {
        // The columns as they are shown.
        std::vector<int> columns;
        for (int visual = 0; visual < RecordModel::ColumnCount; ++visual)
            if (const int column = m_table->horizontalHeader()->logicalIndex(visual); !m_table->isColumnHidden(column))
                columns.push_back(column);
        QStringList heading;
        for (const int column : columns)
            heading << m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        QString text = heading.join(QLatin1Char('\t')) + QLatin1Char('\n');
        const QStringList names = taskNames();
        for (const session::TrialRow& row : rows) {
            const auto texts = RecordModel::texts(row, names);
            QStringList cells;
            for (const int column : columns)
                cells << QString(texts[static_cast<std::size_t>(column)]).replace(QLatin1Char('\t'), QLatin1Char(' '));
            text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
        }
        QApplication::clipboard()->setText(text);
    });
}

void RecordsPage::remeasureSelected()
{
    qsizetype selected = 0;
    for (const QItemSelectionRange& range : m_table->selectionModel()->selection())
        selected += range.height();
    if (selected > static_cast<qsizetype>(kMostAgain))
        m_workspace.log(tr("The first %1 of the selected trials are measured again").arg(kMostAgain));
    withSelected(kMostAgain, [this](const std::vector<session::TrialRow>& rows) {
        std::vector<std::string> trials;
        for (const session::TrialRow& row : rows)
            trials.push_back(row.trial);
        m_workspace.trialJobs().remeasure(std::move(trials));
    });
}

void RecordsPage::writeNote()
{
    if (auto* note = m_detail->findChild<QWidget*>(QStringLiteral("recordNote")))
        note->setFocus(Qt::ShortcutFocusReason);
}

void RecordsPage::exportRows()
{
    if (m_exporting || m_model->rowCount() == 0)
        return;
    QString chosen;
    QString name = QFileDialog::getSaveFileName(
        this,
        m_model->rowCount() == 1 ? tr("Export one trial")
                                 : tr("Export %1 trials").arg(QLocale().toString(m_model->rowCount())),
        QStringLiteral("records.csv"), tr("CSV (*.csv);;JSON lines (*.jsonl)"), &chosen);
    if (name.isEmpty())
        return;
    const bool lines = name.endsWith(QStringLiteral(".jsonl"))
                       || (chosen.contains(QStringLiteral("jsonl")) && !name.endsWith(QStringLiteral(".csv")));
    if (lines && !name.endsWith(QStringLiteral(".jsonl")))
        name += QStringLiteral(".jsonl");
    m_exporting = true;
    updateCount();
    m_exporter->ask(
        [rows = m_model->rowIds(), file = name.toStdString(),
         format = lines ? session::TrialFile::JsonLines : session::TrialFile::Csv](
            session::History& history, std::stop_token stop) { return history.write(rows, file, format, stop); },
        [this, name](Result<> written) {
            m_exporting = false;
            updateCount();
            if (written)
                m_workspace.log(tr("Exported the list to %1").arg(name));
            else
                m_workspace.addIssue(tr("export"), written.error());
        });
}

void RecordsPage::copyRemeasureCommand()
{
    withSelected(kMostAgain, [this](const std::vector<session::TrialRow>& rows) {
        QStringList trials;
        for (const session::TrialRow& row : rows)
            trials << QString::fromStdString(row.trial.substr(0, 12));
        if (m_workspace.session() != nullptr)
            copyCommand(remeasureCommand(m_workspace.session()->options(), trials));
    });
}

void RecordsPage::copyExportCommand()
{
    const session::TrialQuery& query = m_model->query();
    if (m_workspace.session() != nullptr)
        copyCommand(exportTrialsCommand(m_workspace.session()->options(), query, taskName(query.task),
                                        QStringLiteral("csv"), QStringLiteral("records.csv")));
}

} // namespace lathe::ui
