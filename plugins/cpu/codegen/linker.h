#pragma once

#include "core/backend/library_link.h"
#include "core/support/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::cpu {

/// A file that lives in memory and has a path as long as this object does.
class MemoryFile
{
public:
    static Result<MemoryFile> create(const char* name, const void* data, std::size_t bytes);
    MemoryFile(MemoryFile&& other) noexcept
        : m_descriptor(std::exchange(other.m_descriptor, -1))
    {
    }
    MemoryFile& operator=(MemoryFile&& other) noexcept
    {
        std::swap(m_descriptor, other.m_descriptor);
        return *this;
    }
    ~MemoryFile();
    std::string path() const;

private:
    MemoryFile() = default;
    int m_descriptor = -1;
};

/// Runs LLD as `ld.lld` would, inside this process, one link at a time. `arguments` are without the program's name.
/// Errors: BuildFailed with the linker's words.
Result<> runLinker(const std::vector<std::string>& arguments);

/// LLD for libraries: what it is given stays in memory.
class LldLinker final : public backend::Linker
{
public:
    Result<std::string> hold(const char* name, std::span<const std::byte> bytes) override;
    Result<> run(const std::vector<std::string>& arguments) override { return runLinker(arguments); }

private:
    std::vector<MemoryFile> m_files;
};

} // namespace lathe::cpu
