#include "core/templates/tuner_table.h"

#include "core/support/message.h"
#include "core/templates/gaussian_tuner.h"
#include "core/templates/genetic_tuner.h"
#include "core/templates/grid_tuner.h"
#include "core/templates/random_tuner.h"
#include "core/templates/xgb_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace lathe::templates {
namespace {

constexpr double kManyIndices = 9e15; ///< whole numbers up to here are exact
constexpr double kLastOfSpace = -1; ///< as range_last

std::vector<TunerParameter> rangeParameters()
{
    return {{"range_first", 0, 0, kManyIndices, true, "the first index that is looked at"},
            {"range_last", kLastOfSpace, kLastOfSpace, kManyIndices, true, "the last index that is looked at; -1: that of the space"}};
}

std::size_t countIn(const TunerValues& values, const char* name)
{
    return static_cast<std::size_t>(values.find(name)->second);
}

IndexRange rangeIn(const TunerValues& values)
{
    IndexRange range;
    range.first = countIn(values, "range_first");
    range.last = values.find("range_last")->second == kLastOfSpace ? std::numeric_limits<std::uint64_t>::max()
                                                                   : countIn(values, "range_last");
    return range;
}

std::vector<TunerParameter> xgbParameters()
{
    return {{"plan_size", 64, 1, 100000, true, "configurations that are chosen by one model"},
            {"diversity_filter_ratio", 0, 0, 1000, false,
             "so many times the plan are found, then the most different picked; below 1: not"},
            {"random_share", 0.05, 0, 1, false, "share of a plan that is random"},
            {"transfer", 1, 0, 1, true, "whether it learns from other tasks of the template first"},
            {"num_threads", 1, 1, 1024, true, "threads that train the model"},
            {"parallel_size", 128, 1, 100000, true, "walkers of the annealing"},
            {"n_iter", 500, 0, 1000000, true, "iterations of the annealing"},
            {"early_stop", 50, 0, 1000000, true, "iterations without a change after which the annealing ends"},
            {"temp_start", 1, 0, 1000, false, "temperature that the annealing begins with"},
            {"temp_end", 0, 0, 1000, false, "temperature that it ends with"},
            {"persistent", 1, 0, 1, true, "whether walkers go on where they stood"},
            {"max_depth", 3, 1, 64, true, "depth of the trees"},
            {"eta", 0.3, 0, 1, false, "what each tree counts"},
            {"gamma", 1e-4, 0, 1000, false, "least gain of a split"},
            {"min_child_weight", 1, 0, 1000, false, "least weight of a leaf"},
            {"num_rounds", 8000, 1, 1000000, true, "trees at most"}};
}

XgbOptions xgbOptions(const TunerValues& values, TreeLoss loss, ConfigFeatures features, std::uint64_t seed)
{
    const auto number = [&values](const char* name) { return values.find(name)->second; };
    XgbOptions options;
    options.planSize = countIn(values, "plan_size");
    options.randomShare = number("random_share");
    options.annealing.diversityRatio = number("diversity_filter_ratio");
    options.annealing.walkers = countIn(values, "parallel_size");
    options.annealing.iterations = countIn(values, "n_iter");
    options.annealing.patience = countIn(values, "early_stop");
    options.annealing.startTemperature = number("temp_start");
    options.annealing.endTemperature = number("temp_end");
    options.annealing.persistent = number("persistent") != 0;
    options.trees.loss = loss;
    options.trees.maxDepth = static_cast<std::int32_t>(number("max_depth"));
    options.trees.eta = number("eta");
    options.trees.gamma = number("gamma");
    options.trees.minChildWeight = number("min_child_weight");
    options.trees.rounds = static_cast<std::int32_t>(number("num_rounds"));
    options.threads = static_cast<std::int32_t>(number("num_threads"));
    options.features = std::move(features);
    options.seed = seed;
    return options;
}

std::vector<TunerEntry> allTuners()
{
    std::vector<TunerEntry> all;
    all.push_back({"gridsearch", "all configurations in order", rangeParameters(), FeatureKind::None,
                   [](const ConfigSpace& space, const TunerValues& values, const ConfigFeatures&, std::uint64_t) {
                       return std::make_unique<GridTuner>(space, GridOptions{rangeIn(values)});
                   }});
    all.push_back({"random", "configurations at random, none twice", rangeParameters(), FeatureKind::None,
                   [](const ConfigSpace& space, const TunerValues& values, const ConfigFeatures&, std::uint64_t seed) {
                       return std::make_unique<RandomTuner>(space, RandomOptions{rangeIn(values), seed});
                   }});
    all.push_back({"ga",
                   "breeding from good configurations",
                   {{"pop_size", 100, 1, 100000, true, "configurations of a generation"},
                    {"elite_num", 3, 0, 100000, true, "best ones that are parents of every generation"},
                    {"mutation_prob", 0.1, 0, 1, false, "how probably a knob of a child gets a random choice"}},
                   FeatureKind::None,
                   [](const ConfigSpace& space, const TunerValues& values, const ConfigFeatures&, std::uint64_t seed) {
                       GeneticOptions options;
                       options.population = countIn(values, "pop_size");
                       options.elites = countIn(values, "elite_num");
                       options.mutation = values.find("mutation_prob")->second;
                       options.seed = seed;
                       return std::make_unique<GeneticTuner>(space, options);
                   }});
    all.push_back({"gaussian",
                   "a Gaussian process that says where most is to be gained, for few trials",
                   {{"first", 16, 2, 100000, true, "configurations that are random, before there is a model"},
                    {"most_known", 256, 16, 4096, true, "results that a model is made of"},
                    {"most_fitted", 96, 8, 1024, true, "of these, results that its scales are fitted to"}},
                   FeatureKind::None,
                   [](const ConfigSpace& space, const TunerValues& values, const ConfigFeatures&, std::uint64_t seed) {
                       GaussianOptions options;
                       options.first = countIn(values, "first");
                       options.mostKnown = countIn(values, "most_known");
                       options.mostFitted = countIn(values, "most_fitted");
                       options.seed = seed;
                       return std::make_unique<GaussianTuner>(space, options);
                   }});
    // The tutorials' menu: a loss and a kind of features; where nothing is said, features of loops.
    struct Loss
    {
        const char* name;
        TreeLoss loss;
        const char* help;
    };
    struct Features
    {
        const char* suffix;
        FeatureKind kind;
        const char* help;
    };
    for (const Loss& loss :
         {Loss{"xgb", TreeLoss::Reg, "boosted trees that guess throughput"},
          Loss{"xgb_rank", TreeLoss::Rank, "boosted trees that rank"},
          Loss{"xgb_rank_binary", TreeLoss::RankBinary, "boosted trees that rank, judged by halves"}})
        for (const Features& features :
             {Features{"", FeatureKind::IterVar, ", of loops"}, Features{"_knob", FeatureKind::Knob, ", of knobs"},
              Features{"_itervar", FeatureKind::IterVar, ", of loops"},
              Features{"_curve", FeatureKind::Curve, ", of curves of reuse"}})
            all.push_back({std::string(loss.name) + features.suffix, std::string(loss.help) + features.help,
                           xgbParameters(), features.kind,
                           [kind = loss.loss](const ConfigSpace& space, const TunerValues& values,
                                              ConfigFeatures ofConfig, std::uint64_t seed) {
                               return std::make_unique<XgbTuner>(space,
                                                                 xgbOptions(values, kind, std::move(ofConfig), seed));
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
