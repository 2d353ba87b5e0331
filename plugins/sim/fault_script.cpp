#include "plugins/sim/fault_script.h"

#include "core/backend/kernel_name.h"
#include "core/support/message.h"
#include "core/support/random.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

namespace lathe::sim {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 15> kNames = {"none",
                                                     "build-failed",
                                                     "build-crash",
                                                     "build-hang",
                                                     "crash",
                                                     "hang",
                                                     "wrong",
                                                     "out-of-bounds",
                                                     "slow",
                                                     "lucky",
                                                     "lost",
                                                     "device-build-slow",
                                                     "device-build-failed",
                                                     "device-build-crash",
                                                     "device-build-hang"};
constexpr double kMostSeconds = 1e6; ///< of a slow build

Error bad(std::string what)
{
    return makeError(Errc::BadFile, "fault script: " + std::move(what));
}

} // namespace

std::string_view toString(Fault fault)
{
    return kNames[static_cast<std::size_t>(fault)];
}

Result<> actBuildFault(Fault fault)
{
    switch (fault) {
    case Fault::BuildFailed: return makeError(Errc::BuildFailed, say(Msg::PlantedBuildFailure));
    case Fault::BuildCrash: std::raise(SIGSEGV); break;
    case Fault::BuildHang:
        while (true)
            std::this_thread::sleep_for(std::chrono::hours(1));
    default: break;
    }
    return {};
}

Result<FaultScript> FaultScript::parse(std::string_view text)
{
    const json root = json::parse(text, nullptr, false);
    if (!root.is_object() || !root.contains("rules") || !root["rules"].is_array())
        return bad("it is no JSON object with a list \"rules\"");
    if (root.contains("seed") && !root["seed"].is_number_integer())
        return bad("its seed is not an integer");
    FaultScript script;
    try {
        script.m_seed = root.value("seed", std::uint64_t(0));
        for (const json& entry : root["rules"]) {
            Rule rule;
            const auto name = entry.at("fault").get<std::string>();
            const auto known = std::find(kNames.begin(), kNames.end(), name);
            if (known == kNames.end())
                return bad(fmt::format("unknown fault \"{}\": use {}", name, fmt::join(kNames, ", ")));
            rule.decision.fault = static_cast<Fault>(known - kNames.begin());
            rule.decision.factor = entry.value("factor", 4.0);
            rule.decision.seconds = entry.value("seconds", 1.0);
            if (!(rule.decision.seconds >= 0 && rule.decision.seconds <= kMostSeconds))
                return bad(fmt::format("the rule for \"{}\" has {} seconds: 0 to {} are allowed", name,
                                       rule.decision.seconds, kMostSeconds));
            for (const char* whole : {"ordinal", "every", "offset"})
                if (entry.contains(whole) && !entry[whole].is_number_integer())
                    return bad(fmt::format("the {} of the rule for \"{}\" is not an integer", whole, name));
            if (entry.contains("ordinal"))
                rule.ordinal = entry["ordinal"].get<std::int64_t>();
            rule.candidate = entry.value("candidate", std::string());
            rule.every = entry.value("every", std::int64_t(0));
            rule.offset = entry.value("offset", std::int64_t(0));
            rule.rate = entry.value("rate", -1.0);
            if (!rule.ordinal && rule.candidate.empty() && rule.every <= 0 && rule.rate < 0)
                return bad(fmt::format("the rule for \"{}\" says neither ordinal, candidate, every nor rate", name));
            script.m_rules.push_back(std::move(rule));
        }
    } catch (const json::exception& problem) {
        return bad(problem.what());
    }
    return script;
}

FaultScript::Decision FaultScript::decide(std::string_view kernelName) const
{
    const auto identity = backend::parseKernelName(kernelName);
    if (!identity)
        return {};
    const std::string hash = fmt::format("{:016x}", identity->candidateHash);
    for (std::size_t i = 0; i < m_rules.size(); ++i) {
        const Rule& rule = m_rules[i];
        const bool ordinal = rule.ordinal && *rule.ordinal == identity->ordinal;
        const bool candidate = !rule.candidate.empty() && hash.starts_with(rule.candidate);
        const bool every = rule.every > 0 && identity->ordinal >= 0 && identity->ordinal % rule.every == rule.offset;
        const bool drawn = rule.rate >= 0 && Random(m_seed, i, identity->candidateHash).uniform() < rule.rate;
        if (ordinal || candidate || every || drawn)
            return rule.decision;
    }
    return {};
}

} // namespace lathe::sim
