#include "core/search/head_start.h"

#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/support/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::search {

std::size_t HeadStart::seeds() const
{
    return std::accumulate(tasks.begin(), tasks.end(), std::size_t{0},
                           [](std::size_t sum, const Task& task) { return sum + task.seeds.size(); });
}

std::size_t HeadStart::rows() const
{
    return std::accumulate(tasks.begin(), tasks.end(), std::size_t{0},
                           [](std::size_t sum, const Task& task) { return sum + task.costs.size(); });
}

std::string featureVersion()
{
    static const std::string version = [] {
        std::string names;
        for (const std::string& name : latheFeatureNames())
            names += name + '\n';
        return fmt::format("{}:{}", kLatheFeatureVersion, contentHash(names).hex());
    }();
    return version;
}

Result<> checkFeatures(const HeadStart& headStart)
{
    if (headStart.features == featureVersion() && headStart.columns == kLatheFeatures)
        return {};
    return makeError(Errc::Incompatible, "the head start was made by a build whose cost model sees candidates by other "
                                         "features: make it again with this one");
}

bool comparable(const Target& made, const Target& wanted)
{
    return !made.traits().headStart.empty() && made.traits().headStart == wanted.traits().headStart;
}

Result<HeadStartUse> takeHeadStart(const HeadStart& headStart, const Target& target, std::span<Policy* const> policies,
                                   SharedModel& model, std::stop_token stop)
{
    LATHE_TRY(checkFeatures(headStart));
    HeadStart fitting;
    fitting.features = headStart.features;
    fitting.columns = headStart.columns;
    for (const HeadStart::Task& task : headStart.tasks)
        if (const auto made = Target::parse(task.target); made && comparable(*made, target))
            fitting.tasks.push_back(task);

    HeadStartUse use;
    std::vector<double> nearest(fitting.tasks.size(), std::numeric_limits<double>::infinity());
    for (Policy* policy : policies) {
        const std::vector<double> distances = policy->inherit(fitting);
        bool similar = false;
        for (std::size_t t = 0; t < distances.size(); ++t) {
            nearest[t] = std::min(nearest[t], distances[t]);
            similar = similar || std::isfinite(distances[t]);
        }
        use.tasks += similar ? 1 : 0;
    }
    // What resembles the network's tasks most is first; what resembles none of them still shows what registers and
    // caches do.
    std::vector<std::size_t> order(fitting.tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&nearest](std::size_t a, std::size_t b) { return nearest[a] < nearest[b]; });
    const auto columns = static_cast<std::size_t>(fitting.columns);
    for (const std::size_t t : order) {
        const HeadStart::Task& task = fitting.tasks[t];
        if (use.rows + task.costs.size() > kInheritedRows)
            continue;
        for (std::size_t i = 0; i < task.costs.size(); ++i)
            model.inherit(fmt::format("{} {}", t, task.key), std::span(task.features).subspan(i * columns, columns),
                          task.costs[i] * 1e-9);
        use.rows += task.costs.size();
    }
    if (use.rows > 0)
        LATHE_TRY(model.trainInherited(stop));
    return use;
}

} // namespace lathe::search
