// Which trials the page lists: the fields above the list, and what they make of it.

#include "ui/bridge/trial_jobs.h"
#include "ui/models/error_advice.h"
#include "ui/models/language.h"
#include "ui/models/record_model.h"
#include "ui/models/texts.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"
#include "ui/pages/record_detail_page.h"
#include "ui/pages/records_page.h"
#include "ui/pages/scatter_panel.h"
#include "ui/pages/task_actions.h"
#include "ui/views/empty_state.h"
#include "ui/views/record_table.h"
#include "ui/views/spacing.h"
#include "ui/views/write_access.h"

#include <QComboBox>
#include <QDateTime>
#include <QDoubleValidator>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

const char* const kStates[] = {
    "",           "Ok",          "failed",     "IllegalSchedule", "BuildFailed", "BuildTimeout",
    "RunTimeout", "WrongAnswer", "DeviceLost", "WorkerCrashed"};

double numberIn(const QLineEdit* edit)
{
    bool good = false;
    const double value = edit->text().toDouble(&good);
    return good ? value : session::kUnknown;
}

} // namespace

QWidget* RecordsPage::makeFilterBar()
{
    auto* bar = new QWidget(this);
    auto* rows = new QVBoxLayout(bar);
    rows->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    rows->setSpacing(spacing::kSmall);
    m_filterRow = new QBoxLayout(QBoxLayout::LeftToRight);
    m_filterRow->setSpacing(spacing::kSmall);
    auto* choices = new QHBoxLayout;
    auto* numbers = new QHBoxLayout;
    m_filterRow->addLayout(choices);
    m_filterRow->addLayout(numbers, 1);
    auto* second = new QHBoxLayout;
    m_projectNote = new QLabel(bar);
    m_projectNote->setObjectName(QStringLiteral("recordProjectNote"));
    m_projectNote->setWordWrap(true);
    m_projectNote->setTextFormat(Qt::PlainText);
    m_projectNote->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    rows->addWidget(m_projectNote);
    rows->addLayout(m_filterRow);
    rows->addLayout(second);
    makeFilterFields(bar);
    makeFilterButtons(bar);
    m_count = new QLabel(bar);
    m_count->setObjectName(QStringLiteral("recordCount"));
    auto* dash = new QLabel(QStringLiteral("–"), bar);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_task, m_run, m_target, m_state})
        choices->addWidget(widget);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_min, dash, m_max})
        numbers->addWidget(widget);
    numbers->addStretch();
    numbers->addWidget(m_count);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{m_text, m_noted, m_cause, m_clear, m_chart, m_again, m_export})
        second->addWidget(widget, widget == m_text ? 1 : 0);
    retranslated(bar, [this] { retranslateFilterBar(); });
    connect(m_task, &QComboBox::currentIndexChanged, this, &RecordsPage::applyFilter);
    for (const QComboBox* box : {m_state, m_run, m_target})
        connect(box, &QComboBox::currentIndexChanged, this, &RecordsPage::applyFilter);
    return bar;
}

void RecordsPage::makeFilterFields(QWidget* bar)
{
    const auto choice = [bar](const char* name, int letters) {
        auto* box = new QComboBox(bar);
        box->setObjectName(QLatin1String(name));
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(letters);
        return box;
    };
    m_task = choice("recordTask", 14);
    m_state = choice("recordState", 8);
    m_run = choice("recordRun", 9);
    m_target = choice("recordTarget", 9);
    const auto latency = [bar](const char* name) {
        auto* edit = new QLineEdit(bar);
        edit->setObjectName(QLatin1String(name));
        auto* validator = new QDoubleValidator(0, 1e9, 6, edit);
        validator->setLocale(QLocale::c());
        edit->setValidator(validator);
        return edit;
    };
    m_min = latency("recordMin");
    m_max = latency("recordMax");
    m_text = new QLineEdit(bar);
    m_text->setObjectName(QStringLiteral("recordText"));
    m_text->setClearButtonEnabled(true);
    for (QLineEdit* edit : {m_min, m_max, m_text})
        connect(edit, &QLineEdit::textChanged, &m_typing, qOverload<>(&QTimer::start));
    m_cause = new QLabel(bar);
    m_cause->setObjectName(QStringLiteral("recordCause"));
}

void RecordsPage::makeFilterButtons(QWidget* bar)
{
    const auto button = [bar](const char* name, bool checkable) {
        auto* made = new QToolButton(bar);
        made->setObjectName(QLatin1String(name));
        made->setAutoRaise(true);
        made->setCheckable(checkable);
        return made;
    };
    m_clear = button("recordClear", false);
    m_noted = button("recordNoted", true);
    m_again = button("recordAgain", false);
    m_chart = button("recordChart", true);
    m_chart->setChecked(!m_scatter->isHidden());
    m_export = button("recordExport", false);
    connect(m_noted, &QToolButton::toggled, this, &RecordsPage::applyFilter);
    connect(m_chart, &QToolButton::toggled, this, [this](bool on) {
        QSettings().setValue(QStringLiteral("scatter/shown"), on);
        m_scatter->setVisible(on);
        arrange();
    });
    connect(m_again, &QToolButton::clicked, this, &RecordsPage::remeasureSelected);
    connect(m_clear, &QToolButton::clicked, this, [this] { m_filter.set({}, false); });
    connect(m_export, &QToolButton::clicked, this, &RecordsPage::exportRows);
}

void RecordsPage::retranslateFilterBar()
{
    m_task->setAccessibleName(tr("Task"));
    m_state->setAccessibleName(tr("State"));
    m_run->setAccessibleName(tr("Run"));
    m_target->setAccessibleName(tr("Target"));
    offerRuns();
    m_min->setPlaceholderText(tr("from ms"));
    m_max->setPlaceholderText(tr("to ms"));
    for (QLineEdit* edit : {m_min, m_max})
        edit->setFixedWidth(std::max(60, edit->fontMetrics().horizontalAdvance(edit->placeholderText()) + 14));
    m_min->setAccessibleName(tr("Latency from, in ms"));
    m_max->setAccessibleName(tr("Latency to, in ms"));
    m_noted->setText(tr("Notes"));
    m_noted->setToolTip(tr("Only trials with a note"));
    m_noted->setAccessibleName(tr("Only trials with a note"));
    m_chart->setText(tr("Chart"));
    m_chart->setToolTip(tr("Plot the listed trials by two of their numbers"));
    m_again->setText(tr("Measure again"));
    m_again->setToolTip(tr("Build and measure the selected trials again; the results are new trials"));
    m_text->setPlaceholderText(tr("Find algorithm, sketch, note, failure text or trial"));
    m_text->setAccessibleName(m_text->placeholderText());
    m_clear->setText(tr("Show all"));
    m_clear->setToolTip(tr("Clear all filters"));
    m_export->setText(tr("Export…"));
    m_export->setToolTip(tr("Save the list as CSV or JSON lines"));
    m_table->setAccessibleName(tr("Trials"));
    const QSignalBlocker blocker(m_state);
    const int current = std::max(0, m_state->currentIndex());
    m_state->clear();
    for (const char* code : kStates) {
        const QString name = QLatin1String(code);
        m_state->addItem(name.isEmpty()                     ? tr("any state")
                         : name == QStringLiteral("Ok")     ? tr("valid")
                         : name == QStringLiteral("failed") ? tr("failed")
                                                            : errorAdvice(name).title,
                         name);
    }
    m_state->setCurrentIndex(current);
    if (m_task->count() > 0)
        m_task->setItemText(0, tr("all tasks"));
    updateCount();
}

void RecordsPage::readRuns()
{
    const session::TuningSession* const session = m_workspace.session();
    m_runReader.dropAll();
    if (session == nullptr)
        return;
    m_runReader.run([project = session->options().project](const JobLink&) { return session::storedRuns(project); },
                    [this](Result<std::vector<session::StoredRun>> runs) {
                        m_runs = runs ? *std::move(runs) : std::vector<session::StoredRun>(); // the list tells why
                        offerRuns();
                    });
}

/// Where there is but one, there is nothing to choose. Where there is something, one line does not hold all fields
/// beside each other.
void RecordsPage::offerRuns()
{
    const QSignalBlocker blockRun(m_run), blockTarget(m_target);
    m_run->clear();
    m_target->clear();
    m_run->addItem(tr("all runs"), 0LL);
    m_target->addItem(tr("all targets"), QString());
    const QLocale locale(Language::instance().current());
    for (auto run = m_runs.rbegin(); run != m_runs.rend(); ++run) {
        const QString when = locale.toString(QDateTime::fromMSecsSinceEpoch(run->run.startedMs), QLocale::ShortFormat);
        m_run->addItem(tr("run %1, %2").arg(run->run.id).arg(when), static_cast<qlonglong>(run->run.id));
        if (const QString target = QString::fromStdString(run->run.target); m_target->findData(target) < 0)
            m_target->addItem(targetTitle(run->run.target), target);
    }
    m_run->setVisible(m_run->count() > 2);
    m_target->setVisible(m_target->count() > 2);
    const bool many = m_run->count() > 2 || m_target->count() > 2;
    m_filterRow->setDirection(many ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    const session::TrialQuery& query = m_filter.query();
    m_run->setCurrentIndex(std::max(0, m_run->findData(static_cast<qlonglong>(query.run))));
    m_target->setCurrentIndex(std::max(0, m_target->findData(QString::fromStdString(query.target))));
}

/// What one would do with a trial beside looking at it. `run` 0: not known, or none.
void RecordsPage::fillMenu(QMenu& menu, int task, qint64 run)
{
    addTaskActions(menu, m_workspace, task);
    if (run == 0)
        return;
    menu.addAction(tr("Show the trials of this &run"), this, [this, run] {
        session::TrialQuery query;
        query.run = run;
        m_filter.set(query, true);
    });
}

void RecordsPage::applyFilter()
{
    if (m_showing)
        return;
    session::TrialQuery query = m_filter.query();
    query.task = m_task->currentIndex() > 0 ? m_task->currentData().toInt() : -1;
    query.run = m_run->currentData().toLongLong();
    query.target = m_target->currentData().toString().toStdString();
    const std::string code = m_state->currentData().toString().toStdString();
    if (code != query.code) {
        query.cause.clear();
        query.stage.clear();
    }
    query.code = code;
    query.minMs = numberIn(m_min);
    query.maxMs = numberIn(m_max);
    query.noted = m_noted->isChecked();
    query.text = m_text->text().trimmed().toStdString();
    m_filter.set(query, false);
}

void RecordsPage::showFilter()
{
    m_showing = true;
    const session::TrialQuery& query = m_filter.query();
    m_task->setCurrentIndex(std::max(0, m_task->findData(query.task)));
    m_run->setCurrentIndex(std::max(0, m_run->findData(static_cast<qlonglong>(query.run))));
    m_target->setCurrentIndex(std::max(0, m_target->findData(QString::fromStdString(query.target))));
    m_state->setCurrentIndex(std::max(0, m_state->findData(QString::fromStdString(query.code))));
    const auto show = [](QLineEdit* edit, double value) {
        if (numberIn(edit) != value && !(std::isnan(value) && edit->text().isEmpty()))
            edit->setText(std::isfinite(value) ? QString::number(value) : QString());
    };
    show(m_min, query.minMs);
    show(m_max, query.maxMs);
    m_noted->setChecked(query.noted);
    if (m_text->text().trimmed() != QString::fromStdString(query.text))
        m_text->setText(QString::fromStdString(query.text));
    const QString cause = QString::fromStdString(query.cause);
    m_cause->setVisible(!cause.isEmpty());
    m_cause->setText(fontMetrics().elidedText(cause, Qt::ElideRight, 180));
    m_cause->setToolTip(cause);
    m_typing.stop();
    m_showing = false;
}

void RecordsPage::updateCount()
{
    if (m_count == nullptr)
        return;
    m_empty->refresh();
    const session::TrialQuery& query = m_filter.query();
    const bool restricted = query.task >= 0 || query.run != 0 || !query.target.empty() || !query.code.empty()
                            || !query.stage.empty() || !query.cause.empty() || !query.text.empty() || query.noted
                            || std::isfinite(query.minMs) || std::isfinite(query.maxMs);
    const QString count = QLocale().toString(m_model->rowCount());
    m_count->setText(m_model->isReading()       ? tr("reading…")
                     : restricted               ? tr("found: %1").arg(count)
                     : m_model->rowCount() == 1 ? tr("1 record")
                                                : tr("%1 records").arg(count));
    if (!m_model->isReading() && query.target.empty() && m_workspace.hasOtherTargets())
        m_count->setText(tr("%1, of all targets").arg(m_count->text()));
    m_clear->setEnabled(restricted);
    m_export->setEnabled(m_model->rowCount() > 0 && !m_exporting);
    enableToWrite(*m_again,
                  m_table->selectionModel() != nullptr && m_table->selectionModel()->hasSelection()
                      && !m_workspace.trialJobs().isMeasuring(),
                  m_workspace.whyReadOnly());
    m_detail->setReadOnly(m_workspace.whyReadOnly());
}

} // namespace lathe::ui
