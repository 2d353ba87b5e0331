#include "ui/views/table_view.h"

#include "ui/views/view_export.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QMouseEvent>
#include <QScopedValueRollback>
#include <QSettings>

#include <algorithm>

namespace lathe::ui {

TableView::TableView(const char* name, QWidget* parent)
    : QTableView(parent)
{
    setObjectName(QLatin1String(name));
    setSelectionBehavior(SelectRows);
    setEditTriggers(NoEditTriggers);
    setAlternatingRowColors(true);
    setShowGrid(false);
    setWordWrap(false);
    setTabKeyNavigation(false); // Tab leaves the table
    setDragDropMode(DragOnly);
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
    m_roomByHand = QSettings().value(roomKey(), false).toBool();
    m_restored = true;
    giveRoom();
}

QString TableView::roomKey() const
{
    return QStringLiteral("columns/") + objectName() + QStringLiteral("ByHand");
}

void TableView::setRoomColumn(int column, const QList<int>& beside, int least)
{
    m_roomColumn = column;
    m_besideRoom = beside;
    m_roomLeast = least;
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int resized, int, int) {
        if (m_restored && !m_givingRoom && resized == m_roomColumn
            && (QGuiApplication::mouseButtons() & Qt::LeftButton) != 0)
            m_roomByHand = true;
        else if (m_restored && !m_givingRoom && m_besideRoom.contains(resized))
            giveRoom();
    });
}

void TableView::giveRoom()
{
    if (m_roomColumn < 0 || m_roomByHand || !m_restored)
        return;
    int left = viewport()->width();
    for (const int column : m_besideRoom)
        left -= isColumnHidden(column) ? 0 : columnWidth(column);
    const QScopedValueRollback guard(m_givingRoom, true);
    setColumnWidth(m_roomColumn, std::max(left, m_roomLeast));
}

void TableView::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    giveRoom();
}

void TableView::saveColumns() const
{
    if (!m_restored)
        return;
    QSettings().setValue(QStringLiteral("columns/") + objectName(), horizontalHeader()->saveState());
    if (m_roomByHand)
        QSettings().setValue(roomKey(), true);
    else
        QSettings().remove(roomKey());
}

void TableView::headerMenu(QPoint at)
{
    QMenu menu(this);
    for (int column = 0; column < model()->columnCount(); ++column) {
        QAction* shown = menu.addAction(model()->headerData(column, Qt::Horizontal).toString());
        shown->setCheckable(true);
        shown->setChecked(!isColumnHidden(column));
        shown->setEnabled(isColumnHidden(column)
                          || horizontalHeader()->hiddenSectionCount() + 1 < model()->columnCount());
        connect(shown, &QAction::toggled, this, [this, column](bool on) { setColumnHidden(column, !on); });
    }
    menu.addSeparator();
    menu.addAction(tr("Fit the columns"), this, &QTableView::resizeColumnsToContents);
    menu.addAction(tr("Restore the default columns"), this, [this] {
        horizontalHeader()->restoreState(m_defaults);
        m_roomByHand = false;
        giveRoom();
    });
    menu.exec(horizontalHeader()->viewport()->mapToGlobal(at));
}

void TableView::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        copyView(*this);
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
    QAction* copy = menu.addAction(tr("&Copy"), this, [this] { copyView(*this); });
    copy->setShortcut(QKeySequence::Copy);
    copy->setEnabled(selectionModel()->hasSelection());
    menu.addAction(tr("Copy as C&SV"), this, [this] {
        QApplication::clipboard()->setText(
            rowsText(rowsOf(*this, !selectionModel()->hasSelection()), QLatin1Char(',')));
    });
    menu.addAction(tr("&Save this view…"), this, [this] {
        if (const QString problem = browseAndSaveView(*this); !problem.isEmpty())
            QMessageBox::warning(window(), tr("Not saved"), problem);
    });
    if (!m_menuActions.isEmpty())
        menu.addSeparator();
    menu.addActions(m_menuActions);
    // By the keyboard's menu key: the current row.
    const QModelIndex at = event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : indexAt(event->pos());
    if (at.isValid())
        emit menuAboutToShow(&menu, at);
    menu.exec(event->globalPos());
}

void TableView::mousePressEvent(QMouseEvent* event)
{
    // Dragging what is selected takes it out; dragging over other rows selects them.
    const QModelIndex index = indexAt(event->position().toPoint());
    setDragEnabled(index.isValid() && selectionModel()->isSelected(index));
    QTableView::mousePressEvent(event);
}

void TableView::startDrag(Qt::DropActions)
{
    dragView(*this);
}

} // namespace lathe::ui
