#include "core/ir/async_copy.h"
#include "core/ir/interpret_launches.h"
#include "core/ir/print.h"
#include "core/schedule/launch_resources.h"
#include "kernel_check.h"
#include "tests/support/changed_statement.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace tst_staged_copies {

using namespace lathe;
using namespace lathe::schedule;
using lathe::schedule::test::launches;
using lathe::schedule::test::replayed;
using lathe::test::changed;

namespace {

/// C = A B, blocks of 16 by 16 elements by 64 threads, both operands through shared memory, `length` steps of the sum
/// at a time: A 0, A.shared 1, B 2, B.shared 3, C.local 4, C 5. `more`: steps behind.
std::string product(int fetch, int length, const std::string& more)
{
    return fmt::format(R"([["CHW", 2, "local"], ["CHR", 1, "shared", [2]], ["CHR", 0, "shared", [3]],
        ["SP", 5, 1, 0, [8, 2], 1], ["SP", 5, 0, 0, [8, 2], 1], ["RE", 5, [0, 3, 1, 4, 2, 5]], ["FU", 5, [0, 1]],
        ["FU", 5, [1, 2]], ["AN", 5, 0, 5], ["AN", 5, 1, 6], ["CA", 4, 5, 1], ["SP", 4, 2, 0, [{1}], 1],
        ["RE", 4, [2, 3, 0, 1]], ["AN", 4, 2, 1], ["AN", 4, 3, 1],
        ["CA", 1, 4, 0], ["FU", 1, [0, 1]], ["SP", 1, 0, 0, [64, {0}], 1], ["AN", 1, 1, 6], ["AN", 1, 2, 2],
        ["CA", 3, 4, 0], ["FU", 3, [0, 1]], ["SP", 3, 0, 0, [64, {0}], 1], ["AN", 3, 1, 6], ["AN", 3, 2, 2]{2}])",
                       fetch, length, more);
}

std::string slices(int ofA, int ofB)
{
    return fmt::format(R"(, ["SG", 1, {}], ["SG", 3, {}])", ofA, ofB);
}

/// Statements of the kind, in order.
void collect(const ir::Stmt& s, ir::StmtKind kind, std::vector<ir::Stmt>& found)
{
    if (!s)
        return;
    if (s->kind == kind)
        found.push_back(s);
    for (const ir::Stmt& inner : s->body)
        collect(inner, kind, found);
}

std::vector<ir::Stmt> found(const LoweredKernel& kernel, ir::StmtKind kind)
{
    std::vector<ir::Stmt> all;
    for (const ir::Launch& launch : kernel.nest.launches)
        collect(launch.body, kind, all);
    return all;
}

} // namespace

/// Tiles in shared memory that are filled ahead (SG): what is computed stays, one barrier a step does, and what is
/// wrong with one of them is found.
class TestStagedCopies : public QObject
{
    Q_OBJECT

private slots:
    void productsAreRight_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("fetch");
        QTest::addColumn<int>("k");
        QTest::addColumn<int>("elements"); ///< of a copy of A
        for (const int count : {2, 3, 4})
            for (const int fetch : {1, 2, 4})
                for (const int k : {24, 32})
                    QTest::addRow("%d slices, %d at once, %d steps", count, fetch, k) << count << fetch << k << fetch;
        QTest::addRow("more slices than steps") << 8 << 4 << 16 << 4;
        QTest::addRow("a last part that is not whole") << 3 << 1 << 30 << 1;
        QTest::addRow("rows that do not begin at multiples of a vector") << 2 << 4 << 30 << 1;
    }
    void productsAreRight()
    {
        QFETCH(int, count);
        QFETCH(int, fetch);
        QFETCH(int, k);
        QFETCH(int, elements);
        const State state = lathe::test::must(
            replayed(lathe::schedule::test::matmul(32, 16, k), product(fetch, 4, slices(count, count))));
        QCOMPARE(QString::fromStdString(lathe::schedule::test::checkKernel(state, 3, launches())), QString());
        const LoweredKernel kernel = lathe::test::must(lower(state, launches()));
        const std::vector<ir::Stmt> copies = found(kernel, ir::StmtKind::AsyncCopy);
        QCOMPARE(copies.size(), 4u); // of A and of B, before the loop and in it
        QCOMPARE(copies[0]->count, elements);
        QCOMPARE(found(kernel, ir::StmtKind::AsyncCommit).size(), 2u);
        const std::vector<ir::Stmt> waits = found(kernel, ir::StmtKind::AsyncWait);
        QCOMPARE(waits.size(), 1u);
        QCOMPARE(waits[0]->count, std::min(count, (k + 3) / 4) - 2);
        QCOMPARE(found(kernel, ir::StmtKind::Barrier).size(), 1u);
    }

    void theTextOfOne()
    {
        const State state = lathe::test::must(
            replayed(lathe::schedule::test::matmul(16, 16, 16), product(4, 4, slices(3, 3))));
        const std::string text = ir::print(lathe::test::must(lower(state, launches())).nest);
        const std::size_t at = text.find("  for ahead"), end = text.find("    for k.1");
        QVERIFY2(text.find("buffer A.shared float32 shared [3, 16, 4]\nbuffer B.shared float32 shared [3, 4, 16]\n")
                     != std::string::npos,
                 text.c_str());
        QCOMPARE(QString::fromStdString(text.substr(at, end - at)), QString(R"(  for ahead (0, 2)
    if (threadIdx.x < 16)
      async A.shared[ahead, threadIdx.x, 0] = A[threadIdx.x, (ahead*4)] x4
    if (threadIdx.x < 16)
      async B.shared[ahead, floordiv(threadIdx.x, 4), (floormod(threadIdx.x, 4)*4)] = B[((ahead*4) + floordiv(threadIdx.x, 4)), (floormod(threadIdx.x, 4)*4)] x4
    async commit
  for k.0 (0, 4)
    async wait 1
    barrier
    if (k.0 < 2)
      if (threadIdx.x < 16)
        async A.shared[floormod((k.0 + 2), 3), threadIdx.x, 0] = A[threadIdx.x, ((k.0*4) + 8)] x4
      if (threadIdx.x < 16)
        async B.shared[floormod((k.0 + 2), 3), floordiv(threadIdx.x, 4), (floormod(threadIdx.x, 4)*4)] = B[(((k.0*4) + floordiv(threadIdx.x, 4)) + 8), (floormod(threadIdx.x, 4)*4)] x4
    async commit
)"));
        QVERIFY2(text.find("A.shared[floormod(k.0, 3), ((floordiv(threadIdx.x, 8)*2) + i_c), k.1]")
                     != std::string::npos,
                 text.c_str());
    }

    /// One tile of two is ahead: the other one needs its barrier behind it.
    void oneOfTwoTiles()
    {
        const State state = lathe::test::must(
            replayed(lathe::schedule::test::matmul(16, 32, 24), product(2, 4, R"(, ["SG", 3, 2])")));
        QCOMPARE(QString::fromStdString(lathe::schedule::test::checkKernel(state, 4, launches())), QString());
        const LoweredKernel kernel = lathe::test::must(lower(state, launches()));
        QCOMPARE(found(kernel, ir::StmtKind::Barrier).size(), 2u);
    }

    /// Padding is stored, and what lies apart is copied element by element.
    void paddedConvolutions_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<QString>("layout");
        for (const int count : {2, 3}) {
            QTest::addRow("%d slices", count) << count << QString();
            QTest::addRow("%d slices, turned", count)
                << count << R"(, ["LY", 2, [[3, 1, 8], [1, 1, 8], [2, 1, 10], [0, 1, 1]]])";
            QTest::addRow("%d slices, rows apart", count) << count << R"(, ["PS", 2, 2, 4])";
        }
    }
    void paddedConvolutions()
    {
        QFETCH(int, count);
        QFETCH(QString, layout);
        // data 0, pad 1, pad.shared 2, weight 3, conv.local 4, conv 5, bias 6, add 7, relu 8
        const std::string steps = fmt::format(R"([["CHW", 3, "local"], ["CHR", 1, "shared", [3]], ["CI", 1], ["CI", 5],
            ["CI", 7], ["FU", 8, [0, 1]], ["AN", 8, 0, 5], ["FU", 8, [1, 2]], ["SP", 8, 1, 0, [32], 1], ["AN", 8, 2, 6],
            ["CA", 4, 8, 2], ["SP", 4, 6, 0, [4], 1], ["RE", 4, [6, 4, 5, 7, 0, 1, 2, 3]], ["FU", 4, [0, 1]],
            ["CA", 2, 4, 0]{}, ["FU", 2, [0, 1, 2, 3]], ["SP", 2, 0, 0, [32, 4], 1], ["AN", 2, 1, 6], ["AN", 2, 2, 2],
            ["SG", 2, {}]])",
                                              layout.toStdString(), count);
        const State state = lathe::test::must(
            replayed(lathe::schedule::test::convBiasRelu(6, 8, 8, 8, 3, 1, 1), steps));
        QCOMPARE(QString::fromStdString(lathe::schedule::test::checkKernel(state, 5, launches())), QString());
        const LoweredKernel kernel = lathe::test::must(lower(state, launches()));
        const std::vector<ir::Stmt> copies = found(kernel, ir::StmtKind::AsyncCopy);
        QVERIFY(!copies.empty());
        QCOMPARE(copies[0]->count, layout.contains("LY") ? 1 : 4);
    }

    void narrowElementsAreCopiedInVectors()
    {
        // Four bytes at least: two halves or four bytes of them, one is stored.
        for (const int fetch : {1, 2, 4, 8}) {
            compute::DagBuilder b;
            const auto a = b.placeholder("A", {16, 32}, DType::F16);
            const auto c = b.compute("C", {16, 32}, {"i", "j"}, "", [&](const std::vector<ir::Expr>& i) {
                return b.at(a, {i[0], i[1]}) + b.at(a, {i[0], i[1]});
            });
            const State state = lathe::test::must(replayed(
                lathe::test::must(std::move(b).finish({c})),
                fmt::format(R"([["CHR", 0, "shared", [1]], ["SP", 2, 1, 32, [8], 1], ["AN", 2, 0, 5], ["AN", 2, 2, 6],
                    ["CA", 1, 2, 1], ["FU", 1, [0, 1]], ["SP", 1, 0, 0, [8, {}], 1], ["AN", 1, 1, 6], ["AN", 1, 2, 2],
                    ["SG", 1, 2]])",
                            fetch)));
            QCOMPARE(QString::fromStdString(lathe::schedule::test::checkKernel(state, 6, launches())), QString());
            const std::vector<ir::Stmt> copies = found(lathe::test::must(lower(state, launches())),
                                                       ir::StmtKind::AsyncCopy);
            QCOMPARE(copies.empty(), fetch == 1);
            if (fetch > 1)
                QCOMPARE(copies[0]->count, fetch);
        }
    }

    void sharedMemoryIsExact()
    {
        for (const int count : {1, 2, 3, 4}) {
            const State state = lathe::test::must(replayed(
                lathe::schedule::test::matmul(32, 16, 25),
                product(1, 5, R"(, ["PS", 1, 0, 2], ["PS", 3, 0, 1])" + (count > 1 ? slices(count, count) : ""))));
            QCOMPARE(QString::fromStdString(lathe::schedule::test::checkKernel(state, 7, launches())), QString());
            const LoweredKernel kernel = lathe::test::must(lower(state, launches()));
            // 16 rows of 5 elements with 2 between: 110, thus 112; 5 rows of 16 with 1 between: 84.
            QCOMPARE(sizesOf(kernel.nest)[0].sharedBytes, count * (112 + 84) * 4);
        }
    }

    void faultsAreFound_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<QString>("words");
        QTest::addRow("it waits for one group less") << 0 << "before the asynchronous copy of thread (0, 0, 0)";
        QTest::addRow("it does not wait") << 1 << "before the asynchronous copy of thread (0, 0, 0)";
        QTest::addRow("it commits nothing") << 2 << "before the asynchronous copy of thread";
        QTest::addRow("there is no barrier") << 3 << "with no barrier between";
        QTest::addRow("it waits behind the barrier") << 4 << "with no barrier between";
        QTest::addRow("one slice is missing") << 5 << "outside of [0, 2)";
        QTest::addRow("slices come round too early") << 6 << "";
    }
    void faultsAreFound()
    {
        QFETCH(int, fault);
        QFETCH(QString, words);
        const State state = lathe::test::must(
            replayed(lathe::schedule::test::matmul(16, 16, 32), product(4, 4, slices(3, 3))));
        LoweredKernel kernel = lathe::test::must(lower(state, launches()));
        ir::Stmt& body = kernel.nest.launches[0].body;
        body = changed(body, [&](const ir::Stmt& s) -> ir::Stmt {
            const bool isWait = s->kind == ir::StmtKind::AsyncWait;
            if (fault == 0 && isWait)
                return ir::makeAsyncWait(s->count + 1);
            if ((fault == 1 && isWait) || (fault == 2 && s->kind == ir::StmtKind::AsyncCommit)
                || (fault == 3 && s->kind == ir::StmtKind::Barrier))
                return ir::makeBlock({});
            if (fault == 4 && s->kind == ir::StmtKind::Block && s->body[0]->kind == ir::StmtKind::AsyncWait) {
                auto copy = std::make_shared<ir::StmtNode>(*s);
                std::swap(copy->body[0], copy->body[1]);
                return copy;
            }
            return s;
        });
        if (fault == 5)
            for (ir::Buffer& buffer : kernel.nest.buffers)
                if (buffer.name == "A.shared")
                    buffer.shape[0] = 2;
        if (fault == 6) // two of three slices lie in one place
            for (ir::Buffer& buffer : kernel.nest.buffers)
                if (buffer.name == "A.shared")
                    buffer.strides[0] = 0;
        const auto interpreter = lathe::test::must(ir::LaunchInterpreter::compile(kernel.nest));
        std::vector<std::vector<std::byte>> memory;
        for (const std::int64_t elements : {16 * 32, 32 * 16, 16 * 16})
            memory.emplace_back(static_cast<std::size_t>(elements) * sizeof(float));
        const std::vector<std::span<std::byte>> spans(memory.begin(), memory.end());
        const auto ran = interpreter.run(spans);
        QVERIFY(!ran);
        QVERIFY2(ran.error().message.find(words.toStdString()) != std::string::npos, ran.error().message.c_str());
    }

    void whatIsNoTileIsRefused_data()
    {
        QTest::addColumn<QString>("steps");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const std::string& steps, const char* words) {
            QTest::addRow("%s", name) << QString::fromStdString(steps) << words;
        };
        row("no copy", R"([["SG", 2, 2]])", "'C' is no copy in shared memory, which alone is filled ahead");
        row("a copy of a thread", R"([["CHR", 0, "local", [2]], ["SG", 1, 2]])", "'A.local' is no copy");
        row("one slice", product(1, 4, R"(, ["SG", 1, 1])"), "outside of [2, ");
        row("too many slices", product(1, 4, R"(, ["SG", 1, 9])"), "larger than 8");
        row("at the root", R"([["CHR", 0, "shared", [2]], ["SG", 1, 2]])",
            "'A.shared' is filled ahead, but not computed in a loop of its reader");
        row("not as the other", product(1, 4, slices(2, 3)),
            "'B.shared' is filled otherwise ahead than another tile of the same loop");
        row("a loop of one step", product(1, 64, slices(2, 2)),
            "'A.shared' is filled ahead in a loop of no further iterations");
    }
    void whatIsNoTileIsRefused()
    {
        QFETCH(QString, steps);
        QFETCH(QString, words);
        const auto state = replayed(lathe::schedule::test::matmul(16, 16, 16), steps.toStdString());
        const auto kernel = state ? lower(*state, launches()) : Result<LoweredKernel>(state.error());
        QVERIFY(!kernel);
        QVERIFY2(kernel.error().message.find(words.toStdString()) != std::string::npos, kernel.error().message.c_str());
    }

    void processorsHaveNone()
    {
        const State state = lathe::test::must(
            replayed(lathe::schedule::test::matmul(16, 16, 16),
                     R"([["CHR", 0, "shared", [2]], ["SP", 3, 2, 16, [4], 1], ["CA", 1, 3, 2], ["SG", 1, 2]])"));
        const auto kernel = lower(state, {});
        QVERIFY(!kernel && kernel.error().code == Errc::Unsupported);
    }
};

LATHE_TEST(TestStagedCopies)

} // namespace tst_staged_copies

#include "tst_staged_copies.moc"
