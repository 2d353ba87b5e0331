#include "core/store/log_reader.h"

#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::store {

Result<LogReader> LogReader::open(const std::filesystem::path& file)
{
    std::error_code code;
    const auto status = std::filesystem::status(file, code);
    if (!std::filesystem::exists(status))
        return makeError(Errc::NotFound, say(Msg::NoFile, file.string()));
    if (!std::filesystem::is_regular_file(status))
        return makeError(Errc::BadFile, say(Msg::NoLogFile, file.string()));
    LogReader reader;
    reader.m_name = file;
    reader.m_file.reset(std::fopen(file.c_str(), "rb"));
    if (!reader.m_file)
        return makeError(Errc::NotFound, say(Msg::FileNotRead, file.string()));
    reader.m_size = std::filesystem::file_size(file, code);
    if (code)
        reader.m_size = 0;
    return reader;
}

bool LogReader::fill()
{
    m_block.resize(std::size_t{1} << 16);
    m_block.resize(std::fread(m_block.data(), 1, m_block.size(), m_file.get()));
    m_read += m_block.size();
    m_at = 0;
    return !m_block.empty();
}

Result<bool> LogReader::next(Line& line)
{
    line = {};
    m_line.clear();
    bool any = false;
    while (m_at < m_block.size() || fill()) {
        any = true;
        const std::size_t end = std::min(m_block.find('\n', m_at), m_block.size());
        const std::size_t length = end - m_at;
        line.tooLong = line.tooLong || m_line.size() + length > kMaxLine;
        if (!line.tooLong)
            m_line.append(m_block, m_at, length);
        const bool whole = end < m_block.size();
        m_at = whole ? end + 1 : end;
        if (whole)
            break;
    }
    if (std::ferror(m_file.get()) != 0)
        return makeError(Errc::BadFile, say(Msg::LogReadingFailed, m_name.string(), m_number));
    if (!any)
        return false;
    line.cutOff = m_at >= m_block.size() && (m_block.empty() || m_block.back() != '\n');
    if (line.tooLong)
        m_line.clear();
    if (!m_line.empty() && m_line.back() == '\r')
        m_line.pop_back();
    line.text = m_line;
    line.number = ++m_number;
    return true;
}

double LogReader::fraction() const
{
    return m_size == 0 ? 1.0 : std::min(1.0, static_cast<double>(m_read) / static_cast<double>(m_size));
}

} // namespace lathe::store
