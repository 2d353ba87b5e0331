#include "tests/net/findings.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <thread>

namespace lathe::net {

void Findings::add(const std::string& what)
{
    constexpr std::size_t kShown = 8;
    if (++wrong <= kShown)
        text += "\n  " + what;
}

bool Findings::excuses(Schedule schedule, const Error& error)
{
    const bool unrolls = schedule == Schedule::Random && error.code == Errc::BuildFailed
                         && error.message.find("unrolling yields more than") != std::string::npos;
    unrolled += unrolls ? 1 : 0;
    return unrolls;
}

const OpenFinding* openFinding(std::span<const OpenFinding> open, std::string_view op)
{
    const auto found = std::ranges::find(open, op, &OpenFinding::op);
    return found != open.end() ? &*found : nullptr;
}

bool isAsked(std::string_view op)
{
    const std::string only = qEnvironmentVariable("LATHE_TEST_OPERATOR").toStdString();
    return only.empty() || only == op;
}

std::vector<Findings> findingsInRows(const std::vector<std::string>& names,
                                     const std::function<Findings(std::size_t)>& find)
{
    std::vector<Findings> findings(names.size());
    {
        std::atomic<std::size_t> next{0};
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t)
            threads.emplace_back([&] {
                for (std::size_t i = next++; i < names.size(); i = next++)
                    findings[i] = find(i);
            });
    }
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < names.size(); ++i)
        QTest::newRow(names[i].c_str()) << static_cast<int>(i);
    return findings;
}

std::vector<Findings> findingsOfOperators(const std::function<Findings(const graph::OpDef&)>& find)
{
    std::vector<const graph::OpDef*> entries;
    std::vector<std::string> names;
    for (const graph::OpDef* entry : graph::allOperators())
        if (isAsked(entry->name)) {
            entries.push_back(entry);
            names.emplace_back(entry->name);
        }
    return findingsInRows(names, [&](std::size_t i) { return find(*entries[i]); });
}

} // namespace lathe::net
