#pragma once

#include "core/templates/tuner.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace lathe::templates {

/// The tuner that is used if none is named.
inline constexpr const char* kDefaultTuner = "gaussian";

/// A number that a tuner may be given, by the reference's name for it.
struct TunerParameter
{
    std::string name; ///< "pop_size"
    double usual = 0;
    double low = 0, high = 0; ///< both allowed
    bool whole = true;
    std::string help; ///< a phrase in English, without a full stop
};

/// What a tuner's model sees of a configuration (autotvm.md 7.2).
enum class FeatureKind : std::uint8_t
{
    None, ///< it has no model
    Knob, ///< ConfigSpace::features
    IterVar, ///< iterVarFeatures() of the lowered kernel
    Curve ///< curveFeatures()
};

using TunerValues = std::map<std::string, double, std::less<>>;

/// A way to choose configurations: all that is said of a tuner by its name is said here. The names are those of the
/// reference's tutorials (autotvm.md 13).
struct TunerEntry
{
    std::string name; ///< of --tuner, and in stored options: never changed
    std::string help; ///< what it does, in a few words
    std::vector<TunerParameter> parameters;
    FeatureKind features = FeatureKind::None; ///< that its model sees
    /// `values` has all parameters; `features` are of its kind, empty for those of knobs.
    std::function<std::unique_ptr<Tuner>(const ConfigSpace& space, const TunerValues& values, ConfigFeatures features,
                                         std::uint64_t seed)>
        make;
};

std::span<const TunerEntry> tuners();
/// Errors: InvalidArgument, with the names that there are.
Result<const TunerEntry*> findTuner(std::string_view name);
/// "pop_size=50" of each, the others as usual. Errors: InvalidArgument, naming what is off and what is allowed.
Result<TunerValues> tunerValues(const TunerEntry& tuner, std::span<const std::string> settings);

} // namespace lathe::templates
