#include "core/templates/config_json.h"

#include "core/support/message.h"
#include "core/templates/annotate_choices.h"
#include "core/templates/split_choices.h"

#include <algorithm>

namespace lathe::templates {
namespace {

constexpr std::size_t kMaxKnobs = 256;
constexpr std::size_t kMaxPayload = 64; // axes of a knob
constexpr std::size_t kMaxName = 128;

using List = JsonValue::List;

struct PayloadWriter
{
    std::pair<const char*, JsonValue> operator()(const SplitEntity& split) const
    {
        return {"sp", jsonWholes(split.sizes)};
    }
    std::pair<const char*, JsonValue> operator()(const ReorderEntity& order) const
    {
        return {"re", jsonWholes(order.order)};
    }
    std::pair<const char*, JsonValue> operator()(const AnnotateEntity& annotate) const
    {
        List list;
        for (const Mark mark : annotate.marks)
            list.push_back({std::string(toString(mark))});
        return {"an", {std::move(list)}};
    }
    std::pair<const char*, JsonValue> operator()(const AnchorEntity& anchor) const
    {
        return {"an", jsonWholes(anchor.positions)};
    }
    std::pair<const char*, JsonValue> operator()(const OptionEntity& option) const { return {"ot", option.value}; }
};

Error badConfig(std::string part, std::string wanted)
{
    return makeError(Errc::BadFile, say(Msg::TemplateWrong, std::move(part), std::move(wanted)));
}

/// The payload as whole numbers, each accepted by `fits`.
template<typename T, typename Fits>
bool takeWholes(const List& payload, std::vector<T>& out, Fits fits)
{
    out.reserve(payload.size());
    for (const JsonValue& item : payload) {
        const std::int64_t* whole = item.whole();
        if (whole == nullptr || !fits(*whole, out.size()))
            return false;
        out.push_back(static_cast<T>(*whole));
    }
    return true;
}

Result<Entity> splitFrom(const List& payload, const std::string& place)
{
    SplitEntity split;
    const auto fits = [](std::int64_t size, std::size_t at) {
        return (size >= 1 && size <= kMaxExtent) || (size == -1 && at == 0);
    };
    if (payload.empty() || !takeWholes(payload, split.sizes, fits))
        return badConfig(place, "a list of sizes from 1 to 2147483647 (the first may be -1)");
    return Entity(std::move(split));
}

Result<Entity> orderFrom(const List& payload, const std::string& place)
{
    ReorderEntity reorder;
    std::vector<bool> seen(payload.size(), false);
    const auto fits = [&seen](std::int64_t axis, std::size_t) {
        if (axis < 0 || axis >= std::ssize(seen) || seen[static_cast<std::size_t>(axis)])
            return false;
        seen[static_cast<std::size_t>(axis)] = true;
        return true;
    };
    if (payload.empty() || !takeWholes(payload, reorder.order, fits))
        return badConfig(place, "a permutation of axes");
    return Entity(std::move(reorder));
}

Result<Entity> marksFrom(const List& payload, const std::string& place)
{
    if (!payload.empty() && payload.front().whole() != nullptr) {
        AnchorEntity anchor;
        const auto fits = [](std::int64_t axis, std::size_t) {
            return axis >= 0 && axis < static_cast<std::int64_t>(kMaxPayload);
        };
        if (takeWholes(payload, anchor.positions, fits))
            return Entity(std::move(anchor));
    }
    AnnotateEntity annotate;
    for (const JsonValue& item : payload) {
        const auto mark = item.text() == nullptr ? std::nullopt : markFromString(*item.text());
        if (!mark)
            return badConfig(place, "a list of marks (none, vec, unroll, blockIdx.x, ...) or of axes");
        annotate.marks.push_back(*mark);
    }
    return Entity(std::move(annotate));
}

Result<Entity> entityFrom(const std::string& kind, const JsonValue& payload, const std::string& place)
{
    if (kind == "ot") {
        if (payload.list() != nullptr || payload.members() != nullptr)
            return badConfig(place, "a number, a text, true, false or null");
        return Entity(OptionEntity{payload});
    }
    const List* list = payload.list();
    if (kind != "sp" && kind != "re" && kind != "an")
        return badConfig(place, "of a kind that exists: sp, re, an, ot");
    if (list == nullptr || list->size() > kMaxPayload)
        return badConfig(place, "a list of at most " + std::to_string(kMaxPayload));
    if (kind == "sp")
        return splitFrom(*list, place);
    return kind == "re" ? orderFrom(*list, place) : marksFrom(*list, place);
}

} // namespace

JsonValue entitiesToJson(const Config& config)
{
    List entities;
    entities.reserve(config.knobs.size());
    for (const auto& [name, entity] : config.knobs) {
        auto [kind, payload] = std::visit(PayloadWriter(), entity);
        entities.push_back({List{{name}, {std::string(kind)}, std::move(payload)}});
    }
    return {std::move(entities)};
}

JsonValue configToJson(const Config& config)
{
    JsonValue index;
    if (config.index)
        index = {static_cast<std::int64_t>(*config.index)};
    return {JsonValue::Members{
        {"index", std::move(index)}, {"code_hash", config.codeHash}, {"entity", entitiesToJson(config)}}};
}

Result<Config> configFromJson(const JsonValue& json)
{
    Config config;
    if (json.members() == nullptr)
        return badConfig("config", "an object");
    if (const JsonValue* index = json.member("index"); index != nullptr && !index->isNull()) {
        const std::int64_t* whole = index->whole();
        if (whole == nullptr || *whole < 0)
            return badConfig("config.index", "a whole number of at least 0");
        config.index = static_cast<std::uint64_t>(*whole);
    }
    if (const JsonValue* hash = json.member("code_hash"); hash != nullptr) {
        if (hash->list() != nullptr || hash->members() != nullptr)
            return badConfig("config.code_hash", "a text or null");
        config.codeHash = *hash;
    }
    const JsonValue* entities = json.member("entity");
    if (entities == nullptr || entities->list() == nullptr || entities->list()->size() > kMaxKnobs)
        return badConfig("config.entity", "a list of at most " + std::to_string(kMaxKnobs) + " knobs");
    config.knobs.reserve(entities->list()->size());
    for (const JsonValue& item : *entities->list()) {
        const List* knob = item.list();
        const std::string place = "config.entity[" + std::to_string(config.knobs.size()) + ']';
        if (knob == nullptr || knob->size() != 3 || (*knob)[0].text() == nullptr || (*knob)[1].text() == nullptr)
            return badConfig(place, "[name, kind, value]");
        const std::string& name = *(*knob)[0].text();
        if (name.empty() || name.size() > kMaxName || config.find(name) != nullptr)
            return badConfig(place + "[0]", "the name of one more knob");
        LATHE_TRY_ASSIGN(Entity entity, entityFrom(*(*knob)[1].text(), (*knob)[2], place));
        config.knobs.emplace_back(name, std::move(entity));
    }
    return config;
}

} // namespace lathe::templates
