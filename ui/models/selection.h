#pragma once

#include <QObject>
#include <QString>

#include <vector>

namespace lathe::ui {

/// What is looked at, shared by all pages: a page that lets something be picked calls select...(), and follows
/// changed(). Keeps the way that was walked, for back and forward.
class Selection final : public QObject
{
    Q_OBJECT

public:
    struct Place
    {
        int task = -1; ///< -1: none
        int node = -1; ///< of the graph, -1: none in particular
        QString record; ///< trial id, empty: none in particular
        bool operator==(const Place& other) const = default;
        bool isEmpty() const { return task < 0 && node < 0 && record.isEmpty(); }
    };

    using QObject::QObject;

    const Place& current() const { return m_current; }
    void selectTask(int task) { go({task, -1, {}}); }
    /// `task`: that of the node, -1 if it is in none.
    void selectNode(int node, int task) { go({task, node, {}}); }
    void selectRecord(const QString& record, int task) { go({task, -1, record}); }
    /// Forgets the way, too: another network was opened.
    void reset();

    bool canGoBack() const { return m_at > 0; }
    bool canGoForward() const { return m_at + 1 < m_places.size(); }
    void back();
    void forward();

signals:
    /// Not sent for a choice of what is chosen already.
    void changed(const lathe::ui::Selection::Place& place);
    void historyChanged();

private:
    void go(const Place& place);
    Place m_current;
    std::vector<Place> m_places;
    std::size_t m_at = 0;
};

} // namespace lathe::ui
