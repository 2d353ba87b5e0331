#include "ui/models/edits.h"

#include "ui/bridge/session_bridge.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"

#include <QUndoCommand>

namespace lathe::ui {

namespace {

/// The field of a budget that a change is about; 0: several.
int changedField(const session::TaskBudget& a, const session::TaskBudget& b)
{
    const bool changed[] = {a.pinned != b.pinned, a.muted != b.muted, a.boost != b.boost, a.trialCap != b.trialCap};
    int field = 0;
    for (int i = 0; i < 4; ++i)
        if (changed[i])
            field = field == 0 ? i + 1 : 5;
    return field == 5 ? 0 : field;
}

} // namespace

class BudgetEdit final : public QUndoCommand
{
public:
    BudgetEdit(Edits& edits, int task, const QString& name, const session::TaskBudget& before,
               const session::TaskBudget& after)
        : m_edits(edits)
        , m_task(task)
        , m_before(before)
        , m_after(after)
        , m_field(changedField(before, after))
    {
        switch (m_field) {
        case 1: setText(after.pinned ? Edits::tr("pin %1").arg(name) : Edits::tr("unpin %1").arg(name)); break;
        case 2: setText(after.muted ? Edits::tr("mute %1").arg(name) : Edits::tr("unmute %1").arg(name)); break;
        case 3: setText(Edits::tr("weight of %1").arg(name)); break;
        case 4: setText(Edits::tr("cap of %1").arg(name)); break;
        default: setText(Edits::tr("budget of %1").arg(name)); break;
        }
    }
    void undo() override { setObsolete(!m_edits.applyBudget(m_task, m_before)); }
    void redo() override { setObsolete(!m_edits.applyBudget(m_task, m_after)); }
    int id() const override { return m_field == 4 ? 1 : -1; }
    bool mergeWith(const QUndoCommand* other) override
    {
        const auto* next = static_cast<const BudgetEdit*>(other);
        if (next->m_task != m_task)
            return false;
        m_after = next->m_after;
        setObsolete(m_after == m_before);
        return true;
    }

private:
    Edits& m_edits;
    int m_task;
    session::TaskBudget m_before, m_after;
    int m_field;
};

class TimeoutEdit final : public QUndoCommand
{
public:
    TimeoutEdit(Edits& edits, double before, double after)
        : m_edits(edits)
        , m_before(before)
        , m_after(after)
    {
        setText(Edits::tr("time limit of %1 s").arg(after));
    }
    void undo() override { setObsolete(!m_edits.applyTimeout(m_before)); }
    void redo() override { setObsolete(!m_edits.applyTimeout(m_after)); }

private:
    Edits& m_edits;
    double m_before, m_after;
};

class NoteEdit final : public QUndoCommand
{
public:
    NoteEdit(Edits& edits, QString trial, QString before, QString after)
        : m_edits(edits)
        , m_trial(std::move(trial))
        , m_before(std::move(before))
        , m_after(std::move(after))
    {
        setText(m_trial.isEmpty() ? Edits::tr("note on the project")
                                  : Edits::tr("note on trial %1").arg(m_trial.left(8)));
    }
    void undo() override { m_edits.applyNote(m_trial, m_before); }
    void redo() override { m_edits.applyNote(m_trial, m_after); }

private:
    Edits& m_edits;
    QString m_trial, m_before, m_after;
};

Edits::Edits(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
{
    const auto forget = [this] {
        m_stack.clear();
        m_projectNote.clear();
    };
    connect(&workspace.bridge(), &SessionBridge::closed, this, forget);
    connect(&workspace.bridge(), &SessionBridge::opened, this, [this, forget] {
        forget();
        m_workspace.trialJobs().readProjectNote();
    });
    connect(&workspace.trialJobs(), &TrialJobs::noteSet, this, [this](const QString& trial, const QString& text) {
        if (trial.isEmpty())
            m_projectNote = text;
        emit noteChanged(trial, text);
    });
    connect(&workspace.trialJobs(), &TrialJobs::noteFailed, this,
            [this](const QString&, const Error& error) { m_workspace.addIssue(tr("note"), error); });
}

Edits::~Edits() = default;

bool Edits::setBudget(int task, const session::TaskBudget& budget)
{
    const session::TaskBudget before = m_workspace.tasks().budget(task);
    if (before == budget)
        return true;
    m_stack.push(
        new BudgetEdit(*this, task, QString::fromStdString(m_workspace.tasks().task(task).name), before, budget));
    return m_workspace.tasks().budget(task) == budget;
}

bool Edits::setRunTimeout(double seconds)
{
    if (m_workspace.session() == nullptr)
        return false;
    if (runTimeout() == seconds)
        return true;
    m_stack.push(new TimeoutEdit(*this, runTimeout(), seconds));
    return runTimeout() == seconds;
}

double Edits::runTimeout() const
{
    const session::TuningSession* session = m_workspace.session();
    const session::ProjectPart* project = session == nullptr ? nullptr : session->project();
    return project == nullptr ? session::TuneOptions().timeoutSeconds : project->runTimeout();
}

void Edits::setNote(const QString& trial, const QString& before, const QString& after)
{
    if (m_workspace.session() != nullptr && before != after)
        m_stack.push(new NoteEdit(*this, trial, before, after));
}

bool Edits::applyBudget(int task, const session::TaskBudget& budget)
{
    session::TuningSession* session = m_workspace.session();
    if (session == nullptr)
        return false;
    session::ProjectPart* const project = session->project();
    if (const auto set = project != nullptr ? project->setBudget(task, budget)
                                            : Result<>(session::notInReplay("budget"));
        !set) {
        m_workspace.addIssue(tr("budget"), set.error());
        emit budgetChanged(task);
        return false;
    }
    m_workspace.tasks().setBudget(task, budget);
    emit budgetChanged(task);
    return true;
}

bool Edits::applyTimeout(double seconds)
{
    session::TuningSession* session = m_workspace.session();
    if (session == nullptr)
        return false;
    session::ProjectPart* const project = session->project();
    if (const auto set = project != nullptr ? project->setRunTimeout(seconds)
                                            : Result<>(session::notInReplay("time limit"));
        !set) {
        m_workspace.addIssue(tr("time limit"), set.error());
        return false;
    }
    m_workspace.log(tr("Time limit of a candidate: %1 s from the next round on").arg(seconds));
    emit runTimeoutChanged(seconds);
    return true;
}

void Edits::applyNote(const QString& trial, const QString& text)
{
    m_workspace.trialJobs().setNote(trial, text);
}

} // namespace lathe::ui
