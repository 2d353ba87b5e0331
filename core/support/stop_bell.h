#pragma once

#include <poll.h>

#include <stop_token>

namespace lathe {

/// Wakes poll(2) when a stop is requested, from whatever thread requests it.
class StopBell
{
public:
    explicit StopBell(std::stop_token stop);
    StopBell(const StopBell&) = delete;
    StopBell& operator=(const StopBell&) = delete;

    pollfd watched() const { return {m_file.fd, POLLIN, 0}; }

private:
    struct Ring
    {
        int fd;
        void operator()() const;
    };
    struct EventFile
    {
        EventFile();
        ~EventFile();
        EventFile(const EventFile&) = delete;
        EventFile& operator=(const EventFile&) = delete;
        int fd;
    };
    EventFile m_file;
    std::stop_callback<Ring>
        m_callback; ///< ends before the file, and waits for a ring: none is written to a file that is closed
};

} // namespace lathe
