#include "core/session/weights.h"

#include "app/cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace lathe::cli {

namespace {

struct WeightsArguments
{
    ModelArguments model;
    bool json = false;
    std::vector<std::string> save; ///< NAME=FILE.npy
};

/// The constants that nodes read, each once, in the network's order.
std::vector<session::TensorView> constantsOf(const session::GraphView& graph)
{
    std::vector<session::TensorView> constants;
    std::set<std::int32_t> seen;
    for (const session::NodeView& node : graph.nodes)
        for (const session::TensorView& input : node.inputs)
            if (input.constant >= 0 && seen.insert(input.constant).second)
                constants.push_back(input);
    return constants;
}

Result<> save(session::Weights& weights, const std::vector<session::TensorView>& constants, const std::string& word)
{
    // A name may hold '=' itself: the longest that is one counts.
    const session::TensorView* found = nullptr;
    for (const session::TensorView& constant : constants)
        if (word.starts_with(constant.name + "=") && (found == nullptr || constant.name.size() > found->name.size()))
            found = &constant;
    if (found == nullptr)
        return makeError(Errc::InvalidArgument,
                         fmt::format("'{}' does not begin with the name of a weight: write --save NAME=FILE.npy with a "
                                     "name from the table that the command prints without --save",
                                     word));
    return weights.save(found->constant, word.substr(found->name.size() + 1));
}

Result<> showWeights(const WeightsArguments& a)
{
    LATHE_TRY_ASSIGN(session::OpenOptions options, a.model.openOptions());
    options.readOnly = true;
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
    const std::shared_ptr<session::Weights> weights = session->weights();
    const std::vector<session::TensorView> constants = constantsOf(*session->graph());
    for (const std::string& word : a.save)
        LATHE_TRY(save(*weights, constants, word));
    if (!a.save.empty())
        return {};
    nlohmann::json table = nlohmann::json::array();
    if (!a.json)
        print("{:<32} {:<9} {:<18} {:>11} {:>11} {:>11} {:>11} {:>7} {:>6} {:>6}\n", "weight", "type", "shape", "min",
              "max", "mean", "std", "zeros", "NaN", "inf");
    const auto number = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
    for (const session::TensorView& constant : constants) {
        LATHE_TRY_ASSIGN(const auto s, weights->statistics(constant.constant, {}));
        if (a.json) {
            table.push_back({{"name", constant.name},
                             {"derived", constant.derived},
                             {"sources", constant.sources},
                             {"steps", constant.steps},
                             {"dtype", constant.dtype},
                             {"shape", constant.shape},
                             {"count", s->count},
                             {"min", number(s->min)},
                             {"max", number(s->max)},
                             {"mean", number(s->mean)},
                             {"std", number(s->deviation)},
                             {"zeros", s->zeros},
                             {"nans", s->nans},
                             {"infinities", s->infinities},
                             {"histogram", s->histogram}});
            continue;
        }
        print("{:<32} {:<9} {:<18} {:>11.4g} {:>11.4g} {:>11.4g} {:>11.4g} {:>6.1f}% {:>6} {:>6}\n", constant.name,
              constant.dtype, fmt::format("{}", fmt::join(constant.shape, "x")), s->min, s->max, s->mean, s->deviation,
              s->count > 0 ? 100.0 * static_cast<double>(s->zeros) / static_cast<double>(s->count) : 0.0, s->nans,
              s->infinities);
    }
    if (a.json)
        print("{}\n",
              nlohmann::json({{"weights", table}}).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

} // namespace

void addWeights(CLI::App& app, Action& run)
{
    auto a = std::make_shared<WeightsArguments>();
    CLI::App* command = app.add_subcommand(
        "weights", "List a network's constants as it is compiled, with statistics of their values, or save them");
    a->model.addTo(*command, true);
    command->add_option("--save", a->save, "NAME=FILE.npy: write the values of this one, and print no table");
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return showWeights(*a); }; });
}

} // namespace lathe::cli
