#include "core/backend/plugin_loader.h"

#include "core/backend/plugin_file.h"
#include "core/support/message.h"
#include "core/support/packages.h"

#include <fmt/format.h>

#include <string_view>

namespace lathe::backend {

namespace {

std::filesystem::path codegenFile(const std::filesystem::path& pluginDir, const Target& target)
{
    return pluginDir / fmt::format("{}_codegen.so", target.kind());
}

Result<const CodegenPlugin*> loadPlugin(const std::filesystem::path& path, std::string_view kind)
{
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return makeError(Errc::NotFound, say(Msg::NoGenerator, kind, path.string()));
    LATHE_TRY_ASSIGN(void* entry, openPlugin(path, "lathe_codegen_create"));
    const CodegenPlugin* plugin = reinterpret_cast<CodegenPluginFn>(entry)();
    if (!plugin || !plugin->buildId || !plugin->kind || !plugin->create)
        return makeError(Errc::Incompatible, say(Msg::PluginNoGenerator, path.string()));
    LATHE_TRY(checkBuildId(path, plugin->buildId));
    if (plugin->kind != kind)
        return makeError(Errc::Incompatible, say(Msg::PluginOfOtherTarget, path.string(), plugin->kind));
    return plugin;
}

} // namespace

Result<std::unique_ptr<Codegen>> createCodegen(const std::filesystem::path& pluginDir, const Target& target)
{
    LATHE_TRY_ASSIGN(const CodegenPlugin* plugin, loadPlugin(codegenFile(pluginDir, target), target.kind()));
    return plugin->create(target);
}

bool hasCodegen(const std::filesystem::path& pluginDir, const Target& target)
{
    std::error_code ignored;
    return std::filesystem::exists(codegenFile(pluginDir, target), ignored);
}

} // namespace lathe::backend
