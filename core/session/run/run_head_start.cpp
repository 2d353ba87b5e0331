#include "core/session/run/run_head_start.h"

#include "core/policy/policy_table.h"
#include "core/search/head_start_file.h"
#include "core/session/head_start.h"
#include "core/session/options/tune_options.h"
#include "core/support/hash.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr std::string_view kSnapshot = "head start";

std::string hashOf(const store::SessionRow& row)
{
    return textIn(json::parse(row.options, nullptr, false), kHeadStartHash);
}

Result<search::HeadStartUse> give(const RunParts& parts, const search::HeadStart& headStart, std::stop_token stop)
{
    std::vector<search::Policy*> policies;
    for (const RunTask& task : parts.tasks)
        policies.push_back(task.policy.get());
    return search::takeHeadStart(headStart, parts.model.target, policies, parts.costModel, stop);
}

} // namespace

Result<> RunHeadStart::take(RunParts& parts, TuneOptions& options, std::stop_token stop)
{
    const bool asked = !options.headStart.empty();
    const std::filesystem::path file = asked ? std::filesystem::path(options.headStart)
                                             : installedHeadStart(parts.model.target.text());
    options.headStart = kNoHeadStart; // until it is taken
    LATHE_TRY_ASSIGN(const policy::PolicyPtr policy, policy::findPolicy(options.policy));
    if (file.empty() || file == kNoHeadStart || !policy->takesHeadStart || !options.tuner.empty())
        return {};
    search::HeadStart headStart;
    auto read = loadHeadStart(file, headStart);
    if (!read) {
        if (asked)
            return read.error();
        // Nobody asked for it: the run begins from nothing, and says why.
        m_note = say(Msg::HeadStartUnused, read.error());
        return {};
    }
    LATHE_TRY_ASSIGN(const search::HeadStartUse use, give(parts, headStart, stop));
    options.headStart = read->name;
    m_bytes = std::move(read->bytes);
    m_hash = std::move(read->hash);
    m_note = use.tasks == 0 ? say(Msg::HeadStartOthers, read->name, use.rows)
                            : say(Msg::HeadStartTasks, read->name, use.tasks, parts.tasks.size(), use.rows);
    return {};
}

Result<> RunHeadStart::keep(RunJournal& journal) const
{
    if (m_hash.empty() || journal.project() == nullptr)
        return {};
    LATHE_TRY_ASSIGN(const auto sessions, journal.project()->sessions());
    for (const store::SessionRow& row : sessions) {
        if (row.id == journal.session() || hashOf(row) != m_hash)
            continue;
        LATHE_TRY_ASSIGN(const auto kept, journal.project()->snapshot(row.id, kSnapshot));
        if (kept)
            return {}; // one copy serves all runs
    }
    return journal.putSnapshot(kSnapshot, 0, std::as_bytes(std::span(m_bytes)));
}

Result<> RunHeadStart::takeAgain(RunParts& parts, const store::SessionRow& resumed, std::stop_token stop)
{
    m_hash = hashOf(resumed);
    if (m_hash.empty())
        return {};
    std::string bytes;
    const store::Project& project = *parts.journal.project();
    LATHE_TRY_ASSIGN(const auto sessions, project.sessions());
    for (const store::SessionRow& row : sessions) {
        if (!bytes.empty() || hashOf(row) != m_hash)
            continue;
        LATHE_TRY_ASSIGN(const auto kept, project.snapshot(row.id, kSnapshot));
        if (kept)
            bytes.assign(reinterpret_cast<const char*>(kept->data()),
                         kept->size()); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
    }
    if (bytes.empty()) // taken out of the project by somebody
        if (auto read = loadHeadStart(parts.options.headStart))
            bytes = std::move(read->bytes);
    if (contentHash(bytes).hex() != m_hash)
        return makeError(Errc::Incompatible, say(Msg::HeadStartChanged, parts.options.headStart));
    auto headStart = search::readHeadStart(bytes);
    auto given = headStart ? give(parts, *headStart, stop) : Result<search::HeadStartUse>(headStart.error());
    if (!given)
        return makeError(given.error().code, say(Msg::HeadStartUnfit, given.error()));
    return {};
}

} // namespace lathe::session
