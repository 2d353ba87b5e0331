#include "ui/views/record_table.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>

namespace lathe::ui {

void RecordTable::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        emit copyRequested();
        event->accept();
        return;
    }
    TableView::keyPressEvent(event);
}

void RecordTable::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    QAction* copy = menu.addAction(tr("&Copy"), this, &RecordTable::copyRequested);
    copy->setShortcut(QKeySequence::Copy);
    copy->setEnabled(selectionModel()->hasSelection());
    QAction* again = menu.addAction(tr("&Measure again"), this, &RecordTable::remeasureRequested);
    QAction* note = menu.addAction(tr("&Note…"), this, &RecordTable::noteRequested);
    for (QAction* action : {again, note})
        action->setEnabled(selectionModel()->hasSelection());
    menu.addAction(tr("&Export the list…"), this, &RecordTable::exportRequested);
    const QModelIndex at = event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : indexAt(event->pos());
    if (at.isValid())
        emit menuAboutToShow(&menu, at);
    menu.addSeparator();
    menu.addAction(tr("Copy command line: measure again"), this, &RecordTable::remeasureCommandRequested)
        ->setEnabled(selectionModel()->hasSelection());
    menu.addAction(tr("Copy command line: export the list"), this, &RecordTable::exportCommandRequested);
    menu.exec(event->globalPos());
}

} // namespace lathe::ui
