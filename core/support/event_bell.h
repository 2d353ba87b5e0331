#pragma once

#include <poll.h>

namespace lathe {

/// One thread wakes another one's poll(2). Rung twice before it is heard, it is heard once.
/// Threads: ring() on any.
class EventBell
{
public:
    EventBell();
    ~EventBell();
    EventBell(const EventBell&) = delete;
    EventBell& operator=(const EventBell&) = delete;

    void ring() const;
    void silence() const; ///< what rings afterwards is heard again
    pollfd watched() const { return {m_file, POLLIN, 0}; }

private:
    int m_file;
};

} // namespace lathe
