#include "core/deploy/section_file.h"

#include "core/backend/codegen.h"
#include "core/support/message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lathe::deploy {

Result<SectionFile> SectionFile::create(const std::filesystem::path& path)
{
    SectionFile file;
    file.m_path = path;
    file.m_descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file.m_descriptor < 0)
        return makeError(Errc::StoreFailed, say(Msg::NotWritten, path.string(), std::strerror(errno)));
    return file;
}

SectionFile::~SectionFile()
{
    if (isOpen())
        ::close(m_descriptor);
}

SectionFile::SectionFile(SectionFile&& other) noexcept
{
    *this = std::move(other);
}

SectionFile& SectionFile::operator=(SectionFile&& other) noexcept
{
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_size, other.m_size);
    std::swap(m_path, other.m_path);
    return *this;
}

Result<> SectionFile::write(std::uint64_t at, std::span<const std::byte> bytes)
{
    std::uint64_t place = backend::kSectionFileStart + at;
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(m_descriptor, bytes.data(), bytes.size(), static_cast<off_t>(place));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return makeError(Errc::StoreFailed,
                             say(Msg::NotWritten, m_path.string(), std::strerror(done < 0 ? errno : ENOSPC)));
        place += static_cast<std::uint64_t>(done);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    m_size = std::max(m_size, place - backend::kSectionFileStart);
    return {};
}

} // namespace lathe::deploy
