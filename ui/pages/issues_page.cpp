#include "ui/pages/issues_page.h"

#include "ui/models/issue_model.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"
#include "ui/views/table_view.h"

#include <QVBoxLayout>

namespace lathe::ui {

IssuesPage::IssuesPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
{
    auto* table = new TableView("issueTable", this);
    table->setModel(&workspace.issues());
    table->setColumnWidth(IssueModel::CodeColumn, 130);
    table->setColumnWidth(IssueModel::CountColumn, 60);
    table->setColumnWidth(IssueModel::WhereColumn, 200);
    table->restoreColumns();
    retranslated(table, [table, &workspace] {
        table->setAccessibleName(tr("Issues"));
        workspace.issues().retranslate();
    });
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(table);
    setFocusProxy(table);
    connect(table, &QTableView::activated, this, [&workspace](const QModelIndex& index) {
        if (const int task = index.data(IssueModel::TaskIdRole).toInt(); task >= 0)
            workspace.selection().selectTask(task);
    });
}

} // namespace lathe::ui
