#include "ui/pages/issues_page.h"

#include "ui/dialogs/manual_window.h"
#include "ui/dialogs/unsupported_dialog.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"
#include "ui/views/empty_state.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"

#include <QAction>
#include <QFileInfo>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

using Kind = IssueAction::Kind;

constexpr std::pair<Kind, const char*> kEntries[] = {
    {Kind::InputSizes, "issueInputSizes"}, {Kind::ListUnsupported, "issueListUnsupported"},
    {Kind::ShowTask, "issueShowTask"},     {Kind::ShowNode, "issueShowNode"},
    {Kind::Manual, "issueManual"},
};

} // namespace

IssuesPage::IssuesPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
{
    m_table = new TableView("issueTable", this);
    m_table->setModel(&workspace.issues());
    m_table->setColumnWidth(IssueModel::CodeColumn, 130);
    m_table->setColumnWidth(IssueModel::CountColumn, 60);
    m_table->setColumnWidth(IssueModel::WhereColumn, 200);
    m_table->restoreColumns();
    for (const auto& [kind, name] : kEntries) {
        auto* action = new QAction(this);
        action->setObjectName(QLatin1String(name));
        m_table->addMenuAction(action);
        m_entries << Entry{kind, action};
        connect(action, &QAction::triggered, this, [this, wanted = kind] {
            for (const IssueAction& possible : actionsHere())
                if (possible.kind == wanted) {
                    run(possible);
                    return;
                }
        });
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->addWidget(m_table);
    setFocusProxy(m_table);
    new EmptyState(m_table, [] { return EmptyState::Text{tr("No issues."), {}}; });
    const auto tellCount = [this] { emit countChanged(m_workspace.issues().rowCount()); };
    connect(&workspace.issues(), &QAbstractItemModel::rowsInserted, this, tellCount);
    connect(&workspace.issues(), &QAbstractItemModel::rowsRemoved, this, tellCount);
    connect(&workspace.issues(), &QAbstractItemModel::modelReset, this, tellCount);
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex&) {
        if (const auto possible = actionsHere(); !possible.empty())
            run(possible.front());
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &IssuesPage::updateActions);
    connect(&workspace.issues(), &QAbstractItemModel::modelReset, this, &IssuesPage::updateActions);
    retranslated(this, [this] { retranslate(); });
}

int IssuesPage::nodeNamed(const QString& name) const
{
    const session::TuningSession* const session = m_workspace.session();
    if (session == nullptr)
        return -1;
    const auto& nodes = session->graph()->nodes;
    const auto found = std::ranges::find(nodes, name.toStdString(), &session::NodeView::name);
    return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

std::vector<IssueAction> IssuesPage::actionsHere() const
{
    const QModelIndex current = m_table->currentIndex();
    if (!current.isValid())
        return {};
    std::vector<IssueAction> actions = m_workspace.issues().actionsOf(current.row());
    std::erase_if(actions, [this](const IssueAction& action) {
        return (action.kind == Kind::ShowNode && nodeNamed(action.subject) < 0)
               || (action.kind == Kind::ListUnsupported && m_workspace.refusalOf(action.subject) == nullptr);
    });
    return actions;
}

void IssuesPage::updateActions()
{
    const std::vector<IssueAction> possible = actionsHere();
    for (const Entry& entry : m_entries)
        entry.action->setVisible(std::ranges::find(possible, entry.kind, &IssueAction::kind) != possible.end());
}

void IssuesPage::run(const IssueAction& action)
{
    switch (action.kind) {
    case Kind::InputSizes: emit m_workspace.inputSizesWanted(action.subject); break;
    case Kind::ListUnsupported: {
        auto* dialog = new UnsupportedDialog(QFileInfo(action.subject).fileName(),
                                             m_workspace.refusalOf(action.subject), window());
        ManualWindow::setTopic(dialog, QStringLiteral("errors"));
        dialog->show();
        break;
    }
    case Kind::ShowTask: m_workspace.selection().selectTask(action.subject.toInt()); break;
    case Kind::ShowNode: {
        const int node = nodeNamed(action.subject);
        if (node >= 0)
            m_workspace.selection().selectNode(
                node, m_workspace.session()->graph()->nodes[static_cast<std::size_t>(node)].task);
        break;
    }
    case Kind::Manual: emit m_workspace.helpWanted(action.subject); break;
    case Kind::None: break;
    }
}

void IssuesPage::retranslate()
{
    const auto textOf = [](Kind kind) {
        switch (kind) {
        case Kind::InputSizes: return tr("Input si&zes…");
        case Kind::ListUnsupported: return tr("&List what is not supported…");
        case Kind::ShowTask: return tr("Show the &task");
        case Kind::ShowNode: return tr("Show the &node");
        case Kind::Manual: return tr("Open the &manual here");
        case Kind::None: break;
        }
        return QString();
    };
    m_table->setAccessibleName(tr("Issues"));
    m_workspace.issues().retranslate();
    for (const Entry& entry : m_entries)
        entry.action->setText(textOf(entry.kind));
    updateActions();
}

} // namespace lathe::ui
