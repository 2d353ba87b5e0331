#include "core/backend/codegen.h"
#include "core/backend/rules.h"

#ifndef LATHE_TEST_HOLLOW
extern "C" __attribute__((visibility("default"))) const lathe::backend::RulesPlugin* lathe_backend_rules()
{
    const auto describe = [](lathe::backend::BackendRules& rules) { rules.kind.name = "elsewhere"; };
#ifdef LATHE_TEST_STRANGER
    static const lathe::backend::RulesPlugin plugin{"another build", "stranger", describe};
#else
    static const lathe::backend::RulesPlugin plugin{lathe::backend::buildId(), "misnamed", describe};
#endif
    return &plugin;
}
#endif
