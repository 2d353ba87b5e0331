#include "ui/dialogs/export_dialog.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/command_line.h"
#include "ui/models/texts.h"

#include <QCheckBox>
#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QTableWidget>
#include <QToolButton>
#include <QUrl>

#include <cmath>

namespace lathe::ui {

ExportDialog::ExportDialog(SessionBridge& bridge, const QString& suggestedFile, QWidget* parent) : QDialog(parent), m_bridge(bridge)
{
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export deploy library"));
    setAttribute(Qt::WA_DeleteOnClose);

    m_file = new QLineEdit(suggestedFile, this);
    m_file->setObjectName(QStringLiteral("exportFile"));
    auto* browse = new QToolButton(this);
    browse->setText(QStringLiteral("…"));
    browse->setAccessibleName(tr("Choose the file"));
    connect(browse, &QToolButton::clicked, this, [this] {
        const QString file = QFileDialog::getSaveFileName(this, tr("Export deploy library"), m_file->text(), tr("Shared objects (*.so)"));
        if (!file.isEmpty())
            m_file->setText(file);
    });
    auto* fileRow = new QHBoxLayout;
    fileRow->addWidget(m_file);
    fileRow->addWidget(browse);
    m_allowDefault = new QCheckBox(tr("Allow &default schedules for tasks without a record"), this);
    m_allowDefault->setObjectName(QStringLiteral("exportAllowDefault"));
    m_verify = new QCheckBox(tr("&Verify the outputs against the reference executor"), this);
    m_verify->setChecked(true);
    m_benchmark = new QCheckBox(tr("&Benchmark the library"), this);
    m_benchmark->setChecked(true);
    m_command = new QLabel(this);
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_command->setWordWrap(true);
    auto* form = new QFormLayout;
    auto* fileLabel = new QLabel(tr("&File:"), this);
    fileLabel->setBuddy(m_file);
    form->addRow(fileLabel, fileRow);
    form->addRow(QString(), m_allowDefault);
    form->addRow(QString(), m_verify);
    form->addRow(QString(), m_benchmark);
    form->addRow(tr("Command line:"), m_command);

    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("exportProgress"));
    m_progress->setRange(0, 1000);
    m_progress->setFormat({});
    m_progress->setAccessibleName(tr("Progress of the export"));
    m_result = new QLabel(this);
    m_result->setObjectName(QStringLiteral("exportResult"));
    m_result->setWordWrap(true);
    m_result->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_coverage = new QTableWidget(0, 4, this);
    m_coverage->setObjectName(QStringLiteral("exportCoverage"));
    m_coverage->setAccessibleName(tr("What each function runs"));
    m_coverage->setHorizontalHeaderLabels({tr("Function"), tr("Record"), tr("Estimated"), tr("Measured")});
    m_coverage->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_coverage->verticalHeader()->hide();
    m_coverage->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_coverage->setSelectionBehavior(QAbstractItemView::SelectRows);

    auto* buttons = new QDialogButtonBox(this);
    m_export = buttons->addButton(tr("&Export"), QDialogButtonBox::ActionRole);
    m_export->setObjectName(QStringLiteral("exportButton"));
    m_export->setDefault(true);
    auto* folder = buttons->addButton(tr("Open &folder"), QDialogButtonBox::ActionRole);
    auto* close = buttons->addButton(QDialogButtonBox::Close);
    close->setObjectName(QStringLiteral("exportClose"));
    connect(m_export, &QPushButton::clicked, this, &ExportDialog::exportNow);
    connect(folder, &QPushButton::clicked, this, [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(m_file->text()).absolutePath())); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);

    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(m_progress);
    layout->addWidget(m_result);
    layout->addWidget(m_coverage, 1);
    layout->addWidget(buttons);
    resize(QSize(760, 560).boundedTo(screen()->availableSize() * 0.9));
    m_coverage->setMinimumHeight(60);

    connect(m_file, &QLineEdit::textChanged, this, &ExportDialog::showCommand);
    connect(m_allowDefault, &QCheckBox::toggled, this, &ExportDialog::showCommand);
    connect(&m_bridge, &SessionBridge::compileProgressed, this, [this](const QString& step, double fraction) {
        m_progress->setValue(static_cast<int>(fraction * 1000));
        m_progress->setFormat(step);
    });
    connect(&m_bridge, &SessionBridge::compiled, this, &ExportDialog::showReport);
    connect(&m_bridge, &SessionBridge::compileFailed, this, [this](const QString& text) {
        m_export->setEnabled(true);
        m_progress->setValue(0);
        m_progress->setFormat({});
        m_result->setText(tr("Not exported: %1").arg(text));
    });
    showCommand();
}

void ExportDialog::showCommand()
{
    const session::TuningSession* session = m_bridge.session();
    if (session == nullptr)
        return;
    m_command->setText(compileCommand(session->options(), options()));
}

session::CompileOptions ExportDialog::options() const
{
    session::CompileOptions options;
    options.output = m_file->text().toStdString();
    options.allowDefault = m_allowDefault->isChecked();
    options.verify = m_verify->isChecked();
    options.benchmark = m_benchmark->isChecked();
    return options;
}

void ExportDialog::exportNow()
{
    m_result->clear();
    m_coverage->setRowCount(0);
    m_export->setEnabled(false);
    m_bridge.compile(options());
}

void ExportDialog::showReport(const session::CompileReport& report)
{
    m_export->setEnabled(true);
    m_progress->setValue(1000);
    m_progress->setFormat(tr("done"));
    QStringList lines;
    lines << tr("Written: %1").arg(QString::fromStdString(report.library.string()));
    if (std::isfinite(report.maxRelError))
        lines << tr("Verified: the largest relative error is %1").arg(report.maxRelError, 0, 'g', 3);
    else
        lines << tr("Not verified.");
    if (std::isfinite(report.latencyMs.median))
        lines << tr("Measured %1 (median) with %2 threads; sum of tasks %3, with untuned functions and dispatch %4")
                     .arg(msText(report.latencyMs.median))
                     .arg(report.threads)
                     .arg(msText(report.estimatedTasksMs), msText(report.estimatedTotalMs));
    m_result->setText(lines.join(QLatin1Char('\n')));
    m_coverage->setRowCount(static_cast<int>(report.subgraphs.size()));
    for (int row = 0; row < m_coverage->rowCount(); ++row) {
        const session::SubgraphReport& subgraph = report.subgraphs[static_cast<std::size_t>(row)];
        const QString record = subgraph.record.empty() ? QString::fromStdString(subgraph.reason) : QString::fromStdString(subgraph.record.substr(0, 8));
        const QStringList texts{QString::fromStdString(subgraph.name), record, msText(subgraph.estimatedMs), msText(subgraph.measuredMs)};
        for (int column = 0; column < texts.size(); ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            item->setToolTip(texts[column]);
            if (column >= 2)
                item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            m_coverage->setItem(row, column, item);
        }
    }
}

} // namespace lathe::ui
