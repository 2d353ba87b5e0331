// How long a project with a million records takes to open, filter, order and page. Makes the project if it is not
// there:
//     bench_history /tmp/million.lathe [ROWS]
// and prints a line per question. The window asks the same questions on a thread of its own.

#include "core/session/session.h"
#include "core/store/record_reader.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace lathe;
using store::RecordQuery;

namespace {

template<typename T>
T must(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "bench_history: %s\n", result.error().message.c_str());
        std::exit(1);
    }
    return *std::move(result);
}

template<typename Job>
auto timed(const char* what, Job job)
{
    const auto start = std::chrono::steady_clock::now();
    auto result = must(job());
    fmt::print("{:<44} {:9.1f} ms\n", what,
               std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
    return result;
}

/// Rows as wide as those of a real run of a network, one trial in 20 failed; the network is a small one, so that the
/// window can open the project.
void make(const std::filesystem::path& file, const std::string& rows)
{
    session::OpenOptions options;
    options.model.source = "zoo:mlp";
    options.target = "sim";
    options.project = file;
    std::string tasks;
    int count = 0;
    for (const session::TaskView& task : must(session::TuningSession::open(options))->tasks())
        tasks += fmt::format("{}({}, '{}', '{}')", count == 0 ? "" : ", ", count, task.key, task.alternatives.front()),
            ++count;
    auto db = must(store::Database::open(file, store::Database::Mode::ReadWrite));
    // Random trial ids meet the whole of their index: it must fit.
    must(db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA cache_size=-600000; BEGIN"));
    must(db.execute("INSERT INTO sessions(model, target, options, started_ms, active_s, state) VALUES(1, 'sim', '{}', "
                    "1700000000000, 40000, 'stopped')"));
    must(db.execute(
        "CREATE TEMP TABLE names(place INTEGER PRIMARY KEY, key TEXT, alternative TEXT); INSERT INTO names VALUES"
        + tasks));
    must(db.execute("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " + rows
                    + ") "
                      "INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, sketch, "
                      "genome, steps, hash, stage, code, text, mean_ns, costs_ns, verified, durations_ms, conditions, "
                      "device, time_ms, predicted_ns, target) SELECT printf('%08x%024x', (i * 2654435761) & "
                      "4294967295, i), 1, i / 64, i % 64, t.key, t.alternative, '[]', 'sketch', "
                      "'lathe-cpu/1:' || CASE i % 3 WHEN 0 THEN 'direct' WHEN 1 THEN 'tile-pack' ELSE 'winograd' END, "
                      "'[1,2,3,4,5,6,7,8,9,10]', '[' || replace(hex(zeroblob(400)), '00', '[],') || '[]]', "
                      "printf('%032x', i), CASE WHEN i % 20 = 7 THEN 'run' ELSE 'done' END, CASE WHEN i % 20 <> 7 THEN "
                      "'Ok' WHEN i % 40 = 7 THEN 'RunTimeout' ELSE 'WorkerCrashed' END, "
                      "CASE WHEN i % 20 <> 7 THEN '' WHEN i % 40 = 7 THEN 'the run took longer than ' || (i % 97) || ' "
                      "s' ELSE 'the kernel crashed: signal 11' END, "
                      "CASE WHEN i % 20 <> 7 THEN 1e6 + abs(random() % 9000000) END, '[1855.0672539642587]', 1, "
                      "'{\"build\":12.9,\"lower\":0.27,\"measure\":56.8,\"queue\":16.6,\"upload\":0.29}', "
                      "'{\"calibration_ns\":89623,\"clock\":\"wall\",\"code_bytes\":668,\"cold_bytes\":0}', "
                      "'{\"key\":\"sim\",\"kind\":\"sim\",\"name\":\"bench\"}', 1700000000000 + i * 40, "
                      "1e6 + abs(random() % 9000000), 'sim' FROM n JOIN names t ON t.place = (n.i / 64) % "
                    + std::to_string(count)));
    must(db.execute("INSERT INTO notes SELECT 'trial:' || trial, 'note ' || id FROM records WHERE id % 10007 = 3"));
    must(db.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)"));
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "bench_history: say which project: bench_history FILE.lathe [ROWS]\n");
        return 1;
    }
    const std::filesystem::path file = argv[1];
    if (!std::filesystem::exists(file))
        make(file, argc > 2 ? argv[2] : "1000000");
    const auto reader = timed("open", [&] { return store::RecordReader::open(file); });
    timed("count", [&] { return reader.project().recordCount(); });
    timed("best of every task", [&] { return reader.project().best(); });
    const auto all = timed("list, newest first", [&] {
        RecordQuery q;
        q.descending = true;
        return reader.find(q);
    });
    fmt::print("{} rows\n", all.size());
    timed("a page of 128 in the middle", [&] {
        return reader.rows(std::span(all).subspan(all.size() / 2, std::min<std::size_t>(128, all.size() / 2)));
    });
    const auto ask = [&reader](const char* what, auto change) {
        RecordQuery q;
        change(q);
        fmt::print("{:>44} rows\n", timed(what, [&] { return reader.find(q); }).size());
    };
    using Order = RecordQuery::Order;
    for (const auto& [name, order] :
         {std::pair("order by task", Order::Task), std::pair("order by algorithm", Order::Alternative),
          std::pair("order by sketch", Order::Sketch), std::pair("order by latency", Order::Latency),
          std::pair("order by prediction", Order::Predicted), std::pair("order by state", Order::State),
          std::pair("order by round", Order::Round), std::pair("order by verified", Order::Verified),
          std::pair("order by trial", Order::Trial), std::pair("order by text", Order::Text),
          std::pair("order by note", Order::Note), std::pair("order by repeated trial", Order::Repeats)})
        ask(name, [order](RecordQuery& q) { q.order = order; });
    ask("one task, between 2 and 3 ms", [&](RecordQuery& q) {
        q.task = must(reader.rows(std::span(all).first(1)))[0].task;
        q.minNs = 2e6;
        q.maxNs = 3e6;
    });
    ask("failed", [](RecordQuery& q) { q.code = "failed"; });
    ask("one cause", [](RecordQuery& q) {
        q.code = "RunTimeout";
        q.cause = "the run took longer than # s";
    });
    ask("text in names", [](RecordQuery& q) { q.text = "winograd"; });
    ask("text in failures", [](RecordQuery& q) { q.text = "signal 11"; });
    ask("text in notes", [](RecordQuery& q) { q.text = "note 3"; });
    ask("first digits of a trial", [](RecordQuery& q) { q.text = "0001"; });
    ask("with a note", [](RecordQuery& q) { q.noted = true; });
    ask("stored since", [&](RecordQuery& q) { q.afterRow = all.front() - 64; });
    timed("points: predicted against measured",
          [&] { return reader.points({}, store::RecordAxis::Predicted, store::RecordAxis::Latency); });
    timed("failures by cause", [&] { return reader.failures(); });
    timed("best of every round", [&] { return reader.bestByRound(1); });
    return 0;
}
