#include "ui/dialogs/log_preview_dialog.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/core_text.h"
#include "ui/models/farm_texts.h"
#include "ui/models/language.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/table_view.h"
#include "ui/views/write_access.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kPreviewSteps = 1000; ///< of the progress bar
constexpr int kRowsShown = 8; ///< that a table asks for room for

QString previewNumber(std::int64_t value)
{
    return QLocale().toString(static_cast<qlonglong>(value));
}

} // namespace

LogPreviewDialog::LogPreviewDialog(Workspace& workspace, const QStringList& files, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_files(files)
{
    setObjectName(QStringLiteral("logPreviewDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    makeWidgets();
    connect(&workspace.bridge(), &SessionBridge::closing, this, &QDialog::close);
    connect(m_cancel, &QPushButton::clicked, this, &QDialog::close);
    connect(m_import, &QPushButton::clicked, this, [this] {
        emit importWanted(m_files);
        close();
    });
    retranslated(this, [this] { retranslate(); });
    resize(QSize(880, 520).boundedTo(this->screen()->availableSize() * 0.85));
    read();
}

LogPreviewDialog::Part LogPreviewDialog::makePart(const char* name, std::initializer_list<int> widths)
{
    Part part;
    part.title = new QLabel(this);
    part.rows = new QStandardItemModel(0, static_cast<int>(widths.size()), this);
    part.table = new TableView(name, this);
    part.table->setModel(part.rows);
    int column = 0;
    for (const int width : widths)
        part.table->setColumnWidth(column++, width);
    part.table->horizontalHeader()->setStretchLastSection(true);
    part.table->restoreColumns();
    part.title->setBuddy(part.table);
    return part;
}

void LogPreviewDialog::makeWidgets()
{
    m_intro = new QLabel(this);
    m_intro->setObjectName(QStringLiteral("logPreviewIntro"));
    m_intro->setWordWrap(true);
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("logPreviewProgress"));
    m_progress->setRange(0, kPreviewSteps);
    m_workloads = makePart("logPreviewWorkloads", {170, 60, 60, 80, 150, 200, 220});
    m_tasks = makePart("logPreviewTasks", {420, 110});
    m_skipped = makePart("logPreviewSkipped", {60, 560, 160});
    m_import = new QPushButton(this);
    m_import->setObjectName(QStringLiteral("logPreviewImport"));
    m_import->setDefault(true);
    m_cancel = new QPushButton(this);
    m_cancel->setObjectName(QStringLiteral("logPreviewCancel"));
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(m_import);
    buttons->addWidget(m_cancel);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_intro);
    layout->addWidget(m_progress);
    for (const Part* part : {&m_workloads, &m_tasks, &m_skipped}) {
        layout->addWidget(part->title);
        layout->addWidget(part->table, 1);
    }
    layout->addStretch();
    layout->addLayout(buttons);
}

/// The files may be long: they are read on a thread, and no further once the dialog is closed.
void LogPreviewDialog::read()
{
    std::vector<std::filesystem::path> names;
    for (const QString& file : m_files)
        names.emplace_back(file.toStdString());
    m_jobs.run(
        [this, session = m_workspace.bridge().shared(),
         names = std::move(names)](const JobLink& link) -> Result<session::LogPreview> {
            session::ProjectPart* const project = session->project();
            if (project == nullptr)
                return session::notInReplay("tuning log");
            const auto progress = [this, &link](std::string_view, double fraction) {
                link.tell([this, fraction] {
                    m_progress->setValue(static_cast<int>(std::lround(fraction * kPreviewSteps)));
                });
            };
            return project->previewLogs(names, progress, link.stopToken());
        },
        [this](Result<session::LogPreview> read) {
            if (read)
                m_preview = *std::move(read);
            else
                m_problem = std::move(read).error();
            retranslate();
        });
}

QString LogPreviewDialog::taskName(std::int32_t task) const
{
    return task < m_workspace.tasks().rowCount()
               ? QStringLiteral("#%1 %2").arg(task).arg(QString::fromStdString(m_workspace.tasks().task(task).name))
               : QStringLiteral("#%1").arg(task);
}

bool LogPreviewDialog::hasNews() const
{
    return m_preview && m_preview->would.taken > 0;
}

QString LogPreviewDialog::introText() const
{
    const QString what = m_files.size() == 1 ? QFileInfo(m_files.first()).fileName()
                                             : tr("%n files", nullptr, static_cast<int>(m_files.size()));
    if (m_problem)
        return errorText(*m_problem);
    if (!m_preview)
        return tr("Reading %1…").arg(what);
    const session::LogImport& would = m_preview->would;
    if (would.lines == 0)
        return tr("%1: the files contain no lines of a log.").arg(what);
    QStringList parts{tr("%1: %Ln lines.", nullptr, static_cast<int>(would.lines)).arg(what)};
    parts << (would.taken == 0 ? tr("Nothing in it can be imported.")
                               : tr("%Ln records will be imported (tasks: %1).", nullptr, static_cast<int>(would.taken))
                                     .arg(previewNumber(would.tasks)));
    if (would.known > 0)
        parts << tr("%Ln records are in the project already.", nullptr, static_cast<int>(would.known));
    if (const auto skipped = would.skippedLines(); skipped > 0)
        parts << tr("%Ln lines will be skipped.", nullptr, static_cast<int>(skipped));
    if (would.foreign > 0)
        parts << tr("%Ln records were measured elsewhere by another tuner: exports use them only after they are "
                    "measured again here.",
                    nullptr, static_cast<int>(would.foreign));
    return parts.join(QLatin1Char(' '));
}

void LogPreviewDialog::retranslate()
{
    setWindowTitle(tr("Import tuning logs"));
    m_import->setText(tr("&Import"));
    m_cancel->setText(hasNews() || (!m_preview && !m_problem) ? tr("&Cancel") : tr("C&lose"));
    m_progress->setVisible(!m_preview && !m_problem);
    m_progress->setAccessibleName(tr("How far the logs have been read"));
    enableToWrite(*m_import, hasNews(), m_workspace.whyReadOnly());
    m_intro->setText(introText());
    fillWorkloads();
    fillTasks();
    fillSkipped();
}

void LogPreviewDialog::fillPart(const Part& part, const QString& title, const QStringList& headings,
                                const QList<QStringList>& rows, std::initializer_list<int> numbers)
{
    part.title->setText(title);
    part.table->setAccessibleName(title);
    part.rows->removeRows(0, part.rows->rowCount());
    part.rows->setHorizontalHeaderLabels(headings);
    for (const QStringList& row : rows) {
        QList<QStandardItem*> items;
        for (const QString& text : row) {
            auto* item = new QStandardItem(text);
            item->setEditable(false);
            item->setToolTip(plainTip(text));
            items << item;
        }
        for (const int column : numbers)
            items[column]->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        part.rows->appendRow(items);
    }
    part.title->setVisible(!rows.isEmpty());
    part.table->setVisible(!rows.isEmpty());
    const int shown = static_cast<int>(std::min<qsizetype>(rows.size(), kRowsShown));
    part.table->setMaximumHeight(part.table->horizontalHeader()->sizeHint().height()
                                 + (shown + 2) * part.table->verticalHeader()->defaultSectionSize());
}

void LogPreviewDialog::fillWorkloads()
{
    QList<QStringList> rows;
    if (m_preview)
        for (const session::LoggedWorkload& workload : m_preview->workloads) {
            QStringList tasks;
            for (const std::int32_t task : workload.tasks)
                tasks << taskName(task);
            const QString none = workload.known ? tr("none of this network") : tr("the template is unknown here");
            rows << QStringList{QString::fromStdString(workload.name),
                                previewNumber(workload.trials),
                                previewNumber(workload.failed),
                                msText(workload.bestMs),
                                tasks.isEmpty() ? none : tasks.join(QStringLiteral(", ")),
                                QString::fromStdString(workload.bestConfig),
                                QString::fromStdString(workload.target)};
        }
    fillPart(
        m_workloads, tr("Workloads of template tuners"),
        {tr("Template"), tr("Trials"), tr("Failed"), tr("Best"), tr("Tasks"), tr("Best configuration"), tr("Target")},
        rows, {1, 2, 3});
    if (m_preview) // the arguments are too long for a column
        for (int row = 0; row < m_workloads.rows->rowCount(); ++row)
            m_workloads.rows->item(row, 0)->setToolTip(
                plainTip(QString::fromStdString(m_preview->workloads[static_cast<std::size_t>(row)].workload)));
}

void LogPreviewDialog::fillTasks()
{
    QList<QStringList> rows;
    if (m_preview)
        for (const auto& [task, count] : m_preview->byTask)
            rows << QStringList{taskName(task), previewNumber(count)};
    fillPart(m_tasks, tr("Tasks that get records"), {tr("Task"), tr("New records")}, rows, {1});
}

void LogPreviewDialog::fillSkipped()
{
    QList<QStringList> rows;
    if (m_preview)
        for (const session::SkippedLines& lines : m_preview->would.skipped)
            rows << QStringList{previewNumber(lines.count), coreText(lines.reason, lines.about),
                                tr("%1, line %2").arg(QString::fromStdString(lines.file)).arg(lines.line)};
    fillPart(m_skipped, tr("Lines that will be skipped"), {tr("Lines"), tr("Why"), tr("First of them")}, rows, {0});
}

} // namespace lathe::ui
