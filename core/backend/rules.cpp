#include "core/backend/rules.h"

#include <map>
#include <mutex>

namespace lathe::backend {
namespace {

/// Never destroyed: what plugins added may be asked for while the program ends.
struct RulesTable
{
    std::mutex mutex;
    std::map<std::string, BackendRulesPtr, std::less<>> ofKind;
};

RulesTable& rulesTable()
{
    static RulesTable& rules = *new RulesTable; // NOLINT(cppcoreguidelines-owning-memory): see RulesTable
    return rules;
}

} // namespace

void addRules(BackendRules rules)
{
    addTargetKind(rules.kind);
    auto added = std::make_shared<const BackendRules>(std::move(rules));
    RulesTable& known = rulesTable();
    const std::scoped_lock lock(known.mutex);
    known.ofKind.insert_or_assign(added->kind.name, added);
}

BackendRulesPtr rulesOf(const Target& target)
{
    RulesTable& known = rulesTable();
    const std::scoped_lock lock(known.mutex);
    const auto found = known.ofKind.find(target.kind());
    return found == known.ofKind.end() ? nullptr : found->second;
}

} // namespace lathe::backend
