#include "ui/pages/remeasure_bar.h"

#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/spacing.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

RemeasureBar::RemeasureBar(Workspace& workspace, Tells tells, QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("remeasureBar"));
    m_text = new QLabel(this);
    m_text->setObjectName(QStringLiteral("remeasureText"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("remeasureProgress"));
    m_progress->setRange(0, 1000);
    m_progress->setMaximumWidth(160);
    m_stop = new QToolButton(this);
    m_stop->setObjectName(QStringLiteral("remeasureStop"));
    m_close = new QToolButton(this);
    m_close->setObjectName(QStringLiteral("remeasureClose"));
    m_close->setAutoRaise(true);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    row->addWidget(m_text, 1);
    row->addWidget(m_progress);
    row->addWidget(m_stop);
    row->addWidget(m_close);
    retranslated(this, [this] {
        m_progress->setAccessibleName(tr("Progress"));
        m_stop->setText(tr("Stop"));
        m_stop->setToolTip(tr("Results so far are kept"));
        m_close->setText(tr("Close"));
        m_close->setToolTip(tr("Hide this bar"));
    });
    TrialJobs& jobs = workspace.trialJobs();
    connect(m_stop, &QToolButton::clicked, this, [this, &jobs] {
        jobs.cancel();
        m_stop->setEnabled(false);
    });
    connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
    connect(&jobs, &TrialJobs::started, this, [this](int count) {
        m_progress->setValue(0);
        m_stop->setEnabled(true);
        show(count == 1 ? tr("Measuring one trial again…") : tr("Measuring %1 trials again…").arg(count), true);
    });
    connect(&jobs, &TrialJobs::progressed, this, [this](const QString&, double fraction) {
        m_progress->setValue(static_cast<int>(std::lround(fraction * 1000)));
    });
    connect(&jobs, &TrialJobs::ended, this,
            [this](const std::vector<session::RemeasuredTrial>& trials) { show(outcome(trials), false); });
    connect(&jobs, &TrialJobs::failed, this, [this](const Error& error) { show(errorText(error), false); });
    if (tells == Tells::MeasuredAndImported)
        tellImports(jobs);
    connect(&workspace.bridge(), &SessionBridge::opened, this, &QWidget::hide);
    connect(&workspace.bridge(), &SessionBridge::closed, this, &QWidget::hide);
    hide();
}

void RemeasureBar::tellImports(TrialJobs& jobs)
{
    connect(m_stop, &QToolButton::clicked, &jobs, &TrialJobs::cancelImport);
    connect(&jobs, &TrialJobs::importStarted, this, [this, &jobs](const QStringList& files) {
        if (jobs.isMeasuring())
            return; // what takes longer is shown
        m_progress->setValue(0);
        m_stop->setEnabled(true);
        show(files.size() == 1 ? tr("Importing %1…").arg(QFileInfo(files.first()).fileName())
                               : tr("Importing %1 tuning logs…").arg(files.size()),
             true);
    });
    const auto ofImport = [this, &jobs](const QString& text) {
        if (!jobs.isMeasuring())
            show(text, false);
    };
    connect(&jobs, &TrialJobs::importProgressed, this, [this, &jobs](double fraction) {
        if (!jobs.isMeasuring())
            m_progress->setValue(static_cast<int>(std::lround(fraction * 1000)));
    });
    connect(&jobs, &TrialJobs::imported, this,
            [ofImport](const session::LogImport& done) { ofImport(Workspace::importText(done)); });
    connect(&jobs, &TrialJobs::importFailed, this, [ofImport](const Error& error) { ofImport(errorText(error)); });
}

void RemeasureBar::show(const QString& text, bool going)
{
    m_text->setText(text);
    m_progress->setVisible(going);
    m_stop->setVisible(going);
    m_close->setVisible(!going);
    setVisible(true);
}

QString RemeasureBar::outcome(const std::vector<session::RemeasuredTrial>& trials)
{
    const auto count = [&](auto what) { return static_cast<int>(std::count_if(trials.begin(), trials.end(), what)); };
    const int valid = count([](const auto& t) { return t.code == "Ok"; });
    const int refused = count([](const auto& t) { return t.trial.empty(); });
    const int failed = static_cast<int>(trials.size()) - valid - refused;
    if (trials.size() == 1 && valid == 1) {
        const session::RemeasuredTrial& trial = trials.front();
        if (!std::isfinite(trial.beforeMs))
            return tr("Measured again: %1; it had failed before.").arg(msText(trial.costMs));
        return tr("Measured again: %1, before %2 (%3 %).")
            .arg(msText(trial.costMs), msText(trial.beforeMs))
            .arg(100 * (trial.costMs / trial.beforeMs - 1), 0, 'f', 1);
    }
    QString text = tr("Measured again: %1 valid, %2 failed.").arg(valid).arg(failed);
    if (refused > 0)
        text += QLatin1Char(' ') + tr("Not tried: %1").arg(refused) + QLatin1Char(' ');
    const auto reason = std::find_if(trials.begin(), trials.end(), [refused](const auto& t) {
        return refused > 0 ? t.trial.empty() : t.code != "Ok";
    });
    if (reason != trials.end())
        text += (refused > 0 ? QString() : QStringLiteral(" ")) + coreLine(reason->text, reason->about);
    return text;
}

} // namespace lathe::ui
