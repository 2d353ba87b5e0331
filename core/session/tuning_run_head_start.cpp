#include "core/session/tuning_run.h"

#include "core/backend/codegen.h"
#include "core/policy/policy_table.h"
#include "core/support/json_fields.h"
#include "core/search/head_start_file.h"
#include "core/session/head_start.h"
#include "core/session/options_json.h"
#include "core/session/tune_options.h"
#include "core/support/hash.h"

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

} // namespace

std::string TuningRun::storedOptions() const
{
    json options = toJson(m_options);
    options["nonce"] = m_nonce;
    options["build"] = backend::buildId(); // latencies of another generator are told apart
    if (!m_headStart.hash.empty())
        options[kHeadStartHash] = m_headStart.hash;
    return options.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<search::HeadStartUse> TuningRun::give(const search::HeadStart& headStart, std::stop_token stop)
{
    std::vector<search::Policy*> policies;
    for (const Task& task : m_tasks)
        policies.push_back(task.policy.get());
    return search::takeHeadStart(headStart, m_setup.model->target, policies, *m_model, stop);
}

Result<> TuningRun::takeHeadStart(std::stop_token stop)
{
    const bool asked = !m_options.headStart.empty();
    const std::filesystem::path file = asked ? std::filesystem::path(m_options.headStart) : installedHeadStart(m_setup.model->target.text());
    m_options.headStart = kNoHeadStart; // until it is taken
    LATHE_TRY_ASSIGN(const policy::PolicyPtr policy, policy::findPolicy(m_options.policy));
    if (file.empty() || file == kNoHeadStart || !policy->takesHeadStart)
        return {};
    search::HeadStart headStart;
    auto read = loadHeadStart(file, headStart);
    if (!read) {
        if (asked)
            return read.error();
        // Nobody asked for it: the run begins from nothing, and says why.
        m_headStart.note = fmt::format("the installed head start is not used: {}", read.error().message);
        return {};
    }
    LATHE_TRY_ASSIGN(const search::HeadStartUse use, give(headStart, stop));
    m_options.headStart = read->name;
    m_headStart = {std::move(read->bytes), std::move(read->hash), {}};
    m_headStart.note = use.tasks == 0 ? fmt::format("head start {}: it has no task like one of this network's; the cost model begins with {} trials of others", read->name, use.rows)
                                      : fmt::format("head start {}: {} of {} tasks begin with candidates of similar ones, the cost model with {} trials", read->name, use.tasks,
                                                    m_tasks.size(), use.rows);
    return {};
}

Result<> TuningRun::keepHeadStart()
{
    if (m_headStart.hash.empty())
        return {};
    store::Project& project = *m_setup.project;
    LATHE_TRY_ASSIGN(const auto sessions, project.sessions());
    for (const store::SessionRow& row : sessions) {
        if (row.id == m_session || hashOf(row) != m_headStart.hash)
            continue;
        LATHE_TRY_ASSIGN(const auto kept, project.snapshot(row.id, kSnapshot));
        if (kept)
            return {}; // one copy serves all runs
    }
    return project.putSnapshot(m_session, kSnapshot, 0, std::as_bytes(std::span(m_headStart.bytes)));
}

Result<> TuningRun::takeHeadStartAgain(const store::SessionRow& resumed, std::stop_token stop)
{
    m_headStart.hash = hashOf(resumed);
    if (m_headStart.hash.empty())
        return {};
    std::string bytes;
    LATHE_TRY_ASSIGN(const auto sessions, m_setup.project->sessions());
    for (const store::SessionRow& row : sessions) {
        if (!bytes.empty() || hashOf(row) != m_headStart.hash)
            continue;
        LATHE_TRY_ASSIGN(const auto kept, m_setup.project->snapshot(row.id, kSnapshot));
        if (kept)
            bytes.assign(reinterpret_cast<const char*>(kept->data()), kept->size()); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
    }
    if (bytes.empty()) // taken out of the project by somebody
        if (auto read = loadHeadStart(m_options.headStart))
            bytes = std::move(read->bytes);
    if (contentHash(bytes).hex() != m_headStart.hash)
        return makeError(Errc::Incompatible, fmt::format("the run began with the head start {}, which has changed or is gone: start a new one without --resume", m_options.headStart));
    auto headStart = search::readHeadStart(bytes);
    auto given = headStart ? give(*headStart, stop) : Result<search::HeadStartUse>(headStart.error());
    if (!given)
        return makeError(given.error().code, fmt::format("the run began with a head start that this build cannot use ({}): start a new one without --resume", given.error().message));
    return {};
}

} // namespace lathe::session
