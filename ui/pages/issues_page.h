#pragma once

#include "ui/models/issue_model.h"
#include "ui/pages/page.h"

#include <QList>

namespace lathe::ui {

class TableView;
class Workspace;

/// What went wrong, repeats counted. Each row has something that can be done about it: a double click or Enter does
/// what helps most, the menu has all of it.
class IssuesPage final : public Page
{
    Q_OBJECT

public:
    IssuesPage(Workspace& workspace, QWidget* parent);
    bool isFor(Occasion occasion) const override { return occasion == Occasion::IssueRaised; }

private:
    struct Entry
    {
        IssueAction::Kind kind;
        QAction* action;
    };
    std::vector<IssueAction> actionsHere() const; ///< of the current row, without those that are of no use now
    void updateActions();
    void run(const IssueAction& action);
    int nodeNamed(const QString& name) const; ///< of the network that is open; -1: it has none
    void retranslate();

    Workspace& m_workspace;
    TableView* m_table = nullptr;
    QList<Entry> m_entries;
};

} // namespace lathe::ui
