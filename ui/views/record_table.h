#pragma once

#include "ui/views/table_view.h"

namespace lathe::ui {

/// A table whose rows may not all be at hand: copying and saving are left to the page, since texts must be read first.
class RecordTable final : public TableView
{
    Q_OBJECT

public:
    using TableView::TableView;

signals:
    void copyRequested();
    void exportRequested();
    void remeasureRequested(); ///< the selected ones
    void remeasureCommandRequested();
    void exportCommandRequested();
    void noteRequested(); ///< on the current one

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
};

} // namespace lathe::ui
