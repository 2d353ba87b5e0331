#include "core/session/options/budget_text.h"
#include "ui/bridge/farm_link.h"
#include "ui/bridge/session_bridge.h"
#include "ui/dialogs/run_options_dialog.h"
#include "ui/models/core_text.h"
#include "ui/models/farm_texts.h"
#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/run_defaults.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/page.h"
#include "ui/pages/run_bar.h"
#include "ui/shell/head_start_menu.h"
#include "ui/shell/main_window.h"
#include "ui/shell/window_layout.h"

#include <QCursor>
#include <QLabel>
#include <QStatusBar>
#include <QToolTip>

#include <cmath>

// How runs begin from the window, what they may have, and what it says of them.

namespace lathe::ui {

namespace {
constexpr int kNoticeMs = 6000;
}

Result<session::TuneOptions> MainWindow::wantedRun(RunStart how) const
{
    session::TuneOptions options = m_workspace->bridge().openedUsual();
    LATHE_TRY_ASSIGN(const session::TuneOptions picked, m_bar->tuneOptions());
    options.seconds = picked.seconds;
    options.trials = picked.trials;
    options.minGainPercent = picked.minGainPercent;
    options.gainWindowSeconds = picked.gainWindowSeconds;
    options.devices = picked.devices;
    options.broker = picked.broker;
    options.credentials = picked.credentials;
    // What the earlier runs began with holds until somebody picks another.
    if (m_choices.headStart || m_workspace->figures().trials == 0)
        options.headStart = m_headStart->choice().toStdString();
    if (m_choices.search && m_choices.search->policy != options.policy)
        options.headStart.clear(); // of the other policy; this one begins as it does usually
    if (m_choices.search && how != RunStart::Resume) // a run that is resumed has its own
        options = session::withSearch(std::move(options), *m_choices.search);
    options.resume = how == RunStart::Resume;
    options.startOver = how == RunStart::Over;
    if (!options.resume)
        return options;
    if (!m_bar->isBudgetGiven()) { // what was left of its own
        options.seconds = options.minGainPercent = 0;
        options.trials = 0;
        return options;
    }
    // The budget counts the whole run: so much more than it has had.
    if (options.seconds > 0)
        options.seconds += m_workspace->figures().runSeconds;
    if (options.trials > 0)
        options.trials += RoundModel::of(*m_workspace).trials();
    return options;
}

void MainWindow::startRun(RunStart how)
{
    const auto options = wantedRun(how);
    if (!options) {
        m_workspace->addIssue(tr("budget"), options.error());
        return;
    }
    if (m_workspace->tasks().rowCount() == 0) {
        const QString why = tr("Not started: this network has no tasks to tune");
        m_workspace->addIssue(QStringLiteral("Unsupported"), m_workspace->source(), why);
        QToolTip::showText(QCursor::pos(), why, m_bar);
        statusBar()->showMessage(why, kNoticeMs);
        return;
    }
    m_bar->forgetBudget();
    m_layout->showFor(Occasion::RunStarted, false);
    m_workspace->bridge().start(*options);
    updateState();
}

void MainWindow::showRunOptions()
{
    const session::TuneOptions& usual = m_workspace->bridge().openedUsual();
    auto* dialog = new RunOptionsDialog(usual, m_choices.search.value_or(session::searchOf(usual)),
                                        m_workspace->tasks().rowCount(), this);
    connect(&m_workspace->bridge(), &SessionBridge::closing, dialog, &QDialog::close);
    connect(dialog, &RunOptionsDialog::chosen, this, [this](const session::SearchChoice& choice) {
        m_choices.search = choice;
        keepChoices();
        updateState();
    });
    dialog->show();
}

/// How the next run finds candidates, where that is not as usual.
QString MainWindow::searchText() const
{
    if (!m_choices.search || *m_choices.search == session::SearchChoice() || m_workspace->replay() != nullptr)
        return {};
    const session::SearchChoice& search = *m_choices.search;
    QStringList parts{tr("policy %1").arg(QString::fromStdString(search.policy))};
    if (!search.preset.empty())
        parts << tr("preset %1").arg(QString::fromStdString(search.preset));
    if (!search.tuner.empty())
        parts << tr("tuner %1").arg(QString::fromStdString(search.tuner));
    if (!search.operators.empty() || !search.tasks.empty())
        parts << tr("not all tasks");
    return tr("The next run: %1").arg(parts.join(QStringLiteral(", ")));
}

/// What the project that is open says of its runs; the settings' defaults where it says nothing.
void MainWindow::takeChoices()
{
    m_choices = m_workspace->bridge().openedChoices();
    m_bar->setBudget(QString::fromStdString(m_choices.budget));
    m_headStart->setChoice(m_choices.headStart ? QString::fromStdString(*m_choices.headStart) : usualHeadStart());
}

void MainWindow::keepChoices()
{
    m_workspace->bridge().keepChoices(m_choices);
}

/// Of the run that goes on: so much more than it has had, or than was left where the text begins with a plus.
void MainWindow::changeRunBudget(const QString& text)
{
    session::ProjectPart* const project = m_workspace->session()->project();
    session::TuneOptions wanted;
    auto changed = session::applyBudget(text.toStdString(), session::localTime(), wanted);
    if (changed && project != nullptr) {
        const RoundModel& rounds = RoundModel::of(*m_workspace);
        double seconds = wanted.seconds > 0 ? m_workspace->figures().runSeconds + wanted.seconds : 0;
        if (seconds > 0 && text.startsWith(QLatin1Char('+')) && std::isfinite(rounds.leftSeconds()))
            seconds += rounds.leftSeconds();
        changed = project->setRunBudget(seconds, wanted.trials > 0 ? rounds.trials() + wanted.trials : 0);
    }
    if (!changed)
        m_workspace->addIssue(tr("budget"), changed.error());
    else
        statusBar()->showMessage(tr("The budget changes after this round"), kNoticeMs);
}

/// The farm is heard from the start, if one was connected last time: whoever opens the window sees it at once.
void MainWindow::connectFarm()
{
    FarmLink& farm = m_workspace->farm();
    connect(&farm, &FarmLink::changed, this, &MainWindow::showFarm);
    connect(m_workspace, &Workspace::farmKeyWanted, this, [this](const QString& key) {
        statusBar()->showMessage(m_bar->pickFarmKey(key)
                                     ? tr("The next run measures on devices of the key %1").arg(key)
                                     : tr("The devices of the key %1 do not measure for the target %2: choose another "
                                          "target first")
                                           .arg(key, m_bar->targetName()),
                                 kNoticeMs);
    });
    retranslated(this, [this] { showFarm(); });
    farm.connectAgain();
}

void MainWindow::showFarm()
{
    const FarmLink& farm = m_workspace->farm();
    m_bar->setFarm(FarmOffer::of(farm));
    std::size_t total = 0, free = 0, place = 0;
    for (const session::FarmKeyView& key : farm.view().keys) {
        total += key.total;
        free += key.free;
    }
    for (const session::FarmClaimView& claim : farm.view().claims)
        if (claim.place > 0 && (place == 0 || claim.place < place) && !farm.user().isEmpty()
            && claim.user == farm.user().toStdString())
            place = claim.place;
    QString text, tip = tr("The broker is %1").arg(farm.place().broker);
    switch (farm.state()) {
    case FarmLink::State::None: break;
    case FarmLink::State::Connecting: text = tr("Farm: connecting…"); break;
    case FarmLink::State::Connected: {
        text = tr("Farm: %n devices, %1 free", nullptr, static_cast<int>(total)).arg(free);
        if (place > 0)
            text += tr(", you wait at place %1").arg(place);
        break;
    }
    case FarmLink::State::Away:
        text = tr("▲ Broker does not answer");
        tip = tr("The broker %1 was heard last at %2")
                  .arg(farm.place().broker, farm.heardAt().toString(QStringLiteral("HH:mm:ss")));
        break;
    case FarmLink::State::Failed:
        text = farm.failure() && farm.failure()->code == Errc::NotFound ? tr("▲ Broker does not answer")
                                                                        : tr("▲ Farm: not connected");
        tip = farm.failure() ? errorText(*farm.failure()) : QString();
        break;
    }
    m_farm->setVisible(!text.isEmpty());
    m_farm->setText(text);
    m_farm->setToolTip(plainTip(tip));
}

/// What the bar says beside the budget.
QString MainWindow::runText(session::RunState state) const
{
    const RoundModel& rounds = RoundModel::of(*m_workspace);
    const bool limited = std::isfinite(rounds.leftSeconds());
    switch (state) {
    case session::RunState::Starting: return m_workspace->figures().progress;
    case session::RunState::Running: return rounds.forecast();
    case session::RunState::Pausing: return tr("Pausing after this round");
    case session::RunState::Paused:
        return limited ? tr("Paused, %1 left").arg(minutesText(rounds.leftSeconds())) : tr("Paused");
    default: return searchText();
    }
}

} // namespace lathe::ui
