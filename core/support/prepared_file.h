#pragma once

#include "core/support/open_file.h"
#include "core/support/result.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lathe {

/// New contents of a file, complete and on the disk beside it, while the file is still as it was. Several are prepared
/// before the first one is put in its place, so that a full disk leaves all of them as they were. Without put() it goes
/// with this object; that of a program that is killed goes too, where the file system has files without names, else
/// when the same file is written again. Threads: any, one at a time.
class PreparedFile
{
public:
    /// Errors: InvalidArgument (no such folder, not permitted), StoreFailed (disk full ...).
    static Result<PreparedFile> write(std::filesystem::path path, std::span<const std::byte> bytes);
    /// Likewise of a beginning and a rest that lie apart.
    static Result<PreparedFile> write(std::filesystem::path path, std::span<const std::byte> beginning,
                                      std::span<const std::byte> rest);
    ~PreparedFile();
    PreparedFile(PreparedFile&& other) noexcept;
    PreparedFile& operator=(PreparedFile&& other) noexcept;
    PreparedFile(const PreparedFile&) = delete;
    PreparedFile& operator=(const PreparedFile&) = delete;

    /// A reader sees the old contents or the new ones, also after a power loss. Errors: as of write().
    Result<> put();
    /// All of them, in order. What can fail for want of room or of permission is done for each before the first is
    /// replaced: after such an error all files are as they were.
    static Result<> putAll(std::span<PreparedFile> files);

private:
    Result<> append(std::span<const std::byte> bytes);
    Result<> giveName(); ///< beside the file, where it has none yet
    PreparedFile(std::filesystem::path path, std::string temporary, OpenFile file);
    std::filesystem::path m_path;
    std::string m_temporary; ///< empty: the file has no name yet
    OpenFile m_file;
};

/// Removes what programs that were killed have left in a folder: files called `start`, the number of a process that is
/// no more, a full stop and anything.
void removeLeftByKilled(const std::filesystem::path& folder, std::string_view start);
/// For a file that another program wrote: its contents are on the disk afterwards. Errors: as of PreparedFile.
Result<> syncFile(const std::filesystem::path& file);
/// Puts it where `path` is, and makes that last. Errors: as of PreparedFile.
Result<> replaceFile(const std::filesystem::path& from, const std::filesystem::path& path);

} // namespace lathe
