#include "core/backend/plugin_loader.h"

#include "core/support/message.h"
#include "core/support/packages.h"

#include <fmt/format.h>

#include <string_view>

#include <dlfcn.h>

namespace lathe::backend {

namespace {

Result<const CodegenPlugin*> loadPlugin(const std::filesystem::path& path, std::string_view kind)
{
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return makeError(
            Errc::NotFound,
            say(Msg::NoGenerator, kind, path.string()));
    // The loader counts references and gives the same library again; it is never unloaded, for LLVM keeps global state.
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return makeError(Errc::Incompatible, notLoaded(path.string(), ::dlerror()));
    const auto entry = reinterpret_cast<CodegenPluginFn>(::dlsym(library, "lathe_codegen_create"));
    const CodegenPlugin* plugin = entry ? entry() : nullptr;
    if (!plugin || !plugin->buildId || !plugin->kind || !plugin->create)
        return makeError(Errc::Incompatible, say(Msg::PluginNoGenerator, path.string()));
    if (std::string_view(plugin->buildId) != buildId())
        return makeError(Errc::Incompatible, say(Msg::PluginOfOtherBuild, path.string(),
                                                         plugin->buildId, buildId()));
    if (plugin->kind != kind)
        return makeError(Errc::Incompatible, say(Msg::PluginOfOtherTarget, path.string(), plugin->kind));
    return plugin;
}

} // namespace

Result<std::unique_ptr<Codegen>> createCodegen(const std::filesystem::path& pluginDir, const Target& target)
{
    LATHE_TRY_ASSIGN(const CodegenPlugin* plugin,
                     loadPlugin(pluginDir / fmt::format("{}_codegen.so", target.kind()), target.kind()));
    return plugin->create(target);
}

} // namespace lathe::backend
