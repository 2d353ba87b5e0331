// How long a project with a million records takes to open, filter, order and page. Makes the project if it is not there:
//     bench_history /tmp/million.lathe [ROWS]
// and prints a line per question. The window asks the same questions on a thread of its own.

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
    fmt::print("{:<44} {:9.1f} ms\n", what, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
    return result;
}

/// Rows as wide as those of a real run: 30 tasks, one trial in 20 failed.
void make(const std::filesystem::path& file, const std::string& rows)
{
    must(store::Project::open(file, store::Project::Access::Write));
    auto db = must(store::Database::open(file, store::Database::Mode::ReadWrite));
    must(db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; BEGIN"));
    must(db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " + rows + ") "
        "INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, sketch, genome, steps, hash, stage, code, text, mean_ns, costs_ns, verified, durations_ms, conditions, "
        "device, time_ms, predicted_ns) SELECT printf('%032x', i * 2654435761), 1, i / 64, i % 64, printf('%032x', (i / 64) % 30), CASE i % 3 WHEN 0 THEN 'winograd4' ELSE 'direct' END, '[]', 'sketch', "
        "'lathe-cpu/1:direct', '[1,2,3,4,5,6,7,8,9,10]', replace(hex(zeroblob(400)), '00', 'ab'), printf('%032x', i), CASE WHEN i % 20 = 7 THEN 'run' ELSE 'done' END, "
        "CASE WHEN i % 20 <> 7 THEN 'Ok' WHEN i % 40 = 7 THEN 'RunTimeout' ELSE 'WorkerCrashed' END, "
        "CASE WHEN i % 20 <> 7 THEN '' WHEN i % 40 = 7 THEN 'took longer than ' || (i % 97) || ' s' ELSE 'the kernel crashed: signal 11' END, "
        "CASE WHEN i % 20 <> 7 THEN 1e6 + abs(random() % 9000000) END, '[1855.0672539642587]', 1, '{\"build\":12.9,\"lower\":0.27,\"measure\":56.8,\"queue\":16.6,\"upload\":0.29}', "
        "'{\"calibration_ns\":89623,\"clock\":\"wall\",\"code_bytes\":668,\"cold_bytes\":0}', '{\"key\":\"cpu\",\"kind\":\"cpu\",\"name\":\"bench\"}', 1700000000000 + i * 40, 2e6 FROM n"));
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
    timed("a page of 128 in the middle", [&] { return reader.rows(std::span(all).subspan(all.size() / 2, std::min<std::size_t>(128, all.size() / 2))); });
    timed("order by latency", [&] {
        RecordQuery q;
        q.order = RecordQuery::Order::Latency;
        return reader.find(q);
    });
    timed("order by algorithm", [&] {
        RecordQuery q;
        q.order = RecordQuery::Order::Alternative;
        return reader.find(q);
    });
    timed("one task, between 2 and 3 ms", [&] {
        RecordQuery q;
        q.task = "00000000000000000000000000000007";
        q.minNs = 2e6;
        q.maxNs = 3e6;
        return reader.find(q);
    });
    timed("failed", [&] {
        RecordQuery q;
        q.code = "failed";
        return reader.find(q);
    });
    timed("text", [&] {
        RecordQuery q;
        q.text = "winograd";
        return reader.find(q);
    });
    timed("failures by cause", [&] { return reader.failures(); });
    return 0;
}
