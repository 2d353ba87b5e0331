#include "ui/models/pace.h"

#include <algorithm>
#include <utility>

namespace lathe::ui {

Pace::Pace(std::function<void()> call, int everyMs, QObject* parent)
    : QObject(parent)
    , m_call(std::move(call))
    , m_everyMs(everyMs)
{
    m_later.setSingleShot(true);
    connect(&m_later, &QTimer::timeout, this, [this] {
        called();
        m_call();
    });
}

void Pace::ask()
{
    if (m_later.isActive())
        return;
    const qint64 since = m_since.isValid() ? m_since.elapsed() : m_everyMs;
    if (since < m_everyMs) {
        m_later.start(static_cast<int>(m_everyMs - since));
        return;
    }
    called();
    m_call();
}

void Pace::called()
{
    m_later.stop();
    m_since.start();
}

} // namespace lathe::ui
