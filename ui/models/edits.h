#pragma once

#include "core/session/views.h"

#include <QObject>
#include <QString>
#include <QUndoStack>

namespace lathe::ui {

class Workspace;

/// A person's changes to the project, each of which can be undone: budgets of tasks, notes, limits. One object per
/// workspace; forgets all when another project is opened.
class Edits final : public QObject
{
    Q_OBJECT

public:
    explicit Edits(Workspace& workspace);
    ~Edits() override;

    QUndoStack& stack() { return m_stack; }

    /// False, and a row among the issues, where the session refuses it. Successive changes of one task's cap are one
    /// edit.
    bool setBudget(int task, const session::TaskBudget& budget);
    bool setRunTimeout(double seconds);
    double runTimeout() const; ///< seconds that a candidate may run; the default if nothing or a replay is open
    /// `trial` empty: the project's; `before`: what it was. Written on a thread: noteChanged() follows.
    void setNote(const QString& trial, const QString& before, const QString& after);

    /// As stored; empty: none.
    QString projectNote() const { return m_projectNote; }

signals:
    void budgetChanged(int task);
    void runTimeoutChanged(double seconds);
    void noteChanged(const QString& trial, const QString& text);

private:
    friend class BudgetEdit;
    friend class TimeoutEdit;
    friend class NoteEdit;
    bool applyBudget(int task, const session::TaskBudget& budget);
    bool applyTimeout(double seconds);
    void applyNote(const QString& trial, const QString& text);

    Workspace& m_workspace;
    QUndoStack m_stack;
    QString m_projectNote;
};

} // namespace lathe::ui
