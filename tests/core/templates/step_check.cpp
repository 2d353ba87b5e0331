#include "tests/core/templates/step_check.h"

#include "core/schedule/launch_limits.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/support/random.h"
#include "core/templates/space_summary.h"
#include "tests/core/schedule/kernel_check.h"

#include <algorithm>

namespace lathe::test {

using namespace templates;

namespace {

/// Empty: nothing is wrong. `ran`: whether the hardware can run it, so that it was run.
QString wrongOfConfig(const TaskTemplate& made, const Config& config, const search::SearchTask& task, bool& ran)
{
    const auto text = [](const Error& error) { return QString::fromStdString(error.message); };
    const auto candidate = made.candidate(config);
    if (!candidate)
        return text(candidate.error());
    if (made.configOf(*candidate) != config)
        return "its genome is of another configuration";
    const auto state = schedule::State::replay(made.dag, must(made.steps(config)));
    if (!state)
        return text(state.error());
    schedule::LowerOptions options;
    options.constantInputs = made.constantInputs;
    options.form = task.target.traits().form;
    std::optional<Message> refusal; // by what the hardware cannot do; marks have rules of the template's own
    for (const Constraint& constraint : made.space.constraints())
        if (!refusal && !constraint.name.starts_with("marks"))
            refusal = constraint.refusal(config);
    if (options.form == KernelForm::Launches) {
        const auto kernel = schedule::lower(*state, options);
        if (!kernel)
            return "lower: " + text(kernel.error());
        const auto fits = schedule::checkLimits(*state, kernel->nest, task.hardware);
        if (fits && refusal)
            return "the space refuses what can be run: " + QString::fromStdString(textOf(*refusal));
        if (!fits && !refusal)
            return "the space takes what cannot be run: " + text(fits.error());
    }
    if (made.space.refusal(config))
        return {};
    ran = true;
    return QString::fromStdString(schedule::test::checkKernel(*state, 3, options));
}

} // namespace

QString wrongOf(const search::SearchTask& task, std::size_t most, std::set<std::string>* names)
{
    Message why;
    const std::vector<TaskTemplate> all = templatesOf(task, &why);
    if (all.empty())
        return QString::fromStdString("no template: " + textOf(why));
    bool isGiven = false;
    const std::uint64_t given = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&isGiven);
    const std::uint64_t seed = isGiven ? given : 7;
    for (const TaskTemplate& made : all) {
        if (names != nullptr)
            names->insert(std::string(made.row->name));
        Random random(seed);
        std::size_t count = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(4 * most, made.space.size()) && count < most; ++i) {
            const std::uint64_t index = made.space.size() <= 4 * most ? i : random.below(made.space.size());
            const Config config = must(made.space.at(index));
            bool ran = false;
            const QString wrong = wrongOfConfig(made, config, task, ran);
            if (!wrong.isEmpty())
                return QString("LATHE_TEST_SEED=%1: ").arg(seed)
                       + QString::fromStdString(std::string(made.row->name) + ' ' + configText(config) + ": ") + wrong;
            count += ran ? 1 : 0;
        }
        if (count == 0)
            return QString::fromStdString(std::string(made.row->name)) + ": no configuration was run";
    }
    return {};
}

} // namespace lathe::test
