#include "core/backend/codegen.h"
#include "core/backend/plugin_file.h"
#include "core/backend/rules.h"
#include "core/support/files.h"

#include <fmt/format.h>

namespace lathe::backend {
namespace {

constexpr std::string_view kRulesSuffix = "_rules.so";

Result<BackendRules> readRules(const std::filesystem::path& path, const std::string& kind)
{
    LATHE_TRY_ASSIGN(void* entry, openPlugin(path, "lathe_backend_rules"));
    const RulesPlugin* plugin = reinterpret_cast<RulesPluginFn>(entry)();
    if (!plugin || !plugin->buildId || !plugin->kind || !plugin->describe)
        return makeError(Errc::Incompatible, fmt::format("{} describes no back end of Lathe", path.string()));
    LATHE_TRY(checkBuildId(path, plugin->buildId));
    BackendRules rules;
    plugin->describe(rules);
    if (plugin->kind != kind || rules.kind.name != kind)
        return makeError(Errc::Incompatible,
                         fmt::format("{} describes targets of kind \"{}\"", path.string(), rules.kind.name));
    return rules;
}

} // namespace

std::vector<RefusedRules> loadRules(const std::filesystem::path& pluginDir)
{
    std::vector<RefusedRules> refused;
    for (const auto& path : filesEndingWith(pluginDir, kRulesSuffix)) {
        const std::string name = path.filename().string();
        auto rules = readRules(path, name.substr(0, name.size() - kRulesSuffix.size()));
        if (rules)
            addRules(*std::move(rules));
        else
            refused.push_back({name, rules.error()});
    }
    return refused;
}

} // namespace lathe::backend
