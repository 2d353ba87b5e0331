#include "ui/dialogs/checks_dialog.h"

#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/workspace.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace lathe::ui {

ChecksDialog::ChecksDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("checksDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_problem = new QLabel(this);
    m_problem->setWordWrap(true);
    const auto table = [this](const char* name, int columns) {
        auto* made = new QTreeWidget(this);
        made->setObjectName(QLatin1String(name));
        made->setRootIsDecorated(false);
        made->setColumnCount(columns);
        made->setWordWrap(true);
        made->setAlternatingRowColors(true);
        return made;
    };
    m_list = table("checksList", 2);
    m_list->header()->setStretchLastSection(true);
    m_list->setColumnWidth(0, 60);
    m_findings = table("checksFindings", 3);
    m_findings->setColumnWidth(0, 190);
    m_findings->setColumnWidth(1, 340);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_problem);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_findings, 1);
    layout->addWidget(buttons);
    connect(m_findings, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
        if (const int task = item->data(0, Qt::UserRole).toInt(); task >= 0)
            m_workspace.selection().selectTask(task);
    });
    connect(&workspace, &Workspace::verdictChanged, this, &ChecksDialog::read);
    retranslated(this, [this] {
        setWindowTitle(tr("Checks"));
        m_list->setAccessibleName(tr("Checks of the project"));
        m_list->setHeaderLabels({tr("Good"), tr("Check")});
        m_findings->setAccessibleName(tr("What you can do"));
        m_findings->setHeaderLabels({tr("What"), tr("Evidence"), tr("Cure")});
        fill();
    });
    resize(900, 520);
    read();
}

void ChecksDialog::read()
{
    const session::TuningSession* session = m_workspace.session();
    auto history = session != nullptr ? session->history() : Result<std::unique_ptr<session::History>>(Error{});
    if (!history) {
        m_reader.setHistory(nullptr);
        fill();
        return;
    }
    m_reader.setHistory(*std::move(history));
    m_reader.ask([](session::History& reader, std::stop_token) { return reader.checks(); },
                 [this](Result<std::vector<session::Check>> checks) {
                     m_problem->setText(checks ? QString() : errorText(checks.error()));
                     m_checks = checks ? *std::move(checks) : std::vector<session::Check>();
                     fill();
                 });
    fill();
}

void ChecksDialog::fill()
{
    m_problem->setVisible(!m_problem->text().isEmpty());
    m_list->clear();
    for (const session::Check& check : m_checks) {
        auto* row = new QTreeWidgetItem(m_list,
                                        {check.good ? QStringLiteral("✓") : QStringLiteral("✗"), coreText(check.text)});
        row->setTextAlignment(0, Qt::AlignCenter);
        row->setToolTip(1, row->text(1));
    }
    m_findings->clear();
    if (m_workspace.verdict())
        for (const session::Finding& finding : m_workspace.verdict()->findings) {
            auto* row = new QTreeWidgetItem(
                m_findings, {coreText(finding.title), coreText(finding.evidence), coreText(finding.cure)});
            row->setData(0, Qt::UserRole, finding.task);
            for (int column = 0; column < 3; ++column)
                row->setToolTip(column, row->text(column));
        }
    if (m_findings->topLevelItemCount() > 0)
        return;
    auto* none = new QTreeWidgetItem(m_findings,
                                     {m_workspace.verdict() ? tr("No reason was found to doubt the figures.")
                                                            : tr("No run of this project has been checked yet.")});
    none->setData(0, Qt::UserRole, -1);
    none->setFlags(Qt::NoItemFlags);
    none->setFirstColumnSpanned(true);
}

} // namespace lathe::ui
