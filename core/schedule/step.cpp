#include "core/schedule/step.h"

#include "core/support/json_values.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::schedule {

namespace {

using nlohmann::json;

constexpr std::int64_t kMostLanesOfWarp = 128; ///< more is a damaged record

json lengthsToJson(const std::vector<std::optional<std::int64_t>>& lengths)
{
    json array = json::array();
    for (const auto& length : lengths)
        array.push_back(length ? json(*length) : json(nullptr));
    return array;
}

/// Text for errors. What nests deeper than any step does is left out: it is damage, and may be deeper than the stack.
std::string brief(const json& value, int depth = 0)
{
    if (!value.is_structured())
        return value.dump();
    if (!value.is_array() || depth > 2)
        return "...";
    std::string text = "[";
    for (const json& item : value)
        text += (text.size() > 1 ? "," : "") + brief(item, depth + 1);
    return text + "]";
}

/// Reads the elements of one step's array in order; the first that is off makes the error, later reads give defaults.
class StepReader
{
public:
    explicit StepReader(const json& array)
        : m_array(array)
    {
    }

    std::int64_t integer(const char* what, std::int64_t least, std::int64_t most = INT32_MAX)
    {
        return number(next(what), what, least, most);
    }
    std::int32_t index(const char* what) { return static_cast<std::int32_t>(integer(what, 0)); }
    bool flag(const char* what) { return integer(what, 0, 1) != 0; }
    std::string text(const char* what)
    {
        const json* item = next(what);
        std::string value;
        if (item != nullptr && !takeJson(*item, value))
            fail(what, "is no string");
        return value;
    }
    std::vector<std::int32_t> indices(const char* what)
    {
        std::vector<std::int32_t> values;
        if (const json* item = array(what))
            for (const json& v : *item)
                values.push_back(static_cast<std::int32_t>(number(&v, what, 0, INT32_MAX)));
        return values;
    }
    std::vector<std::optional<std::int64_t>> lengths(const char* what)
    {
        std::vector<std::optional<std::int64_t>> values;
        if (const json* item = array(what))
            for (const json& v : *item)
                values.push_back(v.is_null() ? std::nullopt : std::optional(number(&v, what, 1, INT32_MAX)));
        return values;
    }
    std::vector<LayoutStep::Axis> layoutAxes(const char* what)
    {
        std::vector<LayoutStep::Axis> axes;
        const json* item = array(what);
        for (std::size_t i = 0; item != nullptr && i < item->size(); ++i) {
            const json& v = (*item)[i];
            if (!v.is_array() || v.size() != 3) {
                fail(what, "holds an axis that is not [dim, div, extent]");
                break;
            }
            axes.push_back({static_cast<std::int32_t>(number(&v[0], what, 0, INT32_MAX)),
                            number(&v[1], what, 1, INT64_MAX), number(&v[2], what, 1, INT64_MAX)});
        }
        return axes;
    }

    template<typename S>
    Result<Step> finish(S step)
    {
        if (m_error.empty() && m_next != m_array.size())
            m_error = fmt::format("has {} elements instead of {}", m_array.size(), m_next);
        if (!m_error.empty())
            return makeError(Errc::BadFile, fmt::format("step {}: {}", brief(m_array), m_error));
        return Step(std::move(step));
    }

private:
    const json* next(const char* what)
    {
        if (m_next >= m_array.size()) {
            fail(what, "is missing");
            ++m_next;
            return nullptr;
        }
        return &m_array[m_next++];
    }
    const json* array(const char* what)
    {
        const json* item = next(what);
        if (item != nullptr && !item->is_array()) {
            fail(what, "is no array");
            return nullptr;
        }
        return item;
    }
    std::int64_t number(const json* item, const char* what, std::int64_t least, std::int64_t most)
    {
        if (item == nullptr)
            return least;
        if (!item->is_number_integer()) {
            fail(what, "is no integer");
            return least;
        }
        std::int64_t value = least;
        if (!takeJson(*item, value) || value > most)
            fail(what, fmt::format("is larger than {}", most));
        else if (value < least)
            fail(what, fmt::format("is {}, outside of [{}, {}]", value, least, most));
        return value;
    }
    void fail(const char* what, const std::string& why)
    {
        if (m_error.empty())
            m_error = fmt::format("{} {}", what, why);
    }

    const json& m_array;
    std::size_t m_next = 1;
    std::string m_error;
};

struct ToJson
{
    json operator()(const AnnotateStep& s) const
    {
        return json::array({"AN", s.stage, s.iter, static_cast<int>(s.annotation)});
    }
    json operator()(const FuseStep& s) const { return json::array({"FU", s.stage, json(s.iters)}); }
    json operator()(const PragmaStep& s) const { return json::array({"PR", s.stage, s.iter, s.pragma}); }
    json operator()(const ReorderStep& s) const { return json::array({"RE", s.stage, json(s.order)}); }
    json operator()(const SplitStep& s) const
    {
        return json::array({"SP", s.stage, s.iter, s.extent, lengthsToJson(s.lengths), s.innerToOuter ? 1 : 0});
    }
    json operator()(const FollowSplitStep& s) const
    {
        return json::array({"FSP", s.stage, s.iter, s.sourceStep, s.parts});
    }
    json operator()(const FollowFusedSplitStep& s) const
    {
        return json::array({"FFSP", s.stage, s.iter, json(s.sourceSteps), s.level, s.factor ? 1 : 0});
    }
    json operator()(const StorageAlignStep& s) const
    {
        return json::array({"SA", s.stage, s.iter, s.factor, s.offset});
    }
    json operator()(const ComputeAtStep& s) const { return json::array({"CA", s.stage, s.target, s.targetIter}); }
    json operator()(const ComputeInlineStep& s) const { return json::array({"CI", s.stage}); }
    json operator()(const ComputeRootStep& s) const { return json::array({"CR", s.stage}); }
    json operator()(const CacheReadStep& s) const { return json::array({"CHR", s.stage, s.scope, json(s.readers)}); }
    json operator()(const CacheWriteStep& s) const { return json::array({"CHW", s.stage, s.scope}); }
    json operator()(const RfactorStep& s) const { return json::array({"RF", s.stage, s.iter, s.factorIter}); }
    json operator()(const LayoutStep& s) const
    {
        json axes = json::array();
        for (const LayoutStep::Axis& a : s.axes)
            axes.push_back(json::array({a.dim, a.div, a.extent}));
        return json::array({"LY", s.stage, std::move(axes)});
    }
    json operator()(const PartitionStep& s) const { return json::array({"PT", s.stage, s.iter}); }
    json operator()(const PrefetchStep& s) const
    {
        return json::array({"PF", s.stage, s.iter, s.source, s.distanceBytes});
    }
    json operator()(const PadStrideStep& s) const { return json::array({"PS", s.stage, s.dim, s.elements}); }
    json operator()(const FoldStep& s) const { return json::array({"FD", s.stage, s.dim, s.rows}); }
    json operator()(const OverlapStep& s) const { return json::array({"OV", s.stage, s.iter, s.length}); }
    json operator()(const StagesStep& s) const { return json::array({"SG", s.stage, s.count}); }
    json operator()(const ShuffleStep& s) const { return json::array({"SH", s.stage, s.iter, s.warp}); }
    json operator()(const LeastBlocksStep& s) const { return json::array({"LB", s.stage, s.count}); }
};

} // namespace

nlohmann::json toJson(const Step& step)
{
    return std::visit(ToJson{}, step);
}

Result<Step> stepFromJson(const nlohmann::json& value)
{
    if (!value.is_array() || value.empty() || !value[0].is_string())
        return makeError(Errc::BadFile, "a step is an array that opens with its short name, not " + brief(value));
    const auto name = value[0].get<std::string>();
    StepReader in(value);
    // Braces initialise left to right, so elements are read in order.
    if (name == "AN")
        return in.finish(AnnotateStep{in.index("stage"), in.index("iterator"),
                                      static_cast<Annotation>(in.integer("annotation", 0, 11))});
    if (name == "FU")
        return in.finish(FuseStep{in.index("stage"), in.indices("iterators")});
    if (name == "PR")
        return in.finish(PragmaStep{in.index("stage"), in.index("iterator"), in.text("pragma")});
    if (name == "RE")
        return in.finish(ReorderStep{in.index("stage"), in.indices("order")});
    if (name == "SP")
        return in.finish(SplitStep{in.index("stage"), in.index("iterator"), in.integer("extent", 0),
                                   in.lengths("lengths"), in.flag("inner_to_outer")});
    if (name == "FSP")
        return in.finish(FollowSplitStep{in.index("stage"), in.index("iterator"), in.index("source step"),
                                         static_cast<std::int32_t>(in.integer("parts", 1))});
    if (name == "FFSP")
        return in.finish(FollowFusedSplitStep{in.index("stage"), in.index("iterator"), in.indices("source steps"),
                                              in.index("level"), in.flag("factor_or_nparts")});
    if (name == "SA")
        return in.finish(StorageAlignStep{in.index("stage"), in.index("iterator"),
                                          static_cast<std::int32_t>(in.integer("factor", 1)), in.index("offset")});
    if (name == "CA")
        return in.finish(ComputeAtStep{in.index("stage"), in.index("target"), in.index("target iterator")});
    if (name == "CI")
        return in.finish(ComputeInlineStep{in.index("stage")});
    if (name == "CR")
        return in.finish(ComputeRootStep{in.index("stage")});
    if (name == "CHR")
        return in.finish(CacheReadStep{in.index("stage"), in.text("scope"), in.indices("readers")});
    if (name == "CHW")
        return in.finish(CacheWriteStep{in.index("stage"), in.text("scope")});
    if (name == "RF")
        return in.finish(RfactorStep{in.index("stage"), in.index("iterator"), in.index("factor iterator")});
    if (name == "LY")
        return in.finish(LayoutStep{in.index("stage"), in.layoutAxes("axes")});
    if (name == "PT")
        return in.finish(PartitionStep{in.index("stage"), in.index("iterator")});
    if (name == "PF")
        return in.finish(
            PrefetchStep{in.index("stage"), in.index("iterator"), in.index("source"), in.integer("distance", 0)});
    if (name == "PS")
        return in.finish(PadStrideStep{in.index("stage"), in.index("dimension"), in.integer("elements", 0)});
    if (name == "FD")
        return in.finish(FoldStep{in.index("stage"), in.index("dimension"), in.integer("rows", 1)});
    if (name == "OV")
        return in.finish(OverlapStep{in.index("stage"), in.index("iterator"), in.integer("length", 1)});
    if (name == "SG")
        return in.finish(
            StagesStep{in.index("stage"), static_cast<std::int32_t>(in.integer("count", 2, StagesStep::kMost))});
    if (name == "SH")
        return in.finish(ShuffleStep{in.index("stage"), in.index("iterator"),
                                     static_cast<std::int32_t>(in.integer("warp", 2, kMostLanesOfWarp))});
    if (name == "LB")
        return in.finish(LeastBlocksStep{in.index("stage"),
                                         static_cast<std::int32_t>(in.integer("count", 1, LeastBlocksStep::kMost))});
    return makeError(Errc::BadFile, fmt::format("there is no step '{}'", name));
}

nlohmann::json toJson(const std::vector<Step>& steps)
{
    json array = json::array();
    for (const Step& step : steps)
        array.push_back(toJson(step));
    return array;
}

Result<std::vector<Step>> stepsFromJson(const nlohmann::json& value)
{
    if (!value.is_array())
        return makeError(Errc::BadFile, "steps are an array of steps");
    std::vector<Step> steps;
    for (std::size_t i = 0; i < value.size(); ++i) {
        Result<Step> step = stepFromJson(value[i]);
        if (!step)
            return std::move(step).error().note(fmt::format("position {}", i));
        steps.push_back(*std::move(step));
    }
    return steps;
}

bool isReferenceStep(const Step& step)
{
    return step.index() < 14;
}

bool storesTwice(const std::vector<Step>& steps)
{
    return std::any_of(steps.begin(), steps.end(),
                       [](const Step& s) { return std::holds_alternative<OverlapStep>(s); });
}

} // namespace lathe::schedule
