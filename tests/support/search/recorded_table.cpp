#include "tests/support/search/recorded_table.h"

#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/support/files.h"
#include "tests/support/search/cases.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <sstream>

namespace lathe::test {

using nlohmann::json;

namespace {

/// A sketch of the file: for each parameter of today's, the file's column (-1: new since) and gene of today by gene of
/// then.
struct Column
{
    std::int32_t source = -1;
    std::vector<std::int32_t> gene; ///< -1: a value that is no longer offered
};
struct Translation
{
    std::string name, alternative;
    std::size_t genes = 0; ///< in the file
    std::vector<Column> columns;
};

Translation translate(const json& then, const search::LatheSketch& now)
{
    Translation t{now.name(), now.alternative(), then.at("parameters").size(), {}};
    for (const search::Parameter& parameter : now.parameters()) {
        Column column;
        for (std::size_t p = 0; p < t.genes; ++p) {
            const json& old = then["parameters"][p];
            if (old.at("name") != parameter.name)
                continue;
            column.source = static_cast<std::int32_t>(p);
            for (const std::int64_t value : old.at("values").get<std::vector<std::int64_t>>()) {
                const auto found = std::find(parameter.values.begin(), parameter.values.end(), value);
                column.gene.push_back(
                    found == parameter.values.end() ? -1 : static_cast<std::int32_t>(found - parameter.values.begin()));
            }
        }
        t.columns.push_back(std::move(column));
    }
    return t;
}

/// What the file said of a parameter that is new since: its first value, which leaves a schedule as it was.
std::optional<std::vector<std::int32_t>> genomeOf(const Translation& t, const std::vector<std::int32_t>& then)
{
    std::vector<std::int32_t> genome;
    for (const Column& column : t.columns) {
        const std::int32_t gene =
            column.source < 0 ? 0
                              : column.gene[static_cast<std::size_t>(then[static_cast<std::size_t>(column.source)])];
        if (gene < 0)
            return std::nullopt;
        genome.push_back(gene);
    }
    return genome;
}

Error badLine(std::size_t line, const char* what)
{
    return makeError(Errc::BadFile, "line " + std::to_string(line) + ": " + what);
}

} // namespace

Result<std::unique_ptr<RecordedTable>> RecordedTable::load(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, 4 << 20));
    std::istringstream in(text);
    std::string line;
    std::getline(in, line);
    const json header = json::parse(line, nullptr, false);
    if (!header.is_object() || !header.contains("case") || !header.contains("sketches"))
        return badLine(1, "no header of recorded trials");
    auto table = std::make_unique<RecordedTable>();
    LATHE_TRY_ASSIGN(table->m_task,
                     searchCase(header["case"].get<std::string>(), header.at("target").get<std::string>()));
    table->m_task.hardware = Hardware();
    for (const auto& [name, value] : header.at("hardware").items())
        table->m_task.hardware.limits[name] = {value.get<std::int64_t>(), "recorded"};
    LATHE_TRY_ASSIGN(const auto sketches, search::latheCpuSketches(table->m_task));
    std::vector<std::optional<Translation>> translations;
    for (const json& then : header["sketches"]) {
        const auto now = std::find_if(sketches.begin(), sketches.end(),
                                      [&](const auto& s) { return then.at("name") == s->name(); });
        translations.push_back(now == sketches.end() ? std::nullopt : std::optional(translate(then, **now)));
    }
    auto pool = std::make_shared<std::vector<Candidate>>();
    for (std::size_t number = 2; std::getline(in, line); ++number) {
        std::istringstream row(line);
        std::size_t sketch = 0;
        if (!(row >> sketch) || sketch >= translations.size())
            return badLine(number, "an unknown sketch");
        const json& parameters = header["sketches"][sketch].at("parameters");
        std::vector<std::int32_t> then(parameters.size());
        for (std::size_t g = 0; g < then.size(); ++g)
            if (!(row >> then[g]) || then[g] < 0
                || static_cast<std::size_t>(then[g]) >= parameters[g].at("values").size())
                return badLine(number, "a gene that is missing or out of range");
        double least = std::numeric_limits<double>::infinity();
        for (double cost = 0; row >> cost;)
            least = std::min(least, cost);
        ++table->m_recorded;
        const std::optional<Translation>& t = translations[sketch];
        const auto genome = t ? genomeOf(*t, then) : std::nullopt;
        if (!genome)
            continue;
        Candidate candidate;
        candidate.task = table->m_task.key;
        candidate.alternative = t->alternative;
        candidate.sketch = t->name;
        candidate.genome = *genome;
        table->m_costs[{candidate.sketch, candidate.genome}] = least;
        pool->push_back(std::move(candidate));
    }
    if (pool->size() * 10 < table->m_recorded * 9)
        return makeError(Errc::Incompatible, "the sketches have changed: only " + std::to_string(pool->size()) + " of "
                                                 + std::to_string(table->m_recorded)
                                                 + " recorded trials can be expressed; record the table again");
    table->m_pool = std::move(pool);
    return table;
}

double RecordedTable::nanoseconds(const Candidate& candidate)
{
    const auto found = m_costs.find({candidate.sketch, candidate.genome});
    return found == m_costs.end() ? std::numeric_limits<double>::infinity() : found->second;
}

Result<> writeTable(const std::filesystem::path& file, const search::SearchTask& task, const std::string& device,
                    const std::vector<search::Measured>& trials)
{
    LATHE_TRY_ASSIGN(const auto sketches, search::latheCpuSketches(task));
    json header = {{"case", task.name}, {"target", task.target.text()}, {"device", device}};
    for (const auto& [name, limit] : task.hardware.limits)
        header["hardware"][name] = limit.value;
    std::map<std::string, std::size_t> numbers;
    for (const auto& sketch : sketches) {
        numbers[sketch->name()] = numbers.size();
        json parameters = json::array();
        for (const search::Parameter& parameter : sketch->parameters())
            parameters.push_back({{"name", parameter.name}, {"values", parameter.values}});
        header["sketches"].push_back({{"name", sketch->name()}, {"parameters", parameters}});
    }
    std::ostringstream out;
    out << header.dump() << '\n';
    for (const search::Measured& trial : trials) {
        out << numbers.at(trial.candidate.sketch);
        for (const std::int32_t gene : trial.candidate.genome)
            out << ' ' << gene;
        if (!trial.result.ok())
            out << " -";
        else
            for (const double cost : trial.result.costsNs)
                out << ' ' << static_cast<std::int64_t>(cost + 0.5);
        out << '\n';
    }
    return writeFileAtomically(file, out.str());
}

} // namespace lathe::test
