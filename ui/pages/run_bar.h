#pragma once

#include "core/session/device_directory.h"
#include "core/session/session.h"
#include "ui/models/farm_offer.h"

#include <QToolBar>

#include <optional>

QT_BEGIN_NAMESPACE
class QAction;
class QComboBox;
class QLabel;
QT_END_NAMESPACE

namespace lathe::ui {

/// The toolbar of a run: target, device, budget; start, pause, stop, export; what is left.
class RunBar final : public QToolBar
{
    Q_OBJECT

public:
    static constexpr int kClosedTitle = Qt::UserRole + 2; ///< role of what a list's entry is called once it is closed

    explicit RunBar(QWidget* parent = nullptr);

    QString target() const;
    void setTarget(const QString& target);
    QString targetName() const; ///< as figures name it: without the name of its device
    /// Picks a device for the target; empty: its first. One that is not there (yet) is picked as soon as it is. With a
    /// `broker`, the devices of a key there: picked at once, whether the broker answers or not, since a run must not
    /// measure elsewhere without somebody's word.
    void setDevice(const QString& key, const QString& broker = {});
    /// What can be picked. Until it is known, a run takes its target's first device.
    void setDevices(session::DeviceDirectory devices);
    /// Keys that can be picked beside this machine's devices.
    void setFarm(FarmOffer farm);
    /// Whether the key's devices fit the target; else nothing is picked.
    bool pickFarmKey(const QString& key);
    /// `tuned`: the project has trials, from which a run tunes on.
    void setState(bool modelOpen, session::RunState state, bool canResume, bool tuned);
    /// Why the project cannot be written to; empty: it can.
    void setReadOnly(const QString& why);
    void setBudget(const QString& text); ///< of the project; empty: the usual one
    void setRemaining(const QString& text);
    /// A replay takes none of the actions that tune, and has its own bar to play and pause it: their buttons go. Their
    /// keys stay.
    void setReplay(bool replay);
    /// Whether somebody has chosen the budget, since the network was opened or a run began.
    bool isBudgetGiven() const { return m_budgetGiven; }
    void forgetBudget() { m_budgetGiven = false; }
    /// The device that is picked, and the budget as of now: "until 18:00" counts from here. InvalidArgument: what
    /// stands there is no budget.
    Result<session::TuneOptions> tuneOptions() const;

    QAction* openAction() const { return m_open; }
    QAction* startAction() const { return m_start; }
    QAction* pauseAction() const { return m_pause; }
    QAction* stopAction() const { return m_stop; }
    QAction* startOverAction() const { return m_startOver; }
    QAction* resumeAction() const { return m_resume; }
    QAction* exportAction() const { return m_export; }

signals:
    void targetChanged(const QString& target);
    void runBudgetChosen(const QString& text); ///< for the run that goes on: "+5 min", "until 18:00"
    void budgetPicked(const QString& text); ///< for the runs to come

protected:
    void changeEvent(QEvent* event) override;

private:
    void connectPickers();
    void addStartOver();
    void hangStartOver();
    void applyIcons();
    void showTarget();
    void showPicked();
    void offerTargets();
    void nameTargets();
    void offerDevices();
    void offerHere();
    void offerFarm(const QString& picked);
    QString whyNotAtFarm() const;
    static QString closedTitle(const QString& key, bool there);
    void fitDevices();
    void takeDevice(session::TuneOptions& options) const;
    bool canMeasure() const;
    void enableActions();
    void offerBudgets();
    bool isActive() const;
    QAction* m_open = nullptr;
    QAction* m_start = nullptr;
    QAction* m_startOver = nullptr;
    QAction* m_resume = nullptr;
    QAction* m_pause = nullptr;
    QAction* m_stop = nullptr;
    QAction* m_export = nullptr;
    QComboBox* m_target = nullptr;
    QComboBox* m_device = nullptr;
    QString m_wantedDevice; ///< of the project
    QComboBox* m_budget = nullptr;
    QLabel* m_remaining = nullptr;
    std::optional<session::DeviceDirectory> m_devices; ///< nothing: not known yet
    FarmOffer m_farm;
    bool m_replay = false;
    QString m_readOnly; ///< why
    QString m_wantedBudget; ///< for the runs to come, while the list is another
    bool m_modelOpen = false, m_canResume = false, m_tuned = false, m_budgetGiven = false;
    bool m_offersForRun = false; ///< what the list of budgets holds
    session::RunState m_state = session::RunState::Idle;
};

} // namespace lathe::ui
