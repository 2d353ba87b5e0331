#include "ui/models/selection.h"

namespace lathe::ui {

namespace {
constexpr std::size_t kMaxPlaces = 200;
}

void Selection::go(const Place& place)
{
    if (place == m_current)
        return;
    m_current = place;
    if (!place.isEmpty()) {
        if (!m_places.empty())
            m_places.resize(m_at + 1); // a new way replaces the one that was left
        m_places.push_back(place);
        if (m_places.size() > kMaxPlaces)
            m_places.erase(m_places.begin());
        m_at = m_places.size() - 1;
    }
    emit changed(m_current);
    emit historyChanged();
}

void Selection::reset()
{
    m_places.clear();
    m_at = 0;
    m_current = {};
    emit changed(m_current);
    emit historyChanged();
}

void Selection::back()
{
    if (!canGoBack())
        return;
    m_current = m_places[--m_at];
    emit changed(m_current);
    emit historyChanged();
}

void Selection::forward()
{
    if (!canGoForward())
        return;
    m_current = m_places[++m_at];
    emit changed(m_current);
    emit historyChanged();
}

} // namespace lathe::ui
