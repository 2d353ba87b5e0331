#include "core/session/report/report.h"

#include "core/session/project/stored_time.h"
#include "core/session/report/checks.h"
#include "core/session/report/comparison.h"
#include "core/store/record_reader.h"
#include "core/support/files.h"
#include "core/support/json_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

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

/// "1.42x", "not proven".
std::string gainText(const Gain& gain)
{
    const Verdict verdict = gain.verdict();
    return verdict == Verdict::Unknown     ? std::string("–")
           : verdict == Verdict::NotProven ? std::string(toString(verdict))
                                           : fmt::format("{:.2f}×", gain.ratio);
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
    return whole >= 3600 ? fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60)
                         : fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

struct Run
{
    store::SessionRow row;
    std::vector<store::RoundRow> rounds;
    std::vector<std::pair<double, double>> measured;
    double untunedMs = kUnknown;
    TimeSpent time = {};
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
        return "<p>This run ended before all tasks had a valid program.</p>\n";
    high *= 1.08;
    const auto x = [&](double at) { return kLeft + at / end * (kWidth - kLeft - 10); };
    const auto y = [&](double value) { return kTop + (1 - value / high) * (kHeight - kTop - kBottom); };
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"latency in milliseconds over "
                                  "time\">\n<text x=\"4\" y=\"{}\">ms</text>\n",
                                  kWidth, kHeight, kTop + 4);
    for (int i = 0; i <= 4; ++i) {
        const double value = high * i / 4;
        svg += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text x=\"{3}\" "
                           "y=\"{4:.1f}\" text-anchor=\"end\">{5:.3g}</text>\n",
                           kLeft, kWidth - 10, y(value), kLeft - 6, y(value) + 4, value);
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x(end * i / 4), kHeight - 10,
                           i == 0   ? "start"
                           : i == 4 ? "end"
                                    : "middle",
                           span(end * i / 4));
    }
    if (std::isfinite(run.untunedMs))
        svg += fmt::format("<line class=\"untuned\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", kLeft,
                           kWidth - 10, y(run.untunedMs));
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
        svg += fmt::format("<circle class=\"measured\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{:.4f} ms after "
                           "{}</title></circle>\n",
                           x(at), y(value), value, span(at));
    return svg
           + "</svg>\n<p class=\"legend\"><span class=\"estimate\">estimated (whole network)</span> <span "
             "class=\"measured\">measured (whole network)</span> <span class=\"untuned\">untuned</span></p>\n";
}

std::string timeRows(std::span<const TimeRow> rows, bool workers)
{
    std::string out;
    for (const TimeRow& row : rows)
        out += fmt::format("<tr><td>{}<td class=\"n\">{:.1f}<td class=\"n\">{:.1f} %{}<td class=\"soft\">{}</tr>\n",
                           escaped(row.name), row.seconds, 100 * row.share,
                           workers ? fmt::format("<td class=\"n\">{:.1f}", row.processor) : std::string(), row.meaning);
    return out;
}

std::string timeTable(const std::vector<Run>& runs)
{
    TimeSpent time;
    for (const Run& run : runs)
        time += run.time;
    const auto activities = activityRows(time), workers = workerRows(time);
    if (activities.empty())
        return {};
    std::string out = "<h2>Time by activity</h2>\n<div class=\"wide\"><table><tr><th>activity<th "
                      "class=\"n\">seconds<th class=\"n\">share<th>what happens</tr>\n"
                      + timeRows(activities, false) + "</table></div>\n";
    if (!workers.empty())
        out += "<p>Builders and runners work beside that, all processes together; shares are of all builders, and of "
               "all runners.</p>\n"
               "<div class=\"wide\"><table><tr><th>part of the work<th class=\"n\">seconds<th class=\"n\">share<th "
               "class=\"n\">processor seconds<th>what happens</tr>\n"
               + timeRows(workers, true) + "</table></div>\n";
    return out;
}

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --text: #1c1c1c; --soft: #5c5f66; --back: #fff; --line: #8884; --blue: #0072b2; --orange: #d55e00; --gray: #767676; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6ea; --soft: #a8adb5; --back: #1f2022; --blue: #56b4e9; --orange: #f08a3c; --gray: #9a9a9a; --bad: #ff8a80 } }
body { font: 15px/1.45 sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em; color: var(--text); background: var(--back) }
h1 { margin-bottom: 0; overflow-wrap: anywhere } h2 { margin-top: 2em; font-size: 1.15em } .soft { color: var(--soft) }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: 3px 8px; border-bottom: 1px solid var(--line); vertical-align: top } .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td { overflow-wrap: anywhere } .keys td:first-child { width: 18em; color: var(--soft) }
.figures { display: flex; flex-wrap: wrap; gap: .5em 2em; margin: 1em 0 } .figures b { display: block; font-size: 1.6em; white-space: nowrap }
.track { display: inline-block; width: 60px; text-align: left } .bar { display: inline-block; height: 8px; background: var(--blue); print-color-adjust: exact; -webkit-print-color-adjust: exact }
svg { width: 100%; height: auto } svg text { font: 11px sans-serif; fill: var(--text) } .grid { stroke: var(--line) }
path.estimate { fill: none; stroke: var(--blue); stroke-width: 2 } circle.measured { fill: var(--orange) } line.untuned { stroke: var(--gray); stroke-width: 1.5; stroke-dasharray: 6 4 }
.legend span { margin-right: 1.5em } span.estimate::before { content: "━ " } span.measured::before { content: "● " } span.untuned::before { content: "┄ " } span.estimate { color: var(--blue) } span.measured { color: var(--orange) } span.untuned { color: var(--gray) }
pre { overflow: auto; background: #8881; padding: .6em; white-space: pre-wrap } .bad { color: var(--bad) }
@media print { :root { color-scheme: light; --text: #000; --soft: #444; --back: #fff; --blue: #0072b2; --orange: #d55e00; --gray: #767676; --bad: #b3261e } body { max-width: none; margin: 0; font-size: 11px } h2 { break-after: avoid } tr, svg, .figures { break-inside: avoid } details > pre { display: block } }
)css";

std::string row(std::string_view name, std::string_view value)
{
    return fmt::format("<tr><td>{}<td>{}</tr>\n", escaped(name), escaped(value));
}

std::string checks(const Standing& s)
{
    std::string out = "<h2>Checks</h2>\n<ul style=\"list-style: none; padding: 0\">\n";
    for (const Check& check : checksOf(s))
        out += fmt::format("<li{}>{} {}</li>\n", check.good ? "" : " class=\"bad\"", check.good ? "✓" : "✗",
                           escaped(textOf(check.text)));
    out += "</ul>\n";
    if (s.verdict.findings.empty())
        return out;
    out += "<h2>What you can do</h2>\n<div class=\"wide\"><table><tr><th>what<th>evidence<th>cure</tr>\n";
    for (const Finding& finding : s.verdict.findings)
        out += fmt::format("<tr><td>{}<td>{}<td>{}</tr>\n", escaped(textOf(finding.title)),
                           escaped(textOf(finding.evidence)), escaped(textOf(finding.cure)));
    return out + "</table></div>\n";
}

std::string taskTable(const Standing& s)
{
    std::string out = "<h2>Tasks and coverage</h2>\n<div class=\"wide\"><table><tr><th>task<th class=\"n\">weight<th "
                      "class=\"n\">best<th class=\"n\">share<th>algorithm<th>record<th class=\"n\">trials<th "
                      "class=\"n\">failed</tr>\n";
    double total = 0;
    for (const Standing::Task& task : s.tasks)
        if (std::isfinite(task.bestMs))
            total += task.bestMs * task.weight;
    for (const Standing::Task& task : s.tasks) {
        const double share = task.bestMs * task.weight / total;
        const std::string why = task.trials == 0             ? "no trials: default schedule"
                                : task.errors == task.trials ? "all trials failed: default schedule"
                                                             : "no record under these conditions: default schedule";
        out += fmt::format(
            "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td>{}<td>{}<td class=\"n\">{}<td "
            "class=\"n\">{}</tr>\n",
            escaped(task.name), task.weight, ms(task.bestMs),
            std::isfinite(share) ? fmt::format(
                "{:.1f} % <span class=\"track\"><span class=\"bar\" style=\"width:{:.0f}px\"></span></span>",
                100 * share, 60 * share)
                                 : std::string("–"),
            escaped(task.alternative),
            task.trial.empty() ? "<span class=\"bad\">" + why + "</span>"
                               : "<code>" + escaped(task.trial.substr(0, 8)) + "</code>",
            task.trials, task.errors);
    }
    return out + "</table></div>\n";
}

Result<std::string> failureTable(const store::RecordReader& reader)
{
    LATHE_TRY_ASSIGN(const auto failures, reader.failures());
    if (failures.empty())
        return std::string("<h2>Failures</h2>\n<p>No trial has failed.</p>\n");
    std::string out = "<h2>Failures</h2>\n<div class=\"wide\"><table><tr><th "
                      "class=\"n\">count<th>code<th>stage<th>cause, and the latest in full</tr>\n";
    for (const store::FailureGroup& group : failures) {
        LATHE_TRY_ASSIGN(const Record example, reader.record(group.example));
        out += fmt::format(
            "<tr><td class=\"n\">{}<td>{}<td>{}<td><details><summary>{}</summary><pre>{}</pre></details></tr>\n",
            group.count, escaped(group.code), escaped(group.stage), escaped(group.cause),
            escaped(std::string_view(example.result.text).substr(0, 4000)));
    }
    return out + "</table></div>\n";
}

std::string conditions(const Standing& s)
{
    std::string out = "<h2>Device and conditions</h2>\n<table class=\"keys\">\n" + row("network", s.model)
                      + row("contents of the model", s.modelHash) + row("target", s.target)
                      + row("device", s.deviceName);
    if (!s.device.empty())
        out += row("caches before a timed run",
                   s.coldBytes > 0 ? fmt::format("cold: {} bytes of other memory are read before each run", s.coldBytes)
                   : s.coldBytes < 0
                       ? fmt::format("as in the network: weights come from copies of {} bytes in turn", -s.coldBytes)
                       : std::string("warm: runs back to back"));
    const json device = json::parse(s.device, nullptr, false);
    if (device.is_object() && device.contains("hardware") && device["hardware"].is_object())
        for (const auto& [name, limit] : device["hardware"].items())
            if (limit.is_object() && limit.contains("value"))
                out += row(name, fmt::format("{} ({})", limit["value"].dump(), textIn(limit, "origin")));
    for (const auto& [name, value] : s.conditions)
        if (!name.starts_with("hardware: "))
            out += row(name, value);
    return out + "</table>\n";
}

std::string settings(const Run& run)
{
    const json options = json::parse(run.row.options, nullptr, false);
    if (!options.is_object())
        return {};
    std::string out = fmt::format("<h2>Settings of run {}</h2>\n<table class=\"keys\">\n", run.row.id);
    for (const auto& [key, value] : options.items())
        if (key != "nonce" && !value.is_null())
            out += row(key, value.is_string() ? value.get<std::string>()
                                              : value.dump(-1, ' ', false, json::error_handler_t::replace));
    return out + "</table>\n";
}

Result<std::vector<Run>> runsOf(const store::Project& project, const Standing& s)
{
    std::vector<Run> runs;
    LATHE_TRY_ASSIGN(const auto sessions, project.sessions());
    for (const store::SessionRow& session : sessions) {
        if (session.target != s.target || session.model != s.modelRow)
            continue;
        Run run{session, {}, {}, kUnknown};
        LATHE_TRY_ASSIGN(run.rounds, project.rounds(session.id));
        LATHE_TRY_ASSIGN(run.time, storedTime(project, session.id));
        LATHE_TRY(project.forEachEvent(session.id, [&run](std::string_view kind, double at, std::string_view text) {
            const json event = json::parse(text, nullptr, false);
            const double ms = numberIn(event, "ms");
            if (std::isnan(ms))
                return;
            if (kind == "untuned")
                run.untunedMs = ms;
            else if (kind == "measured")
                run.measured.emplace_back(at, ms);
        }));
        runs.push_back(std::move(run));
    }
    return runs;
}

} // namespace

Result<> writeReport(const std::filesystem::path& file, const std::filesystem::path& html)
{
    LATHE_TRY_ASSIGN(const Standing s, standing(file));
    LATHE_TRY_ASSIGN(const store::RecordReader reader, store::RecordReader::open(file));
    LATHE_TRY_ASSIGN(const auto runs, runsOf(reader.project(), s));
    LATHE_TRY_ASSIGN(const std::string failures, failureTable(reader));
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
                      "content=\"width=device-width\"><title>"
                      + escaped(s.model) + " – Lathe report</title>\n<style>" + kStyle + "</style>\n<h1>"
                      + escaped(s.model) + "</h1>\n<p>"
                      + escaped(s.target.empty() ? std::string("not tuned yet") : s.target)
                      + (s.deviceName.empty() ? std::string() : " on " + escaped(s.deviceName))
                      + "<br><span class=\"soft\">" + escaped(file.filename().string()) + ", "
                      + timeText(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count())
                      + "</span></p>\n";
    out += fmt::format(
        "<div class=\"figures\"><div><b>{}</b>estimated</div><div><b>{}</b>measured "
        "(whole network)</div><div><b>{}</b>untuned</div><div><b>{}</b>gain</div><div><b>{}</b>trials, {} "
        "failed</div><div><b>{}</b>of tuning</div></div>\n",
        ms(s.estimatedMs()), ms(s.network.ms), ms(s.network.untunedMs), gainText(s.verdict.gain), s.trials, s.errors,
        span(s.activeSeconds));
    out += checks(s);
    for (const Run& run : runs)
        out += fmt::format("<h2>Run {}: {}, {}, {}</h2>\n", run.row.id, timeText(run.row.startedMs),
                           span(run.row.activeSeconds), escaped(run.row.state))
               + curve(run);
    if (runs.empty())
        out += "<p>This network has not been tuned yet.</p>\n";
    out += taskTable(s) + timeTable(runs) + failures + conditions(s);
    if (!runs.empty())
        out += settings(runs.back());
    if (auto written = writeFileAtomically(html, out + "</html>\n"); !written)
        return Error{.code = Errc::StoreFailed, .message = written.error().message, .about = written.error().about};
    return {};
}

} // namespace lathe::session
