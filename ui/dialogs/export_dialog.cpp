#include "ui/dialogs/export_dialog.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/command_line.h"
#include "ui/models/core_text.h"
#include "ui/models/coverage_model.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/table_view.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QSpinBox>
#include <QUrl>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

ExportDialog::ExportDialog(SessionBridge& bridge, const QString& suggestedFile, QWidget* parent)
    : QDialog(parent)
    , m_bridge(bridge)
{
    setObjectName(QStringLiteral("exportDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    makeOptions();
    makeTable();
    m_file->setText(suggestedFile);
    makeOutcome();
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(arrangeOptions());
    layout->addWidget(m_inTheWay);
    layout->addWidget(m_overwrite);
    layout->addWidget(m_summary);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_command);
    layout->addWidget(m_progress);
    layout->addWidget(m_result);
    layout->addLayout(makeButtons());
    resize(QSize(980, 640).boundedTo(screen()->availableSize() * 0.9));

    m_pause.setSingleShot(true);
    m_pause.setInterval(150); // somebody types
    connect(&m_pause, &QTimer::timeout, this, &ExportDialog::readDestination);
    for (const QLineEdit* edit : {m_file, m_name})
        connect(edit, &QLineEdit::textChanged, this, [this] {
            m_looked = false;
            m_pause.start();
            showCommand();
        });
    for (const QCheckBox* box : {m_allowDefault, m_strict, m_verify, m_benchmark, m_overwrite})
        connect(box, &QCheckBox::toggled, this, &ExportDialog::showCommand);
    connect(m_threads, &QSpinBox::valueChanged, this, &ExportDialog::showCommand);
    connect(m_where, &QComboBox::currentIndexChanged, this, [this] {
        showWhere();
        showCommand();
    });
    connect(m_strict, &QCheckBox::toggled, this, &ExportDialog::readCoverage);
    connectBridge();
    retranslated(this, [this] { retranslate(); });
    readCoverage();
    readDestination();
}

/// The command, how far the export is, and what came of it.
void ExportDialog::makeOutcome()
{
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("exportProgress"));
    m_progress->setRange(0, 1000);
    m_progress->setFormat({});
    m_progress->hide();
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setWordWrap(true);
        made->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        return made;
    };
    m_result = label("exportResult");
    m_command = label("exportCommand");
    m_inTheWay = label("exportInTheWay");
}

QHBoxLayout* ExportDialog::makeButtons()
{
    const auto button = [this](const char* name) {
        auto* made = new QPushButton(this);
        made->setObjectName(QLatin1String(name));
        made->setAutoDefault(false);
        return made;
    };
    m_folder = button("exportFolder");
    m_copy = button("exportCopyCommand");
    m_export = button("exportButton");
    m_close = button("exportClose");
    m_export->setDefault(true);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_folder);
    buttons->addWidget(m_copy);
    buttons->addStretch(1);
    buttons->addWidget(m_export);
    buttons->addWidget(m_close);
    connect(m_export, &QPushButton::clicked, this, &ExportDialog::exportNow);
    connect(m_close, &QPushButton::clicked, this, &ExportDialog::reject);
    connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_command->text()); });
    connect(m_folder, &QPushButton::clicked, this, [this] {
        const QString folder = QFileInfo(m_file->text()).absolutePath();
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(folder)))
            m_result->setText(tr("No file manager was found. The folder is %1").arg(folder));
    });
    return buttons;
}

QGridLayout* ExportDialog::arrangeOptions()
{
    auto* file = new QHBoxLayout;
    file->addWidget(m_file);
    file->addWidget(m_browse);
    auto* grid = new QGridLayout;
    grid->addWidget(m_targetLabel, 0, 0);
    grid->addWidget(m_target, 0, 1, 1, 3);
    grid->addWidget(m_fileLabel, 1, 0);
    grid->addLayout(file, 1, 1, 1, 3);
    grid->addWidget(m_nameLabel, 2, 0);
    grid->addWidget(m_name, 2, 1);
    grid->addWidget(m_threadsLabel, 2, 2);
    grid->addWidget(m_threads, 2, 3);
    grid->addWidget(m_whereLabel, 3, 0);
    grid->addWidget(m_where, 3, 1);
    grid->addWidget(m_verify, 4, 1);
    grid->addWidget(m_benchmark, 4, 2, 1, 2);
    grid->addWidget(m_allowDefault, 5, 1);
    grid->addWidget(m_strict, 5, 2, 1, 2);
    grid->setColumnStretch(1, 1);
    return grid;
}

void ExportDialog::connectBridge()
{
    connect(&m_bridge, &SessionBridge::coverageRead, this, &ExportDialog::takeCoverage);
    connect(&m_bridge, &SessionBridge::coverageFailed, this, [this](const Error& error) {
        m_covered = false;
        m_model->setSubgraphs({});
        m_summary->setText(errorText(error));
        updateButtons();
    });
    connect(&m_bridge, &SessionBridge::destinationRead, this, &ExportDialog::takeDestination);
    connect(&m_bridge, &SessionBridge::compileProgressed, this, [this](const QString& step, double fraction) {
        m_progress->setValue(static_cast<int>(fraction * 1000));
        m_progress->setFormat(step == QLatin1String("choosing records") ? tr("choosing records")
                              : step == QLatin1String("compiling")      ? tr("compiling")
                              : step == QLatin1String("verifying")      ? tr("verifying the outputs")
                              : step == QLatin1String("benchmarking")   ? tr("measuring")
                              : step == QLatin1String("writing")        ? tr("writing")
                              : step == QLatin1String("done")           ? tr("Done")
                                                                        : tr("waiting for a device of the farm"));
    });
    connect(&m_bridge, &SessionBridge::compiled, this, &ExportDialog::showReport);
    connect(&m_bridge, &SessionBridge::compileFailed, this, [this](const Error& error) {
        m_progress->hide();
        m_result->setText(tr("Export failed: %1").arg(errorText(error)));
        updateButtons();
    });
    connect(&m_bridge, &SessionBridge::closed, this, &QDialog::close);
}

void ExportDialog::takeCoverage(const session::Coverage& coverage)
{
    m_coverage = coverage;
    m_covered = true;
    m_model->setSubgraphs(coverage.subgraphs);
    showWhere();
    showCoverage();
}

bool ExportDialog::canRun() const
{
    return !m_covered || m_coverage.runsHere || !m_where->currentData().toString().isEmpty();
}

void ExportDialog::showWhere()
{
    const bool can = canRun();
    if (!can && m_verify->isEnabled())
        m_wanted = {m_verify->isChecked(), m_benchmark->isChecked()};
    if (can != m_verify->isEnabled()) {
        m_verify->setChecked(can && m_wanted.first);
        m_benchmark->setChecked(can && m_wanted.second);
    }
    for (QWidget* of : std::initializer_list<QWidget*>{m_verify, m_benchmark, m_threads, m_threadsLabel})
        of->setEnabled(can);
    for (QCheckBox* box : {m_verify, m_benchmark})
        box->setToolTip(can ? QString() : tr("The library is for another processor and cannot run on this machine"));
}

void ExportDialog::offerFarm(const FarmOffer& farm, const QString& picked)
{
    const session::TuningSession* session = m_bridge.session();
    if (session == nullptr || farm.state != FarmLink::State::Connected)
        return;
    m_farm = farm.place;
    for (const FarmOffer::Key& key : farm.keys)
        if (key.devices > 0 && key.isFor(session->options().target))
            m_where->addItem(QString(), key.key);
    const bool isOffered = m_where->count() > 1;
    m_where->setVisible(isOffered);
    m_whereLabel->setVisible(isOffered);
    m_where->setCurrentIndex(std::max(0, m_where->findData(picked)));
    retranslate();
}

void ExportDialog::makeOptions()
{
    const auto label = [this](QWidget* buddy) {
        auto* made = new QLabel(this);
        made->setBuddy(buddy);
        return made;
    };
    m_target = new QLabel(this);
    m_target->setObjectName(QStringLiteral("exportTarget"));
    m_target->setWordWrap(true);
    m_file = new QLineEdit(this);
    m_file->setObjectName(QStringLiteral("exportFile"));
    m_browse = new QPushButton(this);
    m_browse->setObjectName(QStringLiteral("exportBrowse"));
    m_browse->setAutoDefault(false);
    connect(m_browse, &QPushButton::clicked, this, [this] {
        const QString file = QFileDialog::getSaveFileName(this, tr("Export deploy library"), m_file->text(),
                                                          tr("Shared objects (*.so)"));
        if (!file.isEmpty())
            m_file->setText(file);
    });
    m_name = new QLineEdit(this);
    m_name->setObjectName(QStringLiteral("exportName"));
    m_threads = new QSpinBox(this);
    m_threads->setObjectName(QStringLiteral("exportThreads"));
    m_threads->setRange(0, 1024);
    const auto box = [this](const char* name, bool on) {
        auto* made = new QCheckBox(this);
        made->setObjectName(QLatin1String(name));
        made->setChecked(on);
        return made;
    };
    m_where = new QComboBox(this);
    m_where->setObjectName(QStringLiteral("exportWhere"));
    m_where->addItem(QString(), QString());
    m_where->hide();
    m_allowDefault = box("exportAllowDefault", false);
    m_strict = box("exportStrict", false);
    m_verify = box("exportVerify", true);
    m_benchmark = box("exportBenchmark", true);
    m_overwrite = box("exportOverwrite", false);
    m_targetLabel = new QLabel(this);
    m_fileLabel = label(m_file);
    m_nameLabel = label(m_name);
    m_threadsLabel = label(m_threads);
    m_whereLabel = label(m_where);
    m_whereLabel->hide();
}

void ExportDialog::makeTable()
{
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("exportSummary"));
    m_summary->setWordWrap(true);
    m_model = new CoverageModel(this);
    auto* sorted = new QSortFilterProxyModel(this);
    sorted->setSourceModel(m_model);
    sorted->setSortRole(CoverageModel::SortRole);
    m_table = new TableView("exportCoverage", this);
    m_table->setModel(sorted);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(-1, Qt::AscendingOrder); // the network's order
    const int widths[] = {190, 130, 60, 85, 85, 85, 90, 80, 150};
    for (int column = 0; column < CoverageModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
}

void ExportDialog::retranslate()
{
    setWindowTitle(tr("Export deploy library"));
    m_targetLabel->setText(tr("Target:"));
    m_fileLabel->setText(tr("&File:"));
    m_nameLabel->setText(tr("&Name:"));
    m_threadsLabel->setText(tr("&Threads for the measurement:"));
    m_file->setAccessibleName(tr("File of the library"));
    m_browse->setText(tr("C&hoose…"));
    m_name->setAccessibleName(tr("Name of the exported symbols"));
    m_name->setToolTip(tr("The library exports lathe_NAME_create, lathe_NAME_run and so on"));
    m_name->setPlaceholderText(tr("from the file name"));
    m_threads->setSpecialValueText(tr("from the target"));
    m_threads->setAccessibleName(tr("Threads for the measurement"));
    m_whereLabel->setText(tr("R&un on:"));
    m_where->setAccessibleName(tr("Where the library is verified and measured"));
    m_where->setToolTip(tr("Where the library is verified and measured"));
    m_where->setItemText(0, tr("this machine"));
    for (int row = 1; row < m_where->count(); ++row)
        m_where->setItemText(row, tr("%1 at the farm").arg(m_where->itemData(row).toString()));
    m_strict->setText(tr("No algorithm that trades &accuracy for speed"));
    m_strict->setToolTip(tr("Convolutions are computed directly, never with winograd"));
    m_verify->setText(tr("&Verify the outputs against the reference executor"));
    m_benchmark->setText(tr("&Measure the library"));
    m_overwrite->setText(tr("&Replace these files"));
    m_table->setAccessibleName(tr("What each function runs"));
    m_progress->setAccessibleName(tr("Progress of the export"));
    m_folder->setText(tr("&Open folder"));
    m_copy->setText(tr("&Copy command line"));
    m_export->setText(tr("&Export"));
    showCoverage();
    showCommand();
}

void ExportDialog::readCoverage()
{
    m_covered = false;
    m_bridge.readCoverage(m_strict->isChecked());
    showCoverage();
}

void ExportDialog::showCoverage()
{
    const session::TuningSession* session = m_bridge.session();
    if (session != nullptr)
        m_target->setText(
            tr("%1: a shared object with the weights, plus a C header, a description and examples in C, C++ and Python")
                .arg(QString::fromStdString(session->options().target)));
    if (!m_covered)
        m_summary->setText(tr("Reading the records…"));
    else if (!m_coverage.unsupported.empty())
        m_summary->setText(
            tr("Not for this target: %1").arg(coreText(m_coverage.unsupported, m_coverage.aboutUnsupported)));
    else
        m_summary->setText(
            tr("%n tasks: %1 with a record, %2 with a near match, %3 on default schedules. Sum of tasks: %4", nullptr,
               m_coverage.tasks)
                .arg(m_coverage.records)
                .arg(m_coverage.near)
                .arg(m_coverage.defaults)
                .arg(std::isfinite(m_coverage.estimatedTasksMs) ? msText(m_coverage.estimatedTasksMs)
                                                                : tr("unknown, since some have no record")));
    m_allowDefault->setText(!m_covered ? tr("Allow &default schedules")
                            : m_coverage.defaults == 0
                                ? tr("Allow &default schedules (not needed)")
                                : tr("Allow &default schedules (%1 of %2 tasks have no valid record)")
                                      .arg(m_coverage.defaults)
                                      .arg(m_coverage.tasks));
    showWhere();
    updateButtons();
}

void ExportDialog::showCommand()
{
    showDestination();
    if (const session::TuningSession* session = m_bridge.session())
        m_command->setText(compileCommand(session->options(), options()));
    updateButtons();
}

void ExportDialog::readDestination()
{
    m_looked = false;
    if (m_file->text().isEmpty())
        takeDestination({}, {});
    else
        m_bridge.readDestination(options());
}

void ExportDialog::takeDestination(const Result<>& kept, const Result<>& replaced)
{
    if (m_pause.isActive()) // the name is another by now
        return;
    const auto words = [](const Result<>& answer) { return answer ? std::string() : answer.error().message; };
    if (words(kept) != words(m_kept)) { // what was agreed to was for other files
        const QSignalBlocker blocker(m_overwrite);
        m_overwrite->setChecked(false);
    }
    m_kept = kept;
    m_replaced = replaced;
    m_looked = true;
    showCommand();
}

void ExportDialog::showDestination()
{
    m_blocked = !m_looked || (m_overwrite->isChecked() ? !m_replaced : !m_kept);
    m_inTheWay->setText(m_kept ? QString() : errorText(m_kept.error()));
    m_inTheWay->setVisible(!m_kept);
    m_overwrite->setVisible(!m_kept && m_replaced);
}

QString ExportDialog::apartText(double measuredMs, double estimatedMs)
{
    const QString percent = QString::number(std::abs(100 * (measuredMs / estimatedMs - 1)), 'f', 1);
    return (measuredMs >= estimatedMs ? tr("%2 % above the estimate of %1") : tr("%2 % below the estimate of %1"))
        .arg(msText(estimatedMs), percent);
}

void ExportDialog::updateButtons()
{
    const bool busy = m_bridge.isCompiling();
    const bool refused = m_covered && m_coverage.defaults > 0 && !m_allowDefault->isChecked();
    m_export->setEnabled(m_covered && m_coverage.unsupported.empty() && !refused && !busy && !m_blocked
                         && !m_file->text().isEmpty());
    m_export->setToolTip(busy      ? tr("Export in progress")
                         : refused ? tr("%n tasks have no valid record: tune them, or allow default schedules", nullptr,
                                        m_coverage.defaults)
                         : m_blocked ? m_inTheWay->text()
                                     : QString());
    m_close->setText(busy ? tr("&Cancel") : tr("C&lose"));
    m_folder->setEnabled(QFileInfo(QFileInfo(m_file->text()).absolutePath()).isDir());
}

session::CompileOptions ExportDialog::options() const
{
    session::CompileOptions options;
    options.output = m_file->text().toStdString();
    options.name = m_name->text().trimmed().toStdString();
    options.allowDefault = m_allowDefault->isChecked();
    options.strict = m_strict->isChecked();
    options.verify = m_verify->isChecked();
    options.benchmark = m_benchmark->isChecked();
    options.threads = static_cast<unsigned>(m_threads->value());
    if (const QString key = m_where->currentData().toString(); !key.isEmpty()) {
        options.device = key.toStdString();
        options.broker = m_farm.broker.toStdString();
        options.credentials = m_farm.token.toStdString();
    }
    options.overwrite = m_overwrite->isVisibleTo(this) && m_overwrite->isChecked();
    return options;
}

void ExportDialog::exportNow()
{
    m_result->clear();
    m_progress->setValue(0);
    m_progress->show();
    m_bridge.compile(options());
    updateButtons();
}

void ExportDialog::reject()
{
    if (!m_bridge.isCompiling() || m_bridge.session() == nullptr) {
        QDialog::reject();
        return;
    }
    m_bridge.cancelCompile();
    m_progress->setFormat(tr("cancelling"));
}

void ExportDialog::showReport(const session::CompileReport& report)
{
    m_progress->hide();
    QStringList lines;
    lines << tr("Written: %1").arg(QString::fromStdString(report.library.string()));
    if (!report.runner.empty() && (m_verify->isChecked() || m_benchmark->isChecked()))
        lines << tr("Ran on %1 at the farm").arg(QString::fromStdString(report.runner));
    if (std::isfinite(report.maxRelError))
        lines << tr("Verified: largest relative error %1").arg(report.maxRelError, 0, 'g', 3);
    else
        lines << (tr("Not verified.") + QLatin1Char(' ') + coreText(report.notVerified, report.aboutNotVerified))
                     .trimmed();
    if (!report.conditions.empty())
        lines << coreText(report.conditions, report.aboutConditions);
    if (std::isfinite(report.latencyMs.median)) {
        const QString measured =
            tr("Measured: %1 (median) with %n threads", nullptr, report.threads).arg(msText(report.latencyMs.median));
        if (const double estimated = report.estimated.totalMs(); std::isfinite(estimated))
            lines << measured + QStringLiteral("; ") + apartText(report.latencyMs.median, estimated)
                  << estimatePartsText(report.estimated);
        else
            lines << measured;
    } else if (!report.notTimed.empty()) {
        lines << coreText(report.notTimed, report.aboutNotTimed);
    }
    m_result->setText(lines.join(QLatin1Char('\n')));
    m_model->setSubgraphs(report.subgraphs);
    readDestination(); // all of it is Lathe's now
    updateButtons();
}

} // namespace lathe::ui
