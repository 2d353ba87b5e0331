#pragma once

#include "core/measure/measurer.h"
#include "tests/support/double_requests.h"
#include "tests/support/killed_run.h"

#include <QString>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lathe::test {

/// What a Measurer gave for requests: a line each, with all of it that is the same wherever and whenever the simulated
/// device measures. "0: done Ok verified 1234.5"
struct Measured
{
    std::vector<std::string> lines;
    std::string error; ///< of the call
};

inline std::string lineOf(std::size_t index, const TrialResult& result)
{
    std::string line = std::to_string(index) + ": " + std::string(toString(result.stage)) + " "
                       + std::string(toString(result.code)) + (result.verified ? " verified" : "");
    for (const double ns : result.costsNs)
        line += " " + std::to_string(ns);
    return result.ok() ? line : line + " " + result.text;
}

/// `each` is called after each result.
inline Measured measureAll(measure::Measurer& measurer, int count, const std::function<void(std::size_t)>& each = {})
{
    Measured measured;
    const auto requests = doubleRequests(count);
    const auto ended = measurer.measure(requests, [&](std::size_t index, const TrialResult& result) {
        measured.lines.push_back(lineOf(index, result));
        if (each)
            each(index);
    });
    if (!ended)
        measured.error = ended.error().message;
    return measured;
}

/// The same on this machine alone.
inline Measured measureHere(int count)
{
    measure::MeasurerOptions options;
    options.target = "sim";
    options.builders = 1;
    auto measurer = measure::Measurer::create(options);
    return measurer ? measureAll(**measurer, count) : Measured{{}, measurer.error().message};
}

/// What a run gives that nobody disturbs, with which those on bad lines are compared; and their seeds.
class Calm
{
public:
    /// What went wrong; empty: nothing.
    QString measure(int count)
    {
        m_seed = seededRandom().generate() / 2;
        Measured calm = measureHere(count);
        if (!calm.error.empty())
            return QString::fromStdString(calm.error);
        m_lines = std::move(calm.lines);
        if (m_lines.size() != static_cast<std::size_t>(count))
            return QStringLiteral("%1 results instead of %2").arg(m_lines.size()).arg(count);
        for (const std::string& line : m_lines)
            if (line.find("done Ok verified ") == std::string::npos)
                return QString::fromStdString(line);
        return {};
    }
    const std::vector<std::string>& lines() const { return m_lines; }
    std::uint32_t nextSeed() { return ++m_seed; }

private:
    std::uint32_t m_seed = 0;
    std::vector<std::string> m_lines;
};

/// Runners of two tests at a time must not have the same name.
inline std::string named(const char* name)
{
    return std::string(name) + "-" + std::to_string(::getpid());
}

/// To measure on the simulated devices of the key `board`.
inline measure::MeasurerOptions optionsFor(const std::string& broker, const std::string& user = "ada")
{
    measure::MeasurerOptions options;
    options.target = "sim";
    options.builders = 1;
    options.remote = measure::RemoteClaim{{broker}, "board", user};
    return options;
}

/// The first line that is not as it should be; empty: all are.
inline QString firstDifference(const std::vector<std::string>& lines, const std::vector<std::string>& calm)
{
    for (std::size_t i = 0; i < std::max(lines.size(), calm.size()); ++i)
        if (i >= lines.size() || i >= calm.size() || lines[i] != calm[i])
            return QString::fromStdString(i < lines.size() ? lines[i] : "less than " + std::to_string(i + 1));
    return {};
}

inline std::string joined(const std::vector<std::string>& lines)
{
    std::string all;
    for (const std::string& line : lines)
        all += line + "\n";
    return all;
}

} // namespace lathe::test
