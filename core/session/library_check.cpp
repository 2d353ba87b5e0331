#include "core/session/library_check.h"

#include "core/record/json_fields.h"
#include "core/support/files.h"
#include "core/support/message.h"
#include "core/support/subprocess.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr double kTimeoutSeconds = 600; // the reference executor of a large network takes minutes
constexpr std::size_t kMaxOutput = 64 << 20; // bytes

Result<json> askChild(std::vector<std::string> arguments, const std::stop_token& stop)
{
    SubprocessOptions options;
    LATHE_TRY_ASSIGN(options.program, findProgram("lathe-cli"));
    options.arguments = std::move(arguments);
    const auto ask = [&] { return runProcess(options, {}, Deadline::inSeconds(kTimeoutSeconds), kMaxOutput, stop); };
    LATHE_TRY_ASSIGN(RunOutput run, ask());
    if (run.exit.killed()) { // once more; another time it may be what eats the memory
        LATHE_TRY_ASSIGN(run, ask());
    }
    if (!run.exit.ok()) {
        const json report = json::parse(run.output, nullptr, false);
        if (report.is_object() && report.contains("passed") && report["passed"] == false)
            return makeError(Errc::WrongAnswer, phrase(textIn(report, "text", textOf(say(Msg::LibraryDiffers)))));
        if (const auto code = errcFromString(textIn(report, "code")); code && *code != Errc::Ok)
            return makeError(*code, textIn(report, "text"));
        std::string words = run.errors;
        while (!words.empty() && (words.back() == '\n' || words.back() == '\r'))
            words.pop_back();
        if (words.starts_with("lathe-cli: "))
            words.erase(0, 11);
        return makeError(run.exit.signalled ? Errc::WorkerCrashed : Errc::Internal, words.empty() ? run.exit.message() : phrase(words));
    }
    json out = json::parse(run.output, nullptr, false);
    if (!out.is_object())
        return makeError(Errc::Internal, say(Msg::CheckWithoutFigures));
    return out;
}

} // namespace

Result<double> verifyInChild(const std::filesystem::path& library, const ModelSpec& model, const std::string& target, std::stop_token stop)
{
    std::vector<std::string> words = {"verify", library.string(), "--model", model.source, "--target", target, "--partition", model.partition, "--json"};
    if (model.batch)
        words.insert(words.end(), {"--batch", std::to_string(*model.batch)});
    if (!model.layout.empty())
        words.insert(words.end(), {"--layout", model.layout});
    if (model.seed != 0)
        words.insert(words.end(), {"--weight-seed", std::to_string(model.seed)});
    for (const auto& [name, shape] : model.shapes)
        words.insert(words.end(), {"--shape", fmt::format("{}={}", name, fmt::join(shape, ","))});
    LATHE_TRY_ASSIGN(const json out, askChild(std::move(words), stop));
    return numberIn(out, "max_rel_error");
}

Result<BenchFigures> benchInChild(const std::filesystem::path& library, unsigned threads, std::stop_token stop, double maxSeconds)
{
    LATHE_TRY_ASSIGN(const json out, askChild({"bench", library.string(), "--threads", std::to_string(threads), "--max-seconds", fmt::format("{}", maxSeconds), "--json"}, stop));
    BenchFigures figures;
    const json latency = partIn(out, "latency_ms");
    figures.latencyMs = {numberIn(latency, "median"), numberIn(latency, "mean"), numberIn(latency, "std"), numberIn(latency, "min"), numberIn(latency, "p95")};
    figures.threads = static_cast<unsigned>(wholeIn(out, "threads"));
    figures.callMs = numberIn(out, "call_ms");
    for (const json& row : out.value("functions", json::array()))
        figures.instructionMs.push_back(numberIn(row, "ms"));
    return figures;
}

} // namespace lathe::session
