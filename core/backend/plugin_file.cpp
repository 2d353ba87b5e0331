#include "core/backend/plugin_file.h"

#include "core/backend/codegen.h"
#include "core/support/packages.h"
#include "core/support/trusted_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

namespace lathe::backend {

Result<void*> openPlugin(const std::filesystem::path& path, const char* entry)
{
    LATHE_TRY(checkTrusted(path));
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return makeError(Errc::Incompatible, notLoaded(path.string(), ::dlerror()));
    void* found = ::dlsym(library, entry);
    if (!found)
        return makeError(Errc::Incompatible, say(Msg::NoSuchPlugin, path.string(), entry));
    return found;
}

Result<> checkBuildId(const std::filesystem::path& path, const char* theirs)
{
    if (std::string_view(theirs) == buildId())
        return {};
    return makeError(Errc::Incompatible, say(Msg::PluginOfOtherBuild, path.string(), theirs, buildId()));
}

} // namespace lathe::backend
