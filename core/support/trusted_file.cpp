#include "core/support/trusted_file.h"

#include "core/support/files.h"
#include "core/support/message.h"

#include <sys/stat.h>
#include <unistd.h>

namespace lathe {

Result<> checkTrusted(const std::filesystem::path& file, const std::filesystem::path& program)
{
    struct stat ours = {}, theirs = {}, folder = {};
    const bool known = ::stat(program.c_str(), &ours) == 0;
    if ((known && (ours.st_mode & S_IWOTH) != 0) || ::stat(file.c_str(), &theirs) != 0)
        return {};
    if (theirs.st_uid != 0 && theirs.st_uid != ::geteuid() && !(known && theirs.st_uid == ours.st_uid))
        return makeError(Errc::Incompatible, say(Msg::PluginOfStranger, file.string()));
    if ((theirs.st_mode & S_IWOTH) != 0)
        return makeError(Errc::Incompatible, say(Msg::PluginOpenToAll, file.string(), file.string()));
    const std::filesystem::path parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (::stat(parent.c_str(), &folder) == 0 && (folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0)
        return makeError(Errc::Incompatible, say(Msg::PluginOpenToAll, file.string(), parent.string()));
    return {};
}

Result<> checkTrusted(const std::filesystem::path& file)
{
    return checkTrusted(file, executablePath());
}

} // namespace lathe
