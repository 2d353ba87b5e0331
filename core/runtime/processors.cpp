// Where a process stands among the control groups is in /proc/self/cgroup, one line for each hierarchy:
//
//     4:cpu,cpuacct:/machine/app      version 1, with its controllers
//     0::/machine/app                 version 2
//
// and where a hierarchy can be read is in /proc/self/mountinfo. In a container the mount often shows a part of the
// hierarchy alone: its fourth field is the group that stands at the mount point.
//
//     33 31 0:30 /machine /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
//
// Limits hold for a group and all within it, so that each group on the way from the process's own one to the mount
// point has its say. Formats: proc(5), cgroups(7), and the kernel's own admin-guide/cgroup-v2 and scheduler/sched-bwc.

#include "core/runtime/processors.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace lathe::runtime {

namespace {

constexpr std::uint32_t kNoQuota = UINT32_MAX;
constexpr std::size_t kLongestPath = 4096;
constexpr char kController[] = "cpu"; ///< of version 1 that has the quotas

/// A file, line by line. Lines that are longer than two paths are cut.
class Lines
{
public:
    explicit Lines(const char* path)
        : m_file(open(path, O_RDONLY | O_CLOEXEC))
    {
    }
    ~Lines()
    {
        if (m_file >= 0)
            close(m_file);
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    /// The next one, without its end; null behind the last.
    char* next()
    {
        std::size_t length = 0;
        for (int c = get(); c >= 0; c = get()) {
            if (c == '\n') {
                m_line[length] = '\0';
                return m_line;
            }
            if (length + 1 < sizeof m_line)
                m_line[length++] = static_cast<char>(c);
        }
        m_line[length] = '\0';
        return length > 0 ? m_line : nullptr;
    }

private:
    int get()
    {
        if (m_at == m_end) {
            const ssize_t got = m_file >= 0 ? read(m_file, m_buffer, sizeof m_buffer) : 0;
            if (got <= 0)
                return -1;
            m_at = 0;
            m_end = static_cast<std::size_t>(got);
        }
        return static_cast<unsigned char>(m_buffer[m_at++]);
    }

    int m_file;
    std::size_t m_at = 0, m_end = 0;
    char m_buffer[1024];
    char m_line[2 * kLongestPath];
};

/// Cuts the next field off a line; empty at its end.
char* cut(char*& rest, char separator)
{
    char* const field = rest;
    while (*rest != '\0' && *rest != separator)
        ++rest;
    if (*rest != '\0')
        *rest++ = '\0';
    return field;
}

/// Whether a comma-separated list has that controller.
bool hasCpu(const char* list)
{
    for (const char* at = list; *at != '\0';) {
        const char* end = at;
        while (*end != '\0' && *end != ',')
            ++end;
        if (end - at == sizeof kController - 1 && std::memcmp(at, kController, sizeof kController - 1) == 0)
            return true;
        at = *end == ',' ? end + 1 : end;
    }
    return false;
}

/// mountinfo writes blanks and the like as three octal digits.
void unescape(char* text)
{
    char* out = text;
    for (const char* at = text; *at != '\0'; ++out) {
        const auto digit = [at](int i) { return at[i] >= '0' && at[i] <= '7'; };
        if (at[0] == '\\' && digit(1) && digit(2) && digit(3)) {
            *out = static_cast<char>((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
            at += 4;
        } else {
            *out = *at++;
        }
    }
    *out = '\0';
}

/// The number at the start of the file's first line, and behind a blank the second one. False if there is none, as
/// where the line says "max" or "-1".
bool readNumbers(const char* folder, const char* file, std::uint64_t& first, std::uint64_t* second)
{
    char path[kLongestPath];
    if (std::snprintf(path, sizeof path, "%s/%s", folder, file) >= static_cast<int>(sizeof path))
        return false;
    Lines lines(path);
    const char* at = lines.next();
    if (at == nullptr)
        return false;
    std::uint64_t* const numbers[] = {&first, second};
    for (std::uint64_t* const number : numbers) {
        if (number == nullptr)
            break;
        if (*at < '0' || *at > '9')
            return false;
        for (*number = 0; *at >= '0' && *at <= '9' && *number < UINT32_MAX; ++at)
            *number = *number * 10 + static_cast<std::uint64_t>(*at - '0');
        at += *at == ' ' ? 1 : 0;
    }
    return true;
}

std::uint32_t quotaOfGroup(const char* folder, bool second)
{
    std::uint64_t quota = 0, period = 0;
    const bool known = second ? readNumbers(folder, "cpu.max", quota, &period)
                              : readNumbers(folder, "cpu.cfs_quota_us", quota, nullptr)
                                    && readNumbers(folder, "cpu.cfs_period_us", period, nullptr);
    if (!known || quota == 0 || period == 0)
        return kNoQuota;
    const std::uint64_t thousandths = (quota * 1000 + period - 1) / period;
    return thousandths < kNoQuota ? static_cast<std::uint32_t>(thousandths) : kNoQuota;
}

/// The tightest of the groups from root + point + path upwards to root + point.
std::uint32_t tightest(const char* root, const char* point, const char* path, bool second)
{
    char folder[kLongestPath];
    const int base = std::snprintf(folder, sizeof folder, "%s%s", root, point);
    if (base < 0 || base >= static_cast<int>(sizeof folder))
        return kNoQuota;
    const auto room = sizeof folder - static_cast<std::size_t>(base);
    if (std::snprintf(folder + base, room, "%s", path) >= static_cast<int>(room))
        folder[base] = '\0';
    std::uint32_t least = kNoQuota;
    for (;;) {
        const std::uint32_t quota = quotaOfGroup(folder, second);
        least = quota < least ? quota : least;
        std::size_t length = std::strlen(folder);
        while (length > static_cast<std::size_t>(base) && folder[length - 1] != '/')
            --length;
        if (length <= static_cast<std::size_t>(base))
            return least;
        folder[length - 1] = '\0';
    }
}

/// The process's group in the hierarchy of version 2, or in that of version 1 which has the processors.
bool ownGroup(const char* root, bool second, char (&group)[kLongestPath])
{
    char path[kLongestPath];
    if (std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= static_cast<int>(sizeof path))
        return false;
    Lines lines(path);
    while (char* rest = lines.next()) {
        const char* const number = cut(rest, ':');
        const char* const controllers = cut(rest, ':');
        if (second ? std::strcmp(number, "0") == 0 && *controllers == '\0' : hasCpu(controllers))
            return std::snprintf(group, sizeof group, "%s", rest) < static_cast<int>(sizeof group);
    }
    return false;
}

std::uint32_t quotaOfHierarchy(const char* root, bool second)
{
    char group[kLongestPath], path[kLongestPath];
    if (!ownGroup(root, second, group)
        || std::snprintf(path, sizeof path, "%s/proc/self/mountinfo", root) >= static_cast<int>(sizeof path))
        return kNoQuota;
    std::uint32_t least = kNoQuota;
    Lines lines(path);
    while (char* rest = lines.next()) {
        for (int i = 0; i < 3; ++i)
            cut(rest, ' '); // ids of the mount, its parent and its device
        char* const shown = cut(rest, ' ');
        char* const point = cut(rest, ' ');
        while (*rest != '\0' && std::strcmp(cut(rest, ' '), "-") != 0) {
        }
        const char* const type = cut(rest, ' ');
        cut(rest, ' '); // what is mounted
        if (second ? std::strcmp(type, "cgroup2") != 0 : std::strcmp(type, "cgroup") != 0 || !hasCpu(rest))
            continue;
        unescape(shown);
        unescape(point);
        // What the mount shows begins at `shown`: the rest of the group's path is below its point. Where the group is
        // not below it (the process sees another part of the hierarchy), what stands at the point counts.
        const std::size_t length = std::strcmp(shown, "/") == 0 ? 0 : std::strlen(shown);
        const bool below = std::strncmp(group, shown, length) == 0 && (group[length] == '/' || group[length] == '\0')
                           && std::strstr(group, "/..") == nullptr;
        const std::uint32_t quota = tightest(root, point, below ? group + length : "", second);
        least = quota < least ? quota : least;
    }
    return least;
}

} // namespace

std::uint32_t processorQuota(const char* root)
{
    const std::uint32_t first = quotaOfHierarchy(root, false), second = quotaOfHierarchy(root, true);
    return first < second ? first : second;
}

std::uint32_t maskedProcessors()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    std::uint32_t count = 0;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        count += CPU_ISSET(i, &set) ? 1u : 0u;
    return count > 0 ? count : 1;
}

std::uint32_t processorCount(const char* root)
{
    const std::uint32_t count = maskedProcessors(), quota = processorQuota(root);
    const std::uint32_t whole = quota != kNoQuota ? (quota + 999) / 1000 : count;
    return whole < count ? (whole > 0 ? whole : 1) : count;
}

} // namespace lathe::runtime
