#include "core/serve/audit_log.h"

#include "core/support/message.h"

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace lathe::serve {

namespace {

/// A disk that was full, or a power failure, left a part of a line.
bool endsWithin(const std::filesystem::path& file)
{
    std::ifstream last(file, std::ios::binary | std::ios::ate);
    return last && last.tellg() > 0 && last.seekg(-1, std::ios::end) && last.get() != '\n';
}

} // namespace

Result<AuditLog> AuditLog::open(const std::filesystem::path& file)
{
    AuditLog log;
    log.m_path = file;
    const bool isTorn = endsWithin(file);
    log.m_file.open(file, std::ios::app);
    if (!log.m_file)
        return makeError(Errc::StoreFailed, say(Msg::FileNotOpened, file.string(), std::strerror(errno)));
    if (isTorn) // what comes now is a line of its own
        log.m_file << '\n';
    return log;
}

Result<> AuditLog::write(nlohmann::json line)
{
    if (m_path.empty())
        return {};
    const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    line["time"] = fmt::format("{:%FT%TZ}", fmt::gmtime(now));
    m_file << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n' << std::flush;
    if (!m_file)
        return makeError(Errc::StoreFailed,
                         say(Msg::CannotDo, say(Msg::DoWrite), m_path.string(), std::strerror(errno)));
    return {};
}

} // namespace lathe::serve
