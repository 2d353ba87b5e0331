#pragma once

#include "core/session/history.h"

#include <QObject>

namespace lathe::ui {

class Workspace;

/// Which trials the window shows, shared by its pages: the Records page edits and applies it, the failures set it.
class TrialFilter final : public QObject
{
    Q_OBJECT

public:
    /// The one of a workspace; made when first asked for.
    static TrialFilter& of(Workspace& workspace);

    const session::TrialQuery& query() const { return m_query; }
    /// `show`: the records are to be looked at now.
    void set(const session::TrialQuery& query, bool show);
    /// One trial is to be looked at in full: a row of the project.
    void requestRow(qint64 row) { emit rowRequested(row); }

signals:
    void changed();
    void showRequested();
    void rowRequested(qint64 row);

private:
    using QObject::QObject;
    session::TrialQuery m_query;
};

} // namespace lathe::ui
