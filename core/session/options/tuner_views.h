#pragma once

#include <string>
#include <vector>

namespace lathe::session {

/// A number that a tuner of templates may be given: --tuner-set NAME=VALUE.
struct TunerParameterView
{
    std::string name; ///< "pop_size"
    double usual = 0, low = 0, high = 0; ///< both ends allowed
    bool whole = true;
    std::string help; ///< English, a phrase without a full stop
};

/// A tuner of templates: --tuner NAME.
struct TunerView
{
    std::string name; ///< "xgb"
    std::string help; ///< likewise
    std::vector<TunerParameterView> parameters;
    bool usual = false; ///< it is used where none is named
};

/// All that there are, in the order in which they are offered.
std::vector<TunerView> listTuners();

/// A way to find candidates: --policy NAME.
struct PolicyView
{
    std::string name; ///< "sketch"
    std::string help; ///< English, a phrase without a full stop
    bool takesTuner = false; ///< TuneOptions::tuner and what goes with it mean something to it
    bool usual = false; ///< it is used where none is named
};
std::vector<PolicyView> listPolicies();

} // namespace lathe::session
