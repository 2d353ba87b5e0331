#include "core/session/tuning_run.h"

#include "core/backend/codegen.h"
#include "core/record/json_fields.h"
#include "core/search/head_start_file.h"
#include "core/session/head_start.h"
#include "core/session/options_json.h"
#include "core/session/tune_options.h"
#include "core/support/hash.h"
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
    if (file.empty() || file == kNoHeadStart || m_options.policy != "sketch")
        return {};
    search::HeadStart headStart;
    auto read = loadHeadStart(file, headStart);
    if (!read) {
        if (asked)
            return read.error();
        // Nobody asked for it: the run begins from nothing, and says why.
        m_headStart.note = say(Msg::HeadStartUnused, read.error());
        return {};
    }
    LATHE_TRY_ASSIGN(const search::HeadStartUse use, give(headStart, stop));
    m_options.headStart = read->name;
    m_headStart = {std::move(read->bytes), std::move(read->hash), std::nullopt};
    m_headStart.note = use.tasks == 0 ? say(Msg::HeadStartOthers, read->name, use.rows)
                                      : say(Msg::HeadStartTasks, read->name, use.tasks, m_tasks.size(), use.rows);
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
        return makeError(Errc::Incompatible, say(Msg::HeadStartChanged, m_options.headStart));
    auto headStart = search::readHeadStart(bytes);
    auto given = headStart ? give(*headStart, stop) : Result<search::HeadStartUse>(headStart.error());
    if (!given)
        return makeError(given.error().code, say(Msg::HeadStartUnfit, given.error()));
    return {};
}

Result<> TuningRun::addHeirs(const Task& task, std::int32_t count, std::vector<Candidate>& candidates) const
{
    LATHE_TRY_ASSIGN(std::vector<Candidate> heirs, task.policy->heirs());
    // Every task is to be known soon: where the budget is small, the first rounds are not to use more than a quarter of it.
    const double share = expectedTrials(m_options) / (4.0 * static_cast<double>(m_tasks.size()));
    const auto most = static_cast<std::size_t>(std::clamp(std::min(share, static_cast<double>(count)) - 1, 0.0, static_cast<double>(heirs.size())));
    heirs.resize(most);
    candidates.insert(candidates.end(), std::make_move_iterator(heirs.begin()), std::make_move_iterator(heirs.end()));
    return {};
}

} // namespace lathe::session
