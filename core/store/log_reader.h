#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace lathe::store {

/// The lines of a text file, with at most one of them in memory, however large the file is.
class LogReader
{
public:
    /// A longer line is passed over: no record is that long.
    static constexpr std::size_t kMaxLine = std::size_t{8} << 20;

    struct Line
    {
        std::string_view text; ///< without its end; empty if too long. Valid until the next call
        std::int64_t number = 0; ///< from 1
        bool tooLong = false;
        bool cutOff = false; ///< the file ends without ending the line
    };

    /// Errors: NotFound, BadFile for what is no plain file.
    static Result<LogReader> open(const std::filesystem::path& file);
    /// False: there is none left. Errors: BadFile where the disk fails.
    Result<bool> next(Line& line);
    double fraction() const; ///< of the file that has been read

private:
    struct Closer
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    bool fill();

    std::filesystem::path m_name;
    std::unique_ptr<std::FILE, Closer> m_file;
    std::string m_block, m_line;
    std::size_t m_at = 0; ///< in m_block
    std::uintmax_t m_size = 0, m_read = 0;
    std::int64_t m_number = 0;
};

} // namespace lathe::store
