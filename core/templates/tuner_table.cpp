#include "core/templates/tuner_table.h"

#include "core/support/message.h"
#include "core/templates/genetic_tuner.h"
#include "core/templates/grid_tuner.h"
#include "core/templates/random_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lathe::templates {
namespace {

constexpr double kManyIndices = 9e15; ///< whole numbers up to here are exact

std::vector<TunerParameter> rangeParameters()
{
    return {{"range_first", 0, 0, kManyIndices, true, "the first index that is looked at"},
            {"range_last", kManyIndices, 0, kManyIndices, true, "the last index that is looked at"}};
}

std::size_t countIn(const TunerValues& values, const char* name)
{
    return static_cast<std::size_t>(values.find(name)->second);
}

IndexRange rangeIn(const TunerValues& values)
{
    return {countIn(values, "range_first"), countIn(values, "range_last")};
}

std::vector<TunerEntry> allTuners()
{
    std::vector<TunerEntry> all;
    all.push_back({"gridsearch", "all configurations in order", rangeParameters(),
                   [](const ConfigSpace& space, const TunerValues& values, std::uint64_t) {
                       return std::make_unique<GridTuner>(space, GridOptions{rangeIn(values)});
                   }});
    all.push_back({"random", "configurations at random, none twice", rangeParameters(),
                   [](const ConfigSpace& space, const TunerValues& values, std::uint64_t seed) {
                       return std::make_unique<RandomTuner>(space, RandomOptions{rangeIn(values), seed});
                   }});
    all.push_back({"ga",
                   "breeding from good configurations",
                   {{"pop_size", 100, 1, 100000, true, "configurations of a generation"},
                    {"elite_num", 3, 0, 100000, true, "best ones that are parents of every generation"},
                    {"mutation_prob", 0.1, 0, 1, false, "how probably a knob of a child gets a random choice"}},
                   [](const ConfigSpace& space, const TunerValues& values, std::uint64_t seed) {
                       GeneticOptions options;
                       options.population = countIn(values, "pop_size");
                       options.elites = countIn(values, "elite_num");
                       options.mutation = values.find("mutation_prob")->second;
                       options.seed = seed;
                       return std::make_unique<GeneticTuner>(space, options);
                   }});
    return all;
}

} // namespace

std::span<const TunerEntry> tuners()
{
    static const std::vector<TunerEntry> all = allTuners();
    return all;
}

Result<const TunerEntry*> findTuner(std::string_view name)
{
    std::string names;
    for (const TunerEntry& tuner : tuners()) {
        if (tuner.name == name)
            return &tuner;
        names += (names.empty() ? "" : ", ") + tuner.name;
    }
    return makeError(Errc::InvalidArgument, say(Msg::TunerUnknown, std::string(name), names));
}

Result<TunerValues> tunerValues(const TunerEntry& tuner, std::span<const std::string> settings)
{
    TunerValues values;
    std::string names;
    for (const TunerParameter& parameter : tuner.parameters) {
        values[parameter.name] = parameter.usual;
        names += (names.empty() ? "" : ", ") + parameter.name;
    }
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        const std::string name = setting.substr(0, equals);
        const auto parameter = std::find_if(tuner.parameters.begin(), tuner.parameters.end(),
                                            [&name](const TunerParameter& p) { return p.name == name; });
        if (equals == std::string::npos || parameter == tuner.parameters.end())
            return makeError(Errc::InvalidArgument, say(Msg::TunerSettingUnknown, setting, tuner.name, names));
        const std::string text = setting.substr(equals + 1);
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= parameter->low)
            || !(value <= parameter->high) || (parameter->whole && value != std::floor(value)))
            return makeError(Errc::InvalidArgument,
                             say(Msg::TunerSettingRange, name, text, parameter->low, parameter->high));
        values[name] = value;
    }
    return values;
}

} // namespace lathe::templates
