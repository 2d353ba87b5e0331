#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace lathe::deploy {

/// A section of a library that is too large to be held: a file of what backend::BinarySection says of files.
class SectionFile
{
public:
    /// Errors: StoreFailed. The file stays when this object goes.
    static Result<SectionFile> create(const std::filesystem::path& path);
    SectionFile() = default;
    ~SectionFile();
    SectionFile(SectionFile&& other) noexcept;
    SectionFile& operator=(SectionFile&& other) noexcept;
    SectionFile(const SectionFile&) = delete;
    SectionFile& operator=(const SectionFile&) = delete;

    bool isOpen() const { return m_descriptor >= 0; }
    std::uint64_t size() const { return m_size; }
    /// At a place behind what is there, with zeros between. Errors: StoreFailed (disk full ...).
    Result<> write(std::uint64_t at, std::span<const std::byte> bytes);

private:
    int m_descriptor = -1;
    std::uint64_t m_size = 0; ///< of the section
    std::filesystem::path m_path;
};

} // namespace lathe::deploy
