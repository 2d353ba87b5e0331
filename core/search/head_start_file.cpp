#include "core/search/head_start_file.h"

#include "core/support/check.h"
#include "core/support/hash.h"
#include "core/support/json_values.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace lathe::search {

using nlohmann::json;

namespace {

constexpr std::string_view kMagic = "lathe head start ";
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;
constexpr std::size_t kMaxFileBody = std::size_t{64} << 20;
constexpr std::size_t kMaxLine = std::size_t{4} << 20;
constexpr std::size_t kMaxTasks = 10'000, kMaxSeeds = 64, kMaxRows = 4096, kMaxNumbers = 256, kMaxText = 16 << 10;
constexpr std::size_t kMaxName = 256, kMaxNames = 256; ///< of networks, targets and devices, which the header lists
constexpr int kLevel = 19;

Error bad(std::string_view what)
{
    return makeError(Errc::BadFile, fmt::format("not a head start: {}", what));
}

Error damaged(std::string_view what)
{
    return makeError(Errc::BadFile, fmt::format("the head start is cut short or damaged: {}", what));
}

Result<std::string> text(const json& object, const char* key, std::size_t most = kMaxText)
{
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().size() > most)
        return damaged(fmt::format("\"{}\" is not a text", key));
    return found->get<std::string>();
}

Result<std::vector<std::int64_t>> numbers(const json& object, const char* key, std::int64_t low)
{
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array() || found->size() > kMaxNumbers)
        return damaged(fmt::format("\"{}\" is not a list of numbers", key));
    std::vector<std::int64_t> values;
    for (const json& value : *found) {
        constexpr std::int64_t kMost = std::int64_t{1} << 48;
        std::int64_t number = 0;
        if (!takeJson(value, number) || number < low || number > kMost)
            return damaged(fmt::format("\"{}\" holds a number that is none of its", key));
        values.push_back(number);
    }
    return values;
}

Result<double> nanoseconds(const json& value)
{
    const double ns = value.is_number() ? value.get<double>() : 0;
    if (!(ns > 0) || !std::isfinite(ns))
        return damaged("a time is not positive");
    return ns;
}

Result<HeadStart::Seed> seedOf(const json& object)
{
    HeadStart::Seed seed;
    LATHE_TRY_ASSIGN(seed.form, text(object, "form"));
    LATHE_TRY_ASSIGN(seed.extents, numbers(object, "extents", 1));
    LATHE_TRY_ASSIGN(seed.values, numbers(object, "values", 0));
    LATHE_TRY_ASSIGN(seed.ns, nanoseconds(object.value("ns", json())));
    return seed;
}

Result<> readRow(const json& row, std::int32_t columns, HeadStart::Task& task)
{
    if (!row.is_array() || row.size() != static_cast<std::size_t>(columns) + 1)
        return damaged("a row of training data has another length than the others");
    if (row[0].is_null()) {
        task.costs.push_back(std::numeric_limits<double>::infinity());
    } else {
        LATHE_TRY_ASSIGN(const double ns, nanoseconds(row[0]));
        task.costs.push_back(ns);
    }
    for (std::size_t i = 1; i < row.size(); ++i) {
        const double value = row[i].is_number() ? row[i].get<double>() : std::numeric_limits<double>::quiet_NaN();
        if (!(std::abs(value) < 1e30))
            return damaged("a row of training data holds something that is not a number");
        task.features.push_back(static_cast<float>(value));
    }
    return {};
}

Result<HeadStart::Task> taskOf(std::string_view line, std::int32_t columns)
{
    const json object = json::parse(line, nullptr, false);
    if (!object.is_object())
        return damaged("a task is no JSON object");
    HeadStart::Task task;
    LATHE_TRY_ASSIGN(task.key, text(object, "key"));
    LATHE_TRY_ASSIGN(task.name, text(object, "name"));
    const std::pair<const char*, std::string*> names[] = {
        {"network", &task.network}, {"target", &task.target}, {"device", &task.device}};
    for (const auto& [key, field] : names) {
        LATHE_TRY_ASSIGN(*field, text(object, key, kMaxName));
    }
    const json seeds = object.value("seeds", json()), rows = object.value("rows", json());
    if (!seeds.is_array() || seeds.size() > kMaxSeeds || !rows.is_array() || rows.size() > kMaxRows)
        return damaged("a task has no lists of candidates and rows");
    for (const json& seed : seeds) {
        if (!seed.is_object())
            return damaged("a candidate is no JSON object");
        LATHE_TRY_ASSIGN(HeadStart::Seed one, seedOf(seed));
        if (!task.seeds.empty() && one.ns < task.seeds.back().ns)
            return damaged("the candidates of a task are not in the order of their times");
        task.seeds.push_back(std::move(one));
    }
    for (const json& row : rows)
        LATHE_TRY(readRow(row, columns, task));
    return task;
}

std::string lineOf(const HeadStart::Task& task, std::int32_t columns)
{
    json seeds = json::array();
    for (const HeadStart::Seed& seed : task.seeds)
        seeds.push_back({{"form", seed.form}, {"extents", seed.extents}, {"values", seed.values}, {"ns", seed.ns}});
    const json object = {{"key", task.key},       {"name", task.name},     {"network", task.network},
                         {"target", task.target}, {"device", task.device}, {"seeds", seeds}};
    std::string line = object.dump(-1, ' ', false, json::error_handler_t::replace);
    line.pop_back();
    line += ",\"rows\":[";
    for (std::size_t i = 0; i < task.costs.size(); ++i) {
        line += i == 0 ? "[" : ",[";
        line += std::isfinite(task.costs[i]) ? fmt::format("{:.6g}", task.costs[i]) : "null";
        for (std::int32_t c = 0; c < columns; ++c)
            line += fmt::format(",{:.6g}",
                                task.features[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)]);
        line += ']';
    }
    return line + "]}\n";
}

template<typename Field>
std::vector<std::string> distinct(const std::vector<HeadStart::Task>& tasks, Field field)
{
    std::set<std::string> values;
    for (const HeadStart::Task& task : tasks)
        if (values.size() < kMaxNames)
            values.insert(task.*field);
    return {values.begin(), values.end()};
}

/// The first line of `rest`, taken off it; without its end. False: there is no whole line of at most so many bytes.
bool takeLine(std::string_view& rest, std::string_view& line, std::size_t most)
{
    const std::size_t end = rest.substr(0, most + 1).find('\n');
    if (end == std::string_view::npos)
        return false;
    line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return true;
}

Result<std::string> unpack(std::string_view frame, std::size_t size, const std::string& hash)
{
    if (size > kMaxFileBody)
        return bad(fmt::format("it unpacks to {} bytes, more than any has", size));
    // Before memory is taken: whether the frame says the same.
    if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size)
        return damaged("its contents have another size than its header says");
    std::string body(size, '\0');
    const std::size_t got = ZSTD_decompress(body.data(), body.size(), frame.data(), frame.size());
    if (ZSTD_isError(got) != 0 || got != size)
        return damaged("its contents cannot be unpacked");
    if (contentHash(body).hex() != hash)
        return damaged("its contents have another hash than its header says");
    return body;
}

} // namespace

Result<std::string> writeHeadStart(const HeadStart& headStart)
{
    std::string body;
    for (const HeadStart::Task& task : headStart.tasks) {
        LATHE_CHECK(task.features.size() == task.costs.size() * static_cast<std::size_t>(headStart.columns))
            << task.name;
        if (std::max({task.network.size(), task.target.size(), task.device.size()}) > kMaxName)
            return makeError(
                Errc::InvalidArgument,
                fmt::format("task {} has a longer name of its network, target or device than a head start holds",
                            task.name));
        const std::string line = lineOf(task, headStart.columns);
        if (task.seeds.size() > kMaxSeeds || task.costs.size() > kMaxRows || line.size() > kMaxLine)
            return makeError(Errc::InvalidArgument,
                             fmt::format("task {} has more candidates or trials than a head start holds", task.name));
        body += line;
    }
    if (headStart.without.size() > kMaxNames
        || std::any_of(headStart.without.begin(), headStart.without.end(),
                       [](const std::string& name) { return name.size() > kMaxName; }))
        return makeError(Errc::InvalidArgument,
                         "more was left out, or of longer names, than a head start's header holds");
    if (headStart.tasks.size() > kMaxTasks || body.size() > kMaxFileBody)
        return makeError(Errc::InvalidArgument,
                         fmt::format("{} tasks are more than a head start holds", headStart.tasks.size()));
    const json header = {{"features", headStart.features},
                         {"columns", headStart.columns},
                         {"networks", distinct(headStart.tasks, &HeadStart::Task::network)},
                         {"targets", distinct(headStart.tasks, &HeadStart::Task::target)},
                         {"devices", distinct(headStart.tasks, &HeadStart::Task::device)},
                         {"without", headStart.without},
                         {"tasks", headStart.tasks.size()},
                         {"candidates", headStart.seeds()},
                         {"rows", headStart.rows()},
                         {"body_bytes", body.size()},
                         {"body_hash", contentHash(body).hex()}};
    std::string packed(ZSTD_compressBound(body.size()), '\0');
    const std::size_t size = ZSTD_compress(packed.data(), packed.size(), body.data(), body.size(), kLevel);
    if (ZSTD_isError(size) != 0)
        return makeError(Errc::Internal, fmt::format("Zstandard: {}", ZSTD_getErrorName(size)));
    packed.resize(size);
    std::string bytes = fmt::format("{}{}\n{}\n", kMagic, kHeadStartFormat,
                                    header.dump(-1, ' ', false, json::error_handler_t::replace))
                        + packed;
    if (bytes.size() > kMaxHeadStartBytes)
        return makeError(Errc::InvalidArgument,
                         fmt::format("{} bytes are more than a head start may have", bytes.size()));
    return bytes;
}

Result<HeadStart> readHeadStart(std::string_view bytes)
{
    if (bytes.size() > kMaxHeadStartBytes)
        return bad("it is too large");
    std::string_view rest = bytes, first, second;
    if (!rest.starts_with(kMagic) || !takeLine(rest, first, kMagic.size() + 16))
        return bad("it does not begin as one");
    first.remove_prefix(kMagic.size());
    std::int32_t format = 0;
    if (const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), format);
        error != std::errc() || end != first.data() + first.size())
        return bad("it does not begin as one");
    if (format != kHeadStartFormat)
        return makeError(Errc::Incompatible, fmt::format("the head start is of format {}, this build reads format {}",
                                                         format, kHeadStartFormat));
    if (!takeLine(rest, second, kMaxHeader))
        return damaged("its header does not end");
    const json header = json::parse(second, nullptr, false);
    if (!header.is_object())
        return damaged("its header is no JSON object");

    HeadStart headStart;
    LATHE_TRY_ASSIGN(headStart.features, text(header, "features"));
    const json columns = header.value("columns", json()), size = header.value("body_bytes", json()),
               without = header.value("without", json::array());
    std::uint64_t bodyBytes = 0;
    if (!takeJson(columns, headStart.columns) || headStart.columns < 1 || headStart.columns > 1024
        || !takeJson(size, bodyBytes))
        return damaged("its header lacks sizes");
    if (!without.is_array() || without.size() > kMaxNames
        || !std::all_of(without.begin(), without.end(), [](const json& name) {
               return name.is_string() && name.get_ref<const std::string&>().size() <= kMaxName;
           }))
        return damaged("its header does not say what was left out");
    headStart.without = without.get<std::vector<std::string>>();
    LATHE_TRY_ASSIGN(const std::string hash, text(header, "body_hash"));
    LATHE_TRY_ASSIGN(const std::string body, unpack(rest, bodyBytes, hash));

    std::string_view lines = body, line;
    while (!lines.empty()) {
        if (headStart.tasks.size() == kMaxTasks || !takeLine(lines, line, kMaxLine))
            return bad("it has more tasks, or longer ones, than any has");
        LATHE_TRY_ASSIGN(HeadStart::Task task, taskOf(line, headStart.columns));
        headStart.tasks.push_back(std::move(task));
    }
    return headStart;
}

} // namespace lathe::search
