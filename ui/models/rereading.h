#pragma once

#include "ui/models/pace.h"

#include <QObject>

#include <functional>

namespace lathe::ui {

class Workspace;

/// When a view of what the records of tasks come to is read anew: at once after trials were imported or measured again,
/// and while a run measures every few seconds. One read at a time: what changes during a read is read after it, so that
/// a slow one ends however much happens. GUI thread.
class Rereading final : public QObject
{
    Q_OBJECT

public:
    /// `begin` begins a read and says whether it did: not while the view is out of sight, or nothing is open. Whoever
    /// began one calls ended() or dropped().
    Rereading(Workspace& workspace, std::function<bool()> begin, QObject* parent = nullptr);

    /// What is shown is out of date: it is read now, else after the read that is running, else at resume().
    void ask();
    /// A read that could not begin may be able to now.
    void resume();
    void ended(); ///< the read has, whatever came of it
    void dropped(); ///< the read was: its answer is of no use any more

private:
    std::function<bool()> m_begin;
    Pace m_pace;
    bool m_wanted = true; ///< nothing was read yet
    bool m_isReading = false;
};

} // namespace lathe::ui
