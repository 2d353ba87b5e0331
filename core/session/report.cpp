#include "core/session/report.h"

#include "core/session/comparison.h"
#include "core/store/record_reader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr double kWidth = 860, kHeight = 300, kLeft = 60, kBottom = 30, kTop = 10;

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c;
        }
    }
    return out;
}

std::string ms(double value)
{
    return std::isfinite(value) ? fmt::format("{:.4f} ms", value) : std::string("–");
}

std::string timeText(std::int64_t unixMs)
{
    const std::time_t seconds = unixMs / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    return text;
}

std::string span(double seconds)
{
    const auto whole = static_cast<long>(seconds);
    return whole >= 3600 ? fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60) : fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

struct Run
{
    store::SessionRow row;
    std::vector<store::RoundRow> rounds;
    std::vector<std::pair<double, double>> measured;
    double untunedMs = kUnknown;
};

/// Estimate as steps, measurements as dots, the untuned network as a dashed line.
std::string curve(const Run& run)
{
    double high = std::isfinite(run.untunedMs) ? run.untunedMs : 0, end = run.row.activeSeconds;
    for (const store::RoundRow& round : run.rounds) {
        if (std::isfinite(round.estimateMs))
            high = std::max(high, round.estimateMs);
        end = std::max(end, round.atSeconds);
    }
    for (const auto& [at, value] : run.measured)
        high = std::max(high, value);
    if (high <= 0 || end <= 0)
        return "<p>This run ended before every task had a valid program.</p>\n";
    high *= 1.08;
    const auto x = [&](double at) { return kLeft + at / end * (kWidth - kLeft - 10); };
    const auto y = [&](double value) { return kTop + (1 - value / high) * (kHeight - kTop - kBottom); };
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"latency over time\">\n", kWidth, kHeight);
    for (int i = 0; i <= 4; ++i) {
        const double value = high * i / 4;
        svg += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.3g}</text>\n", kLeft, kWidth - 10, y(value), kLeft - 6,
                           y(value) + 4, value);
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(end * i / 4), kHeight - 10, span(end * i / 4));
    }
    if (std::isfinite(run.untunedMs))
        svg += fmt::format("<line class=\"untuned\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", kLeft, kWidth - 10, y(run.untunedMs));
    std::string path;
    double last = kUnknown;
    for (const store::RoundRow& round : run.rounds) {
        if (!std::isfinite(round.estimateMs))
            continue;
        if (path.empty())
            path = fmt::format("M{:.1f} {:.1f}", x(round.atSeconds), y(round.estimateMs));
        else if (round.estimateMs != last)
            path += fmt::format("H{:.1f}V{:.1f}", x(round.atSeconds), y(round.estimateMs));
        last = round.estimateMs;
    }
    if (!path.empty())
        svg += fmt::format("<path class=\"estimate\" d=\"{}H{:.1f}\"/>\n", path, x(end));
    for (const auto& [at, value] : run.measured)
        svg += fmt::format("<circle class=\"measured\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{:.4f} ms after {}</title></circle>\n", x(at), y(value), value, span(at));
    return svg + "</svg>\n<p class=\"legend\"><span class=\"estimate\">estimated (sum of tasks)</span> <span class=\"measured\">measured (whole network)</span> <span class=\"untuned\">untuned</span></p>\n";
}

std::string timeTable(const std::vector<Run>& runs)
{
    std::map<std::string, double> sums;
    double total = 0;
    for (const Run& run : runs)
        for (const store::RoundRow& round : run.rounds) {
            const json durations = json::parse(round.durations, nullptr, false);
            if (!durations.is_object() || !durations.contains("activities") || !durations["activities"].is_object())
                continue;
            for (const auto& [name, seconds] : durations["activities"].items())
                if (seconds.is_number()) {
                    sums[name] += seconds.get<double>();
                    total += seconds.get<double>();
                }
        }
    if (total <= 0)
        return {};
    std::string out = "<h2>Where the time went</h2>\n<table><tr><th>activity<th class=\"n\">seconds<th class=\"n\">share</tr>\n";
    for (const auto& [name, seconds] : sums)
        out += fmt::format("<tr><td>{}<td class=\"n\">{:.1f}<td class=\"n\">{:.1f} %</tr>\n", escaped(name), seconds, 100 * seconds / total);
    return out + "</table>\n";
}

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --text: #1c1c1c; --back: #fff; --line: #8884; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6ea; --back: #1f2022; } }
body { font: 15px/1.45 sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em; color: var(--text); background: var(--back); }
h1 { margin-bottom: 0 } h2 { margin-top: 2em; font-size: 1.15em }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: 3px 8px; border-bottom: 1px solid var(--line) } .n { text-align: right; font-variant-numeric: tabular-nums }
.figures { display: flex; flex-wrap: wrap; gap: 2em; margin: 1em 0 } .figures b { display: block; font-size: 1.6em }
.bar { display: inline-block; height: 8px; background: #0072b2 }
svg { width: 100%; height: auto } svg text { font-size: 11px; fill: var(--text) } .grid { stroke: var(--line) }
path.estimate { fill: none; stroke: #0072b2; stroke-width: 2 } circle.measured { fill: #d55e00 } line.untuned { stroke: #7f7f7f; stroke-dasharray: 6 4 }
.legend span { margin-right: 1.5em } span.estimate { color: #0072b2 } span.measured { color: #d55e00 } span.untuned { color: #7f7f7f }
pre { overflow: auto; background: #8881; padding: .6em } .bad { color: #c33 }
)css";

} // namespace

Result<> writeReport(const std::filesystem::path& file, const std::filesystem::path& html)
{
    LATHE_TRY_ASSIGN(const Standing s, standing(file));
    LATHE_TRY_ASSIGN(const store::RecordReader reader, store::RecordReader::open(file));
    const store::Project& project = reader.project();
    std::vector<Run> runs;
    LATHE_TRY_ASSIGN(const auto sessions, project.sessions());
    for (const store::SessionRow& row : sessions) {
        if (row.target != s.target)
            continue;
        Run run{row, {}, {}, kUnknown};
        LATHE_TRY_ASSIGN(run.rounds, project.rounds(row.id));
        LATHE_TRY(project.forEachEvent(row.id, [&run](std::string_view kind, double at, std::string_view text) {
            const json event = json::parse(text, nullptr, false);
            if (!event.is_object() || !event.contains("ms") || !event["ms"].is_number())
                return;
            if (kind == "untuned")
                run.untunedMs = event["ms"].get<double>();
            else if (kind == "measured")
                run.measured.emplace_back(at, event["ms"].get<double>());
        }));
        runs.push_back(std::move(run));
    }
    LATHE_TRY_ASSIGN(const auto failures, reader.failures());

    std::ofstream out(html, std::ios::binary | std::ios::trunc);
    out << "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>" << escaped(s.model) << " – Lathe report</title>\n<style>" << kStyle
        << "</style>\n<h1>" << escaped(s.model) << "</h1>\n<p>" << escaped(s.target) << (s.deviceName.empty() ? std::string() : " on " + escaped(s.deviceName)) << "</p>\n<div class=\"figures\">"
        << fmt::format("<div><b>{}</b>estimated (sum of tasks)</div><div><b>{}</b>measured (whole network)</div><div><b>{}</b>untuned</div><div><b>{}</b>trials, {} failed</div><div><b>{}</b>of tuning</div>",
                       ms(s.estimatedMs), ms(s.measuredMs), ms(s.untunedMs), s.trials, s.errors, span(s.activeSeconds))
        << "</div>\n";
    for (const Run& run : runs)
        out << fmt::format("<h2>Run {} – {}, {}, {}</h2>\n", run.row.id, timeText(run.row.startedMs), span(run.row.activeSeconds), escaped(run.row.state)) << curve(run);

    out << "<h2>Tasks</h2>\n<table><tr><th>task<th class=\"n\">weight<th class=\"n\">best<th class=\"n\">share<th>algorithm<th>record<th class=\"n\">trials<th class=\"n\">failed</tr>\n";
    double total = 0;
    for (const Standing::Task& task : s.tasks)
        if (std::isfinite(task.bestMs))
            total += task.bestMs * task.weight;
    for (const Standing::Task& task : s.tasks) {
        const double share = task.bestMs * task.weight / total;
        out << fmt::format("<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td>{}<td><code>{}</code><td class=\"n\">{}<td class=\"n\">{}</tr>\n", escaped(task.name), task.weight, ms(task.bestMs),
                           std::isfinite(share) ? fmt::format("{:.1f} % <span class=\"bar\" style=\"width:{:.0f}px\"></span>", 100 * share, 60 * share) : std::string("–"),
                           task.trial.empty() ? std::string("<span class=\"bad\">none: default schedule</span>") : escaped(task.alternative), escaped(task.trial.substr(0, 8)), task.trials, task.errors);
    }
    out << "</table>\n" << timeTable(runs);
    if (!failures.empty()) {
        out << "<h2>Failures</h2>\n<table><tr><th class=\"n\">count<th>code<th>stage<th>cause</tr>\n";
        for (const store::FailureGroup& group : failures)
            out << fmt::format("<tr><td class=\"n\">{}<td>{}<td>{}<td>{}</tr>\n", group.count, escaped(group.code), escaped(group.stage), escaped(group.cause));
        out << "</table>\n";
    }
    out << "<h2>Conditions</h2>\n<table>";
    out << "<tr><td>network<td>" << escaped(s.model) << " <code>" << escaped(s.modelHash) << "</code></tr><tr><td>target<td>" << escaped(s.target) << "</tr><tr><td>caches before a timed run<td>"
        << (s.coldBytes > 0   ? fmt::format("cold: {} bytes of other memory are read", s.coldBytes)
            : s.coldBytes < 0 ? fmt::format("as in the network: weights are taken in turns from copies of {} bytes", -s.coldBytes)
                              : std::string("warm: runs back to back")) << "</tr>";
    const json device = json::parse(s.device, nullptr, false);
    if (device.is_object() && device.contains("hardware") && device["hardware"].is_object())
        for (const auto& [name, limit] : device["hardware"].items())
            if (limit.is_object() && limit.contains("value"))
                out << fmt::format("<tr><td>{}<td>{} ({})</tr>", escaped(name), limit["value"].dump(), escaped(limit.value("origin", std::string())));
    out << "</table>\n";
    if (!runs.empty())
        out << "<h2>Settings of the last run</h2>\n<pre>" << escaped(json::parse(runs.back().row.options, nullptr, false).dump(2, ' ', false, json::error_handler_t::replace)) << "</pre>\n";
    out << "</html>\n";
    out.close();
    if (!out)
        return makeError(Errc::StoreFailed, fmt::format("{} cannot be written", html.string()));
    return {};
}

} // namespace lathe::session
