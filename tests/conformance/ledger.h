#pragma once

#include "core/support/hash.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace lathe::test {

/// Where a schedule was drawn from. The same seed, turn and shapes give the same schedule.
struct Drawn
{
    std::string ruleSet; ///< "reference", or the kind of the sketch or template
    std::string task;
    std::uint64_t seed = 0, turn = 0;
};

/// The seed of drawn schedules; LATHE_TEST_SEED asks for others.
inline std::uint64_t drawingSeed(std::uint64_t usual)
{
    bool isGiven = false;
    const qulonglong seed = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&isGiven);
    return isGiven ? seed : usual;
}

/// One line of JSON for each drawn schedule, behind those that are there, in the file that LATHE_CONFORMANCE_LEDGER
/// names; without it nothing is kept. Each is written at once: a test that dies leaves what it had.
/// @param steps  empty: it was refused before there were any
/// @param outcome  "right", "refused", "wrong"
inline void enterInLedger(const std::string& target, const Drawn& drawn, std::string_view steps,
                          const std::string& outcome, const std::string& reason = {})
{
    const QString file = qEnvironmentVariable("LATHE_CONFORMANCE_LEDGER");
    if (file.isEmpty())
        return;
    nlohmann::ordered_json line;
    line["target"] = target;
    line["rule_set"] = drawn.ruleSet;
    line["seed"] = drawn.seed;
    line["turn"] = drawn.turn;
    line["task"] = drawn.task;
    if (!steps.empty())
        line["steps"] = contentHash(steps).hex();
    line["outcome"] = outcome;
    if (!reason.empty())
        line["reason"] = reason;
    std::ofstream out(file.toStdString(), std::ios::app);
    out << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    if (!out.flush())
        qFatal("the ledger %s cannot be written", qUtf8Printable(file));
}

} // namespace lathe::test
