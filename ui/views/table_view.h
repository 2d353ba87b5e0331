#pragma once

#include <QList>
#include <QMenu>
#include <QTableView>

namespace lathe::ui {

/// The table of all pages: rows are selected, columns are sized by hand and remembered under the object's name, the
/// header's menu hides and shows columns, Ctrl+C copies the selected rows with headings as text, and they can be
/// dragged out.
class TableView : public QTableView
{
    Q_OBJECT

public:
    /// Set the model and the default widths, then call restoreColumns().
    explicit TableView(const char* name, QWidget* parent = nullptr);
    ~TableView() override;

    /// The widths, order and visibility of last time; call once, after the defaults are set.
    void restoreColumns();
    /// This column takes the room that the columns `beside` leave in the view, at least `least` pixels, until somebody
    /// sizes it by hand. Call before restoreColumns().
    void setRoomColumn(int column, const QList<int>& beside, int least);
    /// Shown in the table's menu, after what all tables have.
    void addMenuAction(QAction* action) { m_menuActions << action; }

signals:
    /// Its menu opens: who knows what the rows are adds what can be done with this one.
    void menuAboutToShow(QMenu* menu, const QModelIndex& row);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void startDrag(Qt::DropActions supported) override;

private:
    void headerMenu(QPoint at);
    void saveColumns() const;
    void giveRoom();
    QString roomKey() const;
    QByteArray m_defaults;
    QList<QAction*> m_menuActions;
    bool m_restored = false;
    int m_roomColumn = -1, m_roomLeast = 0;
    QList<int> m_besideRoom;
    bool m_givingRoom = false, m_roomByHand = false;
};

} // namespace lathe::ui
