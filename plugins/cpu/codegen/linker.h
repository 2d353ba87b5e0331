#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
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

/// Runs LLD as `ld.lld` would, inside this process, one link at a time. Errors: BuildFailed with the linker's words.
Result<> runLinker(const std::vector<std::string>& arguments);

/// Of every shared object that is made here: nothing undefined, nothing bound late, no executable stack.
std::vector<std::string> sharedObjectArguments();

/// Exports these symbols and no others.
std::string versionScript(const std::vector<std::string>& exports);

} // namespace lathe::cpu
