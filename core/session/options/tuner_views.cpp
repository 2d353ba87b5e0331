#include "core/session/options/tuner_views.h"

#include "core/policy/default_policy.h"
#include "core/policy/policy_table.h"
#include "core/templates/tuner_table.h"

namespace lathe::session {

std::vector<TunerView> listTuners()
{
    std::vector<TunerView> views;
    for (const templates::TunerEntry& tuner : templates::tuners()) {
        TunerView view{tuner.name, tuner.help, {}, tuner.name == templates::kDefaultTuner};
        for (const templates::TunerParameter& p : tuner.parameters)
            view.parameters.push_back({p.name, p.usual, p.low, p.high, p.whole, p.help});
        views.push_back(std::move(view));
    }
    return views;
}

std::vector<PolicyView> listPolicies()
{
    std::vector<PolicyView> views;
    for (const policy::PolicyPtr& each : policy::policies())
        views.push_back({each->name, each->help, each->takesTuner, each->name == policy::kDefaultPolicy});
    return views;
}

} // namespace lathe::session
