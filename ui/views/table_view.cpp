#include "ui/views/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFile>
#include <QFileDialog>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QSaveFile>
#include <QSettings>

#include <algorithm>

namespace lathe::ui {

TableView::TableView(const char* name, QWidget* parent) : QTableView(parent)
{
    setObjectName(QLatin1String(name));
    setSelectionBehavior(SelectRows);
    setEditTriggers(NoEditTriggers);
    setAlternatingRowColors(true);
    setShowGrid(false);
    setWordWrap(false);
    setTabKeyNavigation(false); // Tab leaves the table
    setHorizontalScrollMode(ScrollPerPixel);
    setMinimumSize(80, 60);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsMovable(true);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(horizontalHeader(), &QHeaderView::customContextMenuRequested, this, &TableView::headerMenu);
}

TableView::~TableView()
{
    saveColumns();
}

void TableView::restoreColumns()
{
    m_defaults = horizontalHeader()->saveState();
    const QByteArray stored = QSettings().value(QStringLiteral("columns/") + objectName()).toByteArray();
    if (!stored.isEmpty())
        horizontalHeader()->restoreState(stored);
    m_restored = true;
}

void TableView::saveColumns() const
{
    if (m_restored)
        QSettings().setValue(QStringLiteral("columns/") + objectName(), horizontalHeader()->saveState());
}

void TableView::headerMenu(QPoint at)
{
    QMenu menu(this);
    for (int column = 0; column < model()->columnCount(); ++column) {
        QAction* shown = menu.addAction(model()->headerData(column, Qt::Horizontal).toString());
        shown->setCheckable(true);
        shown->setChecked(!isColumnHidden(column));
        shown->setEnabled(isColumnHidden(column) || horizontalHeader()->hiddenSectionCount() + 1 < model()->columnCount());
        connect(shown, &QAction::toggled, this, [this, column](bool on) { setColumnHidden(column, !on); });
    }
    menu.addSeparator();
    menu.addAction(tr("Fit the columns"), this, &QTableView::resizeColumnsToContents);
    menu.addAction(tr("Restore the default columns"), this, [this] { horizontalHeader()->restoreState(m_defaults); });
    menu.exec(horizontalHeader()->viewport()->mapToGlobal(at));
}

QString TableView::rowsAsText(QChar separator, bool all) const
{
    std::vector<int> columns;
    for (int visual = 0; visual < horizontalHeader()->count(); ++visual)
        if (const int column = horizontalHeader()->logicalIndex(visual); !isColumnHidden(column))
            columns.push_back(column);
    std::vector<int> rows;
    if (all)
        for (int row = 0; row < model()->rowCount(); ++row)
            rows.push_back(row);
    else
        for (const QModelIndex& index : selectionModel()->selectedRows())
            rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    QString text;
    const auto line = [&](auto&& cell) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            QString value = cell(columns[i]);
            if (separator == QLatin1Char(',')) {
                if (value.contains(QLatin1Char(',')) || value.contains(QLatin1Char('"')) || value.contains(QLatin1Char('\n')))
                    value = QLatin1Char('"') + value.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
            } else {
                value.replace(QLatin1Char('\t'), QLatin1Char(' ')).replace(QLatin1Char('\n'), QLatin1Char(' '));
            }
            text += (i == 0 ? QString() : QString(separator)) + value;
        }
        text += QLatin1Char('\n');
    };
    line([this](int column) { return model()->headerData(column, Qt::Horizontal).toString(); });
    for (const int row : rows)
        line([this, row](int column) { return model()->index(row, column).data().toString(); });
    return text;
}

void TableView::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(rowsAsText(QLatin1Char('\t'), false));
        event->accept();
        return;
    }
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid()) {
        emit activated(currentIndex());
        event->accept();
        return;
    }
    QTableView::keyPressEvent(event);
}

void TableView::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    QAction* copy = menu.addAction(tr("&Copy"), this, [this] { QApplication::clipboard()->setText(rowsAsText(QLatin1Char('\t'), false)); });
    copy->setShortcut(QKeySequence::Copy);
    copy->setEnabled(selectionModel()->hasSelection());
    menu.addAction(tr("Copy as C&SV"), this, [this] { QApplication::clipboard()->setText(rowsAsText(QLatin1Char(','), !selectionModel()->hasSelection())); });
    menu.addAction(tr("&Save all as CSV…"), this, [this] {
        const QString name = QFileDialog::getSaveFileName(this, tr("Save table"), objectName() + QStringLiteral(".csv"), tr("CSV (*.csv)"));
        if (name.isEmpty())
            return;
        QSaveFile file(name);
        if (file.open(QIODevice::WriteOnly)) {
            file.write(rowsAsText(QLatin1Char(','), true).toUtf8());
            file.commit();
        }
    });
    menu.exec(event->globalPos());
}

} // namespace lathe::ui
