#include "ui/dialogs/unsupported_dialog.h"

#include "ui/models/import_problems.h"
#include "ui/models/language.h"
#include "ui/views/table_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QStandardItemModel>
#include <QVBoxLayout>

namespace lathe::ui {

namespace {

enum Column
{
    WhatColumn,
    CountColumn,
    NodesColumn,
    ColumnCount
};

} // namespace

UnsupportedDialog::UnsupportedDialog(const QString& model, About refusal, QWidget* parent)
    : QDialog(parent)
    , m_model(model)
    , m_refusal(std::move(refusal))
{
    setObjectName(QStringLiteral("unsupportedDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_intro = new QLabel(this);
    m_intro->setObjectName(QStringLiteral("unsupportedIntro"));
    m_intro->setWordWrap(true);
    m_rows = new QStandardItemModel(0, ColumnCount, this);
    m_table = new TableView("unsupportedTable", this);
    m_table->setModel(m_rows);
    m_table->setColumnWidth(WhatColumn, 260);
    m_table->setColumnWidth(CountColumn, 60);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->restoreColumns();
    m_close = new QPushButton(this);
    m_close->setObjectName(QStringLiteral("unsupportedClose"));
    connect(m_close, &QPushButton::clicked, this, &QDialog::close);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(m_close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_intro);
    layout->addWidget(m_table, 1);
    layout->addLayout(buttons);
    retranslated(this, [this] { retranslate(); });
    resize(QSize(720, 360).boundedTo(screen()->availableSize() * 0.85));
}

void UnsupportedDialog::retranslate()
{
    setWindowTitle(tr("Not supported"));
    m_close->setText(tr("C&lose"));
    m_table->setAccessibleName(tr("What is not supported"));
    m_rows->setHorizontalHeaderLabels({tr("What"), tr("Nodes"), tr("Names of the nodes")});
    m_rows->removeRows(0, m_rows->rowCount());
    int nodes = 0;
    for (const ImportProblem& problem : importProblems(m_refusal)) {
        QString names = problem.nodes.join(QStringLiteral(", "));
        if (problem.count > problem.nodes.size())
            names += tr(", %1 more").arg(problem.count - problem.nodes.size());
        auto* count = new QStandardItem;
        count->setData(problem.count, Qt::DisplayRole);
        count->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        QList<QStandardItem*> row = {new QStandardItem(problem.what), count, new QStandardItem(names)};
        for (QStandardItem* item : row) {
            item->setEditable(false);
            item->setToolTip(item->text());
        }
        m_rows->appendRow(row);
        nodes += problem.count;
    }
    m_intro->setText(tr("%1 uses features that Lathe does not support. Export the model without them, or replace these "
                        "nodes (%2 in all).")
                         .arg(m_model)
                         .arg(nodes));
}

} // namespace lathe::ui
