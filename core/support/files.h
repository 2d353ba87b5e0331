#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe {

/// Whole contents. Errors: NotFound, or BadFile if it is no regular file, unreadable or larger than maxBytes.
Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t maxBytes = UINT64_MAX);

/// Writes beside the target, syncs and renames (prepared_file.h), so that a reader sees the old contents or the new
/// ones, also after a power loss. Errors: InvalidArgument (no such folder, not permitted), StoreFailed (disk full ...).
Result<> writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
Result<> writeFileAtomically(const std::filesystem::path& path, std::string_view text);

/// Files of a folder whose names end so, by name; none of a folder that cannot be read.
std::vector<std::filesystem::path> filesEndingWith(const std::filesystem::path& folder, std::string_view ending);

/// The folders of PATH that it names from the root on, in its order.
std::vector<std::filesystem::path> pathFolders();

/// A fresh folder, removed with all that is in it. Where its program is killed, the next one that is made for the same
/// purpose removes it.
class TempDir
{
public:
    /// Removes what programs that are no more left of the same prefix.
    static Result<TempDir> create(std::string_view prefix = "lathe");
    ~TempDir();
    TempDir(TempDir&& other) noexcept;
    TempDir& operator=(TempDir&& other) noexcept;
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    const std::filesystem::path& path() const { return m_path; }

private:
    TempDir(std::filesystem::path path, int lock)
        : m_path(std::move(path))
        , m_lock(lock)
    {
    }
    std::filesystem::path m_path;
    int m_lock = -1; ///< the folder, held by flock as long as this program lives
};

/// What the user has of Lathe's own: $XDG_DATA_HOME/lathe, or ~/.local/share/lathe. Empty where neither is known.
std::filesystem::path userDataFolder();

// Places relative to the running program, equal in the build tree and when installed: PREFIX/bin/lathe-*,
// PREFIX/lib/lathe/plugins, PREFIX/share/lathe. Test programs lie in PREFIX/tests.
std::filesystem::path executablePath();
std::filesystem::path installPrefix();
/// Errors: NotFound, with the places that were tried.
Result<std::filesystem::path> findProgram(std::string_view name); ///< "lathe-runner"
/// PREFIX/lib/lathe/plugins: back ends come from the installation alone. Tests with other ones have an installation of
/// their own (lathe_add_installation in packaging/cmake).
std::filesystem::path pluginDir();

} // namespace lathe
