#pragma once

#include "core/support/message.h"
#include "core/support/result.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace lathe::store {

/// Lines into a file that takes its name only when it is whole.
class LineFile
{
public:
    /// Errors: StoreFailed.
    static Result<LineFile> create(const std::filesystem::path& file)
    {
        LineFile out;
        out.m_name = file;
        out.m_file.reset(std::fopen(out.partName().c_str(), "wb"));
        if (!out.m_file)
            return makeError(Errc::StoreFailed, say(Msg::FileNotWritten, file.string()));
        return out;
    }
    void line(const std::string& text)
    {
        m_good = m_good && std::fputs(text.c_str(), m_file.get()) >= 0 && std::fputc('\n', m_file.get()) >= 0;
    }
    Result<> close()
    {
        m_good = m_good && std::fflush(m_file.get()) == 0;
        m_good = std::fclose(m_file.release()) == 0 && m_good;
        if (m_good && std::rename(partName().c_str(), m_name.c_str()) == 0)
            return {};
        std::remove(partName().c_str());
        return makeError(Errc::StoreFailed, say(Msg::WritingFailed, m_name.string()));
    }

    LineFile(LineFile&&) = default;
    LineFile& operator=(LineFile&&) = delete;
    ~LineFile()
    {
        if (m_file) // somebody gave up
            std::remove(partName().c_str());
    }

private:
    LineFile() = default;
    struct Closer
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string partName() const { return m_name.string() + ".part"; }
    std::filesystem::path m_name;
    std::unique_ptr<std::FILE, Closer> m_file;
    bool m_good = true;
};

} // namespace lathe::store
