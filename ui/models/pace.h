#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include <functional>

namespace lathe::ui {

/// Calls a function when asked to: the first time at once, after that at most once in `everyMs`. For views of what
/// changes faster than people can look. The last request is never lost.
class Pace final : public QObject
{
    Q_OBJECT

public:
    static constexpr int kViewMs = 300; ///< for a view that paints a whole run anew

    explicit Pace(std::function<void()> call, int everyMs = kViewMs, QObject* parent = nullptr);
    void ask();
    /// To be told that the function was called for another reason.
    void called();

private:
    std::function<void()> m_call;
    int m_everyMs;
    QElapsedTimer m_since;
    QTimer m_later;
};

} // namespace lathe::ui
