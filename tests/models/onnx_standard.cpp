// onnx_standard FOLDER [-v] [FILTER]: runs the ONNX standard's operator cases (onnx/backend/test/data/node of the onnx
// package). The cases run in a child that is started again behind one that ends it.

#include "core/support/files.h"
#include "standard_case.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

using namespace lathe;
using namespace lathe::conformance;

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerCase = 120;

std::string oneLine(std::string text)
{
    std::ranges::replace(text, '\n', ' ');
    std::ranges::replace(text, '\t', ' ');
    return text;
}

/// Writes a line for each case from `first` on: index, outcome, folded, inputs bound, operator, text.
int work(const std::vector<fs::path>& cases, std::size_t first, std::FILE* out)
{
    const auto scratch = TempDir::create("onnx-standard");
    const auto compiler = deploy::makeBuilderCompiler("cpu", 1, std::chrono::minutes(1));
    if (!scratch || !compiler) {
        std::fprintf(stderr, "%s\n", (scratch ? compiler.error() : scratch.error()).message.c_str());
        return 3;
    }
    CaseRunner runner(**compiler, scratch->path());
    for (std::size_t i = first; i < cases.size(); ++i) {
        alarm(kSecondsPerCase);
        const Verdict v = runner.run(cases[i]);
        const std::string line = fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", i, static_cast<int>(v.outcome),
                                             v.folded ? 1 : 0, v.bound.size(), v.op, oneLine(v.text));
        std::fputs(line.c_str(), out);
        std::fflush(out);
    }
    return 0;
}

struct Row
{
    Outcome outcome = Outcome::Failed;
    bool folded = false;
    bool bound = false;
    std::string op, text;
};

/// Empty if the children cannot work at all.
std::vector<Row> runAll(const std::vector<fs::path>& cases)
{
    std::vector<Row> rows;
    while (rows.size() < cases.size()) {
        int ends[2];
        if (pipe(ends) != 0)
            return {};
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            std::FILE* out = fdopen(ends[1], "w");
            const int code = work(cases, rows.size(), out);
            std::fclose(out);
            _exit(code);
        }
        close(ends[1]);
        std::FILE* in = fdopen(ends[0], "r");
        char* line = nullptr;
        std::size_t capacity = 0;
        while (getline(&line, &capacity, in) > 0) {
            std::vector<std::string> fields;
            std::string text(line);
            text.pop_back();
            for (int i = 0; i < 5; ++i) {
                const std::size_t tab = text.find('\t');
                fields.push_back(text.substr(0, tab));
                text = text.substr(tab + 1);
            }
            rows.push_back(
                {static_cast<Outcome>(std::stoi(fields[1])), fields[2] == "1", fields[3] != "0", fields[4], text});
            if (rows.size() % 100 == 0)
                std::fprintf(stderr, "%zu of %zu\n", rows.size(), cases.size());
        }
        std::free(line);
        std::fclose(in);
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
            return {};
        if (rows.size() < cases.size())
            rows.push_back({Outcome::Failed, false, false, "(ended the program)",
                            WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                                : fmt::format("ended with {}", WEXITSTATUS(status))});
    }
    return rows;
}

} // namespace

int main(int argc, char** argv)
{
    bool verbose = false;
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "-v")
            verbose = true;
        else
            words.emplace_back(argv[i]);
    }
    if (words.empty() || words.size() > 2 || !fs::is_directory(words[0])) {
        std::fprintf(stderr, "onnx_standard FOLDER [-v] [FILTER]: FOLDER is onnx/backend/test/data/node\n");
        return 2;
    }
    std::vector<fs::path> cases;
    for (const fs::directory_entry& entry : fs::directory_iterator(words[0])) {
        if (fs::exists(entry.path() / "model.onnx")
            && (words.size() < 2 || entry.path().filename().string().find(words[1]) != std::string::npos))
            cases.push_back(entry.path());
    }
    std::ranges::sort(cases);
    const std::vector<Row> rows = runAll(cases);
    if (rows.empty())
        return 2;

    struct Counts
    {
        int passed = 0, unsupported = 0, failed = 0, excluded = 0, folded = 0, bound = 0;
    };
    std::map<std::string, Counts> byOperator;
    Counts all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        for (Counts* counts : {&byOperator[row.op], &all}) {
            switch (row.outcome) {
            case Outcome::Passed: ++counts->passed; break;
            case Outcome::Unsupported: ++counts->unsupported; break;
            case Outcome::Failed: ++counts->failed; break;
            case Outcome::Excluded: ++counts->excluded; break;
            }
            counts->folded += row.outcome == Outcome::Passed && row.folded ? 1 : 0;
            counts->bound += row.outcome == Outcome::Passed && row.bound ? 1 : 0;
        }
        if (row.outcome == Outcome::Failed || (verbose && row.outcome == Outcome::Unsupported))
            fmt::print("{} {}: {}\n", row.outcome == Outcome::Failed ? "FAILED" : "unsupported",
                       cases[i].filename().string(), row.text);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].outcome == Outcome::Excluded && !rows[i].text.empty())
            fmt::print("left out {}: {}\n", cases[i].filename().string(), rows[i].text);
    }
    fmt::print("{:<28} {:>7} {:>12} {:>7} {:>9}\n", "operator", "passed", "unsupported", "failed", "excluded");
    for (const auto& [op, counts] : byOperator)
        fmt::print("{:<28} {:>7} {:>12} {:>7} {:>9}\n", op, counts.passed, counts.unsupported, counts.failed,
                   counts.excluded);
    const int counted = all.passed + all.unsupported + all.failed;
    fmt::print("{} cases: {} passed, {} unsupported, {} failed, {} excluded; {:.1f} % of {} passed\n", rows.size(),
               all.passed, all.unsupported, all.failed, all.excluded, counted > 0 ? 100.0 * all.passed / counted : 0.0,
               counted);
    fmt::print(
        "of the passed: {} with axes, shapes and the like given at import, {} with all inputs given at run time; "
        "{} with nothing left to compile\n",
        all.bound, all.passed - all.bound, all.folded);
    return all.failed == 0 ? 0 : 1;
}
