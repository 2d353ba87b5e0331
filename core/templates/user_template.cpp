#include "core/templates/user_template.h"

#include "core/ir/bounds.h"
#include "core/support/files.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/templates/workload_args.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

namespace lathe::templates {

using nlohmann::json;
using schedule::Annotation;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

namespace {

constexpr std::uintmax_t kMaxFile = 1 << 20;
constexpr std::size_t kMostSteps = 256;

/// An axis of a pattern by its name: which loop of the sum it is, and its extent.
struct AxisName
{
    std::string name;
    bool summed = false;
    std::size_t place = 0; ///< in MatchedNest::spatial, or ::reduce
};

const std::vector<AxisName>& axesOf(Pattern pattern)
{
    static const std::vector<AxisName> conv = {{"n", false, 0}, {"co", false, 1}, {"y", false, 2}, {"x", false, 3},
                                               {"ci", true, 0}, {"ky", true, 1},  {"kx", true, 2}};
    static const std::vector<AxisName> depthwise = {{"n", false, 0}, {"co", false, 1}, {"y", false, 2},
                                                    {"x", false, 3}, {"ky", true, 1},  {"kx", true, 2}};
    static const std::vector<AxisName> dense = {{"m", false, 0}, {"n", false, 3}, {"k", true, 0}};
    return pattern == Pattern::Conv2d ? conv : pattern == Pattern::DepthwiseConv2d ? depthwise : dense;
}

const AxisName* findAxis(Pattern pattern, std::string_view name)
{
    const std::vector<AxisName>& axes = axesOf(pattern);
    const auto found = std::find_if(axes.begin(), axes.end(), [name](const AxisName& a) { return a.name == name; });
    return found == axes.end() ? nullptr : &*found;
}

/// "x.1": the axis and the part.
struct LoopName
{
    const AxisName* axis = nullptr;
    std::int32_t part = 0;
};

std::optional<LoopName> loopOf(Pattern pattern, std::string_view text)
{
    LoopName loop;
    const std::size_t dot = text.find('.');
    loop.axis = findAxis(pattern, text.substr(0, dot));
    if (loop.axis == nullptr)
        return std::nullopt;
    if (dot == std::string_view::npos)
        return loop;
    const std::string_view part = text.substr(dot + 1);
    if (part.size() != 1 || part[0] < '0' || part[0] > '9')
        return std::nullopt;
    loop.part = part[0] - '0';
    return loop;
}

enum class Verb : std::uint8_t
{
    Split,
    Order,
    SumAt,
    Unroll,
    Vectorize,
    Pack,
    Parallel
};

struct UserStep
{
    Verb verb = Verb::Split;
    std::vector<LoopName> loops; ///< one, or all of an order
    std::string knob; ///< that a split is by
    std::string condition; ///< knob; empty: always
    std::int32_t count = 0; ///< of Parallel
};

struct UserKnob
{
    std::string name;
    std::string axis; ///< of a split; empty: an option
    std::size_t parts = 2;
    SplitPolicy policy = SplitPolicy::Factors;
    std::int64_t largest = 0; ///< 0: no limit
    std::vector<JsonValue> values;
};

struct Definition
{
    Pattern pattern = Pattern::Conv2d;
    std::vector<UserKnob> knobs;
    std::vector<UserStep> steps;

    const UserKnob* find(std::string_view name) const
    {
        const auto knob = std::find_if(knobs.begin(), knobs.end(),
                                       [name](const UserKnob& k) { return k.name == name; });
        return knob == knobs.end() ? nullptr : &*knob;
    }
};

std::int64_t extentIn(const Workload& workload, const AxisName& axis, Pattern pattern)
{
    if (pattern == Pattern::Dense) {
        const auto dense = denseArgs(workload);
        return !dense ? 1 : axis.name == "m" ? dense->m : axis.name == "n" ? dense->n : dense->k;
    }
    const auto conv = convArgs(workload);
    if (!conv)
        return 1;
    if (axis.summed)
        return axis.place == 0 ? conv->inChannels : axis.place == 1 ? conv->kernelHeight : conv->kernelWidth;
    return axis.place == 0   ? conv->batch
           : axis.place == 1 ? conv->outChannels
           : axis.place == 2 ? conv->outHeight()
                             : conv->outWidth();
}

Result<ConfigSpace> spaceBy(const Definition& definition, const Workload& workload)
{
    ConfigSpace space;
    for (const UserKnob& knob : definition.knobs) {
        if (knob.axis.empty()) {
            LATHE_TRY(space.addOption(knob.name, knob.values));
            continue;
        }
        SplitRule rule{extentIn(workload, *findAxis(definition.pattern, knob.axis), definition.pattern),
                       static_cast<std::int32_t>(knob.parts), knob.policy};
        if (knob.largest > 0)
            rule.filter = [largest = knob.largest](std::span<const std::int64_t> sizes) {
                return sizes.back() <= largest;
            };
        LATHE_TRY(space.addSplit(knob.name, rule));
    }
    return space;
}

/// Applies a definition's steps to a nest.
class Application
{
public:
    Application(const Definition& definition, const Scheduled& scheduled, const Config& config)
        : m_definition(definition)
        , m_scheduled(scheduled)
        , m_nest(scheduled.nest)
        , m_config(config)
        , m_emitter(scheduled.dag.ops.size())
    {
    }

    Result<std::vector<schedule::Step>> run()
    {
        const bool fits = m_definition.pattern == Pattern::Dense
                              ? m_nest.dense() != nullptr
                              : m_nest.conv() != nullptr
                                    && m_nest.conv()->depthwise == (m_definition.pattern == Pattern::DepthwiseConv2d);
        if (!fits)
            return makeError(Errc::Unsupported, "the template is for another operator");
        for (const std::int32_t op : m_nest.inlined)
            if (op > m_nest.border)
                m_emitter.inlineOp(op);
        std::int32_t sum = m_nest.anchor;
        if (m_nest.owner == m_nest.anchor)
            sum = m_emitter.cacheWrite(m_nest.anchor, "local");
        else
            sum = m_emitter.stageOf(m_nest.anchor);
        m_sum.emplace(m_emitter, sum, m_nest.loops);
        m_store.emplace(m_emitter, m_emitter.stageOf(m_nest.owner), storeRank());
        for (const UserStep& step : m_definition.steps)
            if (applies(step))
                LATHE_TRY(apply(step));
        if (m_nest.border >= 0)
            m_emitter.inlineOp(m_nest.border);
        for (const std::int32_t op : m_nest.inlined)
            if (op < m_nest.border)
                m_emitter.inlineOp(op);
        return m_emitter.take();
    }

private:
    std::int32_t storeRank() const { return m_definition.pattern == Pattern::Dense ? 2 : 4; }

    bool applies(const UserStep& step) const
    {
        return step.condition.empty() || m_config.number(step.condition).value_or(0) != 0;
    }

    std::int32_t axisIndex(const AxisName& axis) const
    {
        return axis.summed ? m_nest.reduce[axis.place] : m_nest.spatial[axis.place];
    }
    LoopPart part(const LoopName& loop) const { return {axisIndex(*loop.axis), loop.part}; }
    std::size_t partsOf(const LoopName& loop) const
    {
        const auto split = m_sizes.find(loop.axis->name);
        return split == m_sizes.end() ? 1 : split->second.size();
    }
    std::int64_t extentOf(const LoopName& loop) const
    {
        const auto split = m_sizes.find(loop.axis->name);
        if (split != m_sizes.end())
            return split->second[static_cast<std::size_t>(loop.part)];
        const compute::Op& op = m_scheduled.anchor();
        const std::int32_t index = axisIndex(*loop.axis);
        return loop.axis->summed ? op.reduceExtents[static_cast<std::size_t>(index) - op.shape.size()]
                                 : op.shape[static_cast<std::size_t>(index)];
    }
    Result<> exists(const LoopName& loop) const
    {
        if (static_cast<std::size_t>(loop.part) < partsOf(loop))
            return {};
        return makeError(Errc::InvalidArgument,
                         fmt::format("the loop {}.{} is not there: {} was not split into so many parts",
                                     loop.axis->name, loop.part, loop.axis->name));
    }

    Result<> apply(const UserStep& step)
    {
        for (const LoopName& loop : step.loops)
            if (step.verb != Verb::Split)
                LATHE_TRY(exists(loop));
        switch (step.verb) {
        case Verb::Split: return split(step);
        case Verb::Order: return order(step);
        case Verb::SumAt:
            m_emitter.add(
                schedule::ComputeAtStep{m_sum->stage(), m_store->stage(), m_store->position(part(step.loops.front()))});
            return {};
        case Verb::Unroll: return annotate(step, Annotation::Unroll);
        case Verb::Vectorize: return annotate(step, Annotation::Vectorize);
        case Verb::Pack: return pack(step);
        case Verb::Parallel:
            m_store->fuseOuter(step.count);
            m_store->annotateOutermost(Annotation::Parallel);
            return {};
        }
        return {};
    }

    Result<> split(const UserStep& step)
    {
        const LoopName& loop = step.loops.front();
        const UserKnob* knob = m_definition.find(step.knob);
        const std::int64_t extent = extentOf(loop);
        if (m_sizes.contains(loop.axis->name))
            return makeError(Errc::InvalidArgument, loop.axis->name + " is split twice");
        LATHE_TRY_ASSIGN(std::vector<std::int64_t> sizes, splitSizes(m_config, step.knob, knob->parts, extent));
        const std::vector<std::int64_t> inner(sizes.begin() + 1, sizes.end());
        const std::int32_t axis = axisIndex(*loop.axis);
        // Elements that a tail would repeat must not be summed twice.
        if (loop.axis->summed) {
            m_sum->split(axis, extent, inner);
        } else {
            m_sum->cover(axis, extent, inner);
            m_store->cover(axis, extent, inner);
        }
        m_sizes[loop.axis->name] = std::move(sizes);
        return {};
    }

    Result<> order(const UserStep& step)
    {
        std::vector<LoopPart> ofSum, ofStore;
        for (const LoopName& loop : step.loops) {
            ofSum.push_back(part(loop));
            if (!loop.axis->summed)
                ofStore.push_back(part(loop));
        }
        std::size_t sum = 0;
        for (const AxisName& axis : axesOf(m_definition.pattern))
            sum += partsOf({&axis, 0});
        if (ofSum.size() != sum)
            return makeError(Errc::InvalidArgument,
                             fmt::format("the order has {} loops, the sum has {}", ofSum.size(), sum));
        m_sum->reorder(ofSum);
        m_store->reorder(ofStore);
        return {};
    }

    Result<> annotate(const UserStep& step, Annotation annotation)
    {
        const LoopName& loop = step.loops.front();
        if (extentOf(loop) == 1)
            return {};
        m_sum->annotate(part(loop), annotation);
        if (!loop.axis->summed)
            m_store->annotate(part(loop), annotation);
        return {};
    }

    /// The dimension of the weight that an axis walks; -1: none.
    std::int32_t weightDim(const AxisName& axis) const
    {
        if (m_definition.pattern == Pattern::Dense)
            return axis.name == "n" ? m_nest.weightDims[0] : axis.name == "k" ? m_nest.weightDims[1] : -1;
        if (!axis.summed)
            return axis.place == 1 ? m_nest.weightDims[0] : -1;
        return m_nest.weightDims[axis.place + 1];
    }

    Result<> pack(const UserStep& step)
    {
        if (!m_nest.weightIsConstant)
            return {};
        schedule::LayoutStep layout{m_emitter.stageOf(m_nest.weight), {}};
        for (const LoopName& loop : step.loops) {
            const std::int32_t dim = weightDim(*loop.axis);
            if (dim < 0)
                return makeError(Errc::InvalidArgument, "the weight does not depend on " + loop.axis->name);
            std::int64_t div = 1;
            for (std::size_t p = static_cast<std::size_t>(loop.part) + 1; p < partsOf(loop); ++p)
                div *= m_sizes[loop.axis->name][p];
            layout.axes.push_back({dim, div, extentOf(loop)});
        }
        const std::size_t rank = m_scheduled.dag.ops[static_cast<std::size_t>(m_nest.weight)].shape.size();
        for (std::size_t d = 0; d < rank; ++d) { // the multiplier of depthwise kernels, which is 1
            const auto has = [d](const schedule::LayoutStep::Axis& a) { return a.dim == static_cast<std::int32_t>(d); };
            if (std::none_of(layout.axes.begin(), layout.axes.end(), has))
                layout.axes.insert(layout.axes.begin(),
                                   {static_cast<std::int32_t>(d), 1,
                                    m_scheduled.dag.ops[static_cast<std::size_t>(m_nest.weight)].shape[d]});
        }
        m_emitter.add(std::move(layout));
        return {};
    }

    const Definition& m_definition;
    const Scheduled& m_scheduled;
    const MatchedNest& m_nest;
    const Config& m_config;
    StepEmitter m_emitter;
    std::optional<StageLoops> m_sum, m_store;
    std::map<std::string, std::vector<std::int64_t>> m_sizes; ///< of axes that are split
};

/// Reads a definition; errors name the place in the file.
class Reader
{
public:
    explicit Reader(std::string file)
        : m_file(std::move(file))
    {
    }

    Result<std::shared_ptr<const UserTemplate>> read(std::string_view text)
    {
        const json all = json::parse(text, nullptr, false);
        if (!all.is_object())
            return wrong("the file", "it is no JSON object");
        LATHE_TRY(onlyKnows(all, "the file", {"template", "family", "pattern", "knobs", "steps"}));
        auto made = std::make_shared<UserTemplate>();
        LATHE_TRY_ASSIGN(made->name, name(all, "template", "the file"));
        made->family = all.contains("family") && all["family"].is_string() ? all["family"].get<std::string>() : "cpu";
        if (made->family != "cpu")
            return wrong("family", "templates of one's own are for the family cpu");
        Definition definition;
        LATHE_TRY_ASSIGN(const std::string pattern, name(all, "pattern", "the file"));
        static const std::map<std::string, Pattern> kPatterns = {
            {"conv2d", Pattern::Conv2d}, {"depthwise_conv2d", Pattern::DepthwiseConv2d}, {"dense", Pattern::Dense}};
        const auto known = kPatterns.find(pattern);
        if (known == kPatterns.end())
            return wrong("pattern", "'" + pattern + "' is none of conv2d, depthwise_conv2d, dense");
        definition.pattern = known->second;
        made->pattern = definition.pattern;
        // The arguments of a workload are read by its name, as the reference does.
        if (made->name.starts_with("depthwise") != (definition.pattern == Pattern::DepthwiseConv2d))
            return wrong("template", "names of depthwise templates, and no others, begin with depthwise");
        LATHE_TRY(readKnobs(all, definition));
        LATHE_TRY(readSteps(all, definition));
        const auto shared = std::make_shared<const Definition>(std::move(definition));
        made->row.name = made->name;
        made->row.priority = 10;
        made->row.space = [shared](const Workload& workload, const TemplateFacts&) {
            return spaceBy(*shared, workload);
        };
        made->row.steps = [shared](const Scheduled& scheduled, const Config& config) {
            return Application(*shared, scheduled, config).run();
        };
        return std::shared_ptr<const UserTemplate>(std::move(made));
    }

private:
    Error wrong(std::string part, std::string reason) const
    {
        return makeError(Errc::BadFile, say(Msg::TemplateFileWrong, m_file, std::move(part), std::move(reason)));
    }

    Result<> onlyKnows(const json& object, const std::string& part, const std::set<std::string>& keys) const
    {
        for (const auto& [key, value] : object.items())
            if (!keys.contains(key))
                return wrong(part, "'" + key.substr(0, 40) + "' is not known there");
        return {};
    }

    Result<std::string> name(const json& object, const char* key, const std::string& part) const
    {
        if (!object.contains(key) || !object[key].is_string() || object[key].get<std::string>().empty()
            || object[key].get<std::string>().size() > 100)
            return wrong(part, std::string("'") + key + "' is no name");
        return object[key].get<std::string>();
    }

    Result<> readKnobs(const json& all, Definition& definition) const
    {
        if (!all.contains("knobs") || !all["knobs"].is_array() || all["knobs"].empty() || all["knobs"].size() > 32)
            return wrong("knobs", "it is no list of 1 to 32 knobs");
        for (std::size_t i = 0; i < all["knobs"].size(); ++i) {
            const json& item = all["knobs"][i];
            const std::string part = fmt::format("knobs[{}]", i);
            if (!item.is_object())
                return wrong(part, "it is no object");
            LATHE_TRY(onlyKnows(item, part, {"name", "split", "parts", "policy", "largest", "option"}));
            UserKnob knob;
            LATHE_TRY_ASSIGN(knob.name, name(item, "name", part));
            if (definition.find(knob.name) != nullptr)
                return wrong(part, "there is a knob '" + knob.name + "' already");
            if (item.contains("split"))
                LATHE_TRY(readSplit(item, part, definition, knob));
            else
                LATHE_TRY(readOption(item, part, knob));
            definition.knobs.push_back(std::move(knob));
        }
        return {};
    }

    Result<> readSplit(const json& item, const std::string& part, const Definition& definition, UserKnob& knob) const
    {
        LATHE_TRY_ASSIGN(knob.axis, name(item, "split", part));
        if (findAxis(definition.pattern, knob.axis) == nullptr)
            return wrong(part, "the pattern has no axis '" + knob.axis + "'");
        const std::int64_t parts = item.contains("parts") ? wholeIn(item, "parts") : 2;
        if (parts < 2 || parts > 4)
            return wrong(part, "'parts' is not from 2 to 4");
        knob.parts = static_cast<std::size_t>(parts);
        knob.largest = item.contains("largest") ? wholeIn(item, "largest") : 0;
        if (item.contains("largest") && knob.largest < 1)
            return wrong(part, "'largest' is no positive whole number");
        const std::string policy = item.contains("policy") ? textIn(item, "policy") : "factors";
        if (policy == "factors")
            knob.policy = SplitPolicy::Factors;
        else if (policy == "power2")
            knob.policy = SplitPolicy::Power2;
        else if (policy == "verbose")
            knob.policy = SplitPolicy::Verbose;
        else
            return wrong(part, "'" + policy + "' is none of factors, power2, verbose");
        return {};
    }

    Result<> readOption(const json& item, const std::string& part, UserKnob& knob) const
    {
        if (!item.contains("option") || !item["option"].is_array() || item["option"].empty()
            || item["option"].size() > 1000)
            return wrong(part, "it is neither a split nor an option with a list of values");
        for (const json& value : item["option"]) {
            JsonValue& taken = knob.values.emplace_back();
            if (value.is_boolean())
                taken.value = value.get<bool>();
            else if (value.is_number_integer())
                taken.value = value.get<std::int64_t>();
            else
                return wrong(part, "a value is no whole number, true or false");
        }
        return {};
    }

    Result<LoopName> loop(const json& value, const std::string& part, const Definition& definition) const
    {
        const auto found = value.is_string() ? loopOf(definition.pattern, value.get<std::string>()) : std::nullopt;
        if (!found)
            return wrong(part, "there is no loop " + value.dump().substr(0, 40));
        return *found;
    }

    Result<std::vector<LoopName>> loops(const json& list, const std::string& part, const Definition& definition) const
    {
        if (!list.is_array() || list.empty() || list.size() > 64)
            return wrong(part, "it is no list of loops");
        std::vector<LoopName> all;
        for (const json& value : list) {
            LATHE_TRY_ASSIGN(const LoopName one, loop(value, part, definition));
            for (const LoopName& other : all)
                if (other.axis == one.axis && other.part == one.part)
                    return wrong(part, value.get<std::string>() + " stands twice");
            all.push_back(one);
        }
        return all;
    }

    Result<> readSteps(const json& all, Definition& definition) const
    {
        if (!all.contains("steps") || !all["steps"].is_array() || all["steps"].empty()
            || all["steps"].size() > kMostSteps)
            return wrong("steps", fmt::format("it is no list of 1 to {} steps", kMostSteps));
        std::int64_t parallel = 0;
        for (std::size_t i = 0; i < all["steps"].size(); ++i) {
            const std::string part = fmt::format("steps[{}]", i);
            if (parallel > 0)
                return wrong(part, "nothing comes behind the step parallel");
            LATHE_TRY_ASSIGN(UserStep step, readStep(all["steps"][i], part, definition));
            parallel += step.verb == Verb::Parallel ? 1 : 0;
            definition.steps.push_back(std::move(step));
        }
        return {};
    }

    Result<UserStep> readStep(const json& item, const std::string& part, const Definition& definition) const
    {
        static const std::vector<std::pair<std::string, Verb>> kVerbs = {
            {"split", Verb::Split},      {"order", Verb::Order},         {"sum at", Verb::SumAt},
            {"unroll", Verb::Unroll},    {"vectorize", Verb::Vectorize}, {"pack weight", Verb::Pack},
            {"parallel", Verb::Parallel}};
        if (!item.is_object())
            return wrong(part, "it is no object");
        const auto verb = std::find_if(kVerbs.begin(), kVerbs.end(),
                                       [&item](const auto& each) { return item.contains(each.first); });
        if (verb == kVerbs.end())
            return wrong(part, "it says nothing that is known");
        UserStep step;
        step.verb = verb->second;
        const json& what = item[verb->first];
        LATHE_TRY(onlyKnows(item, part,
                            step.verb == Verb::Split ? std::set<std::string>{"split", "by", "if"}
                                                     : std::set<std::string>{verb->first, "if"}));
        if (step.verb == Verb::Order || step.verb == Verb::Pack) {
            LATHE_TRY_ASSIGN(step.loops, loops(what, part, definition));
        } else if (step.verb == Verb::Parallel) {
            if (!what.is_number_integer() || what.get<std::int64_t>() < 1 || what.get<std::int64_t>() > 8)
                return wrong(part, "the number of loops is not from 1 to 8");
            step.count = what.get<std::int32_t>();
        } else {
            LATHE_TRY_ASSIGN(const LoopName one, loop(what, part, definition));
            step.loops = {one};
            if (step.verb == Verb::SumAt && one.axis->summed)
                return wrong(part, "the store has no loop " + one.axis->name);
        }
        if (step.verb == Verb::Split) {
            LATHE_TRY_ASSIGN(step.knob, name(item, "by", part));
            const UserKnob* knob = definition.find(step.knob);
            if (knob == nullptr || knob->axis != step.loops.front().axis->name)
                return wrong(part, "there is no knob '" + step.knob + "' that splits " + step.loops.front().axis->name);
        }
        if (item.contains("if")) {
            LATHE_TRY_ASSIGN(step.condition, name(item, "if", part));
            const UserKnob* knob = definition.find(step.condition);
            if (knob == nullptr || !knob->axis.empty())
                return wrong(part, "there is no option '" + step.condition + "'");
        }
        return step;
    }

    std::string m_file;
};

struct Registry
{
    std::mutex mutex;
    std::vector<std::shared_ptr<const UserTemplate>> all;
};

Registry& registry()
{
    static Registry& known =
        *new Registry; // NOLINT(cppcoreguidelines-owning-memory): rows are referred to until the end
    return known;
}

} // namespace

Result<std::shared_ptr<const UserTemplate>> userTemplateOf(std::string_view text, const std::string& file)
{
    return Reader(file).read(text);
}

Result<std::shared_ptr<const UserTemplate>> readTemplateFile(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, kMaxFile));
    return userTemplateOf(text, file.string());
}

Result<> addUserTemplate(std::shared_ptr<const UserTemplate> added)
{
    const std::span<const Template> builtIn = allTemplates();
    if (std::any_of(builtIn.begin(), builtIn.end(), [&](const Template& row) { return row.name == added->name; }))
        return makeError(Errc::InvalidArgument,
                         "the name '" + added->name + "' is that of a template of the reference's");
    Registry& known = registry();
    const std::scoped_lock lock(known.mutex);
    known.all.push_back(std::move(added)); // one that it replaces stays, since spaces may refer to it
    return {};
}

std::vector<std::shared_ptr<const UserTemplate>> userTemplates()
{
    Registry& known = registry();
    const std::scoped_lock lock(known.mutex);
    std::vector<std::shared_ptr<const UserTemplate>> latest;
    for (auto each = known.all.rbegin(); each != known.all.rend(); ++each)
        if (std::none_of(latest.begin(), latest.end(), [&](const auto& l) { return l->name == (*each)->name; }))
            latest.insert(latest.begin(), *each);
    return latest;
}

} // namespace lathe::templates
