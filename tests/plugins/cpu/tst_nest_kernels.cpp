#include "tests/plugins/cpu/codegen_fixture.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_nest_kernels {

using namespace lathe;
using namespace lathe::test;
using ir::Expr;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;

namespace {

using Function = std::function<Expr(const Expr&, const Expr&, const Expr&)>; // x, y, index

struct NamedFunction
{
    std::string name;
    DType out;
    Function f;
};

/// out_f[i] = f(x[i], y[i], i) for each function, over `extent` elements in a loop of `kind`.
schedule::LoweredKernel elementwise(DType in, std::int64_t extent, LoopKind kind,
                                    const std::vector<NamedFunction>& functions)
{
    std::vector<ir::Buffer> buffers{buffer("x", in, {3 * extent}), buffer("y", in, {3 * extent})};
    for (const NamedFunction& f : functions)
        buffers.push_back(buffer(f.name, f.out, {3 * extent}));
    const Stmt body = loop("o", 3, LoopKind::Parallel, [&](Expr o) {
        return loop("i", extent, kind, [&](Expr i) {
            const Expr at = o * static_cast<int>(extent) + i;
            std::vector<Stmt> stores;
            for (std::size_t f = 0; f < functions.size(); ++f)
                stores.push_back(ir::makeStore(static_cast<std::int32_t>(f + 2), {at},
                                               functions[f].f(ir::load(0, in, {at}), ir::load(1, in, {at}), at)));
            return ir::makeBlock(stores);
        });
    });
    return kernelOf("elementwise", buffers, {body}, functions.size());
}

std::vector<NamedFunction> expressionsOf(DType type)
{
    const auto imm = [type](int v) { return isFloat(type) ? ir::floatImm(v, type) : ir::intImm(v, type); };
    const auto div = [type](const Expr& a, const Expr& b) {
        return isFloat(type) ? ir::div(a, b) : ir::floorDiv(a, b);
    };
    return {
        {"arithmetic", type, [=](const Expr& x, const Expr& y, const Expr&) { return x * y + x - y * imm(3); }},
        {"division", type,
         [=](const Expr& x, const Expr& y, const Expr&) {
             const Expr divisor = ir::select(ir::eq(y, imm(0)), imm(1), y);
             const Expr both = div(x, divisor) + div(y, imm(4));
             return isFloat(type) ? both : both + ir::floorMod(x, divisor) + ir::floorMod(y, imm(5));
         }},
        {"minimum", type,
         [=](const Expr& x, const Expr& y, const Expr&) { return ir::min(x, imm(3)) + ir::max(y, x); }},
        {"comparison", DType::Bool,
         [=](const Expr& x, const Expr& y, const Expr&) { return x < y || ir::eq(x, imm(2)); }},
        {"logic", DType::Bool,
         [=](const Expr& x, const Expr& y, const Expr&) { return !(x <= y) && (y > imm(1) || ir::ne(x, imm(0))); }},
        {"select", type,
         [=](const Expr& x, const Expr& y, const Expr&) {
             return ir::select(x >= y, x, ir::ifThenElse(y > imm(0), y, imm(1)));
         }},
        {"index", type,
         [=](const Expr& x, const Expr&, const Expr& i) {
             return x + ir::cast(type, ir::floorMod(i * 3 + 1, ir::intImm(7)) - ir::floorDiv(i, ir::intImm(16)));
         }},
    };
}

constexpr DType kAllTypes[] = {DType::Bool, DType::I8,  DType::U8,  DType::I16,  DType::U16, DType::I32,
                               DType::U32,  DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64};

} // namespace

class TestNestKernels : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase()
    {
        m_codegen = codegenFor();
        QVERIFY(m_codegen);
    }
    void expressionsAgreeWithTheInterpreter_data();
    void expressionsAgreeWithTheInterpreter();
    void conversionsAgreeWithTheInterpreter_data();
    void conversionsAgreeWithTheInterpreter();
    void accessPatternsAgreeWithTheInterpreter_data();
    void accessPatternsAgreeWithTheInterpreter();
    void tilesInRegistersAgreeWithTheInterpreter();
    void guardsKeepLoadsInsideTheirBuffer();
    void phasesShareTeamScratch();
    void privateScratchBelongsToOnePart();
    void aReductionOverLanesStaysSequential();
    void unrollHintsKeepTheTail();

private:
    std::unique_ptr<backend::Codegen> m_codegen;
};

void TestNestKernels::expressionsAgreeWithTheInterpreter_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("kind");
    for (const DType dtype :
         {DType::I8, DType::U8, DType::I16, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64})
        for (const LoopKind kind : {LoopKind::Serial, LoopKind::Vectorized})
            QTest::addRow("%s %s", toString(dtype), kind == LoopKind::Serial ? "serial" : "vectorized")
                << static_cast<int>(dtype) << static_cast<int>(kind);
}

void TestNestKernels::expressionsAgreeWithTheInterpreter()
{
    QFETCH(int, dtype);
    QFETCH(int, kind);
    const auto type = static_cast<DType>(dtype);
    Comparison comparison;
    comparison.tolerance = type == DType::F16 ? 2e-3 : type == DType::BF16 ? 2e-2 : 1e-5;
    const schedule::LoweredKernel kernel = elementwise(type, 37, static_cast<LoopKind>(kind), expressionsOf(type));
    QCOMPARE(compareWithInterpreter(kernel, *m_codegen, comparison), std::string());
    if (isFloat(type)) {
        const auto narrow = codegenFor("cpu -mtriple=x86_64-linux-gnu -mcpu=haswell");
        QVERIFY(narrow);
        QCOMPARE(compareWithInterpreter(kernel, *narrow, comparison), std::string());
    }
}

void TestNestKernels::conversionsAgreeWithTheInterpreter_data()
{
    QTest::addColumn<int>("from");
    for (const DType from : kAllTypes)
        QTest::addRow("from %s", toString(from)) << static_cast<int>(from);
}

void TestNestKernels::conversionsAgreeWithTheInterpreter()
{
    QFETCH(int, from);
    std::vector<NamedFunction> conversions;
    for (const DType to : kAllTypes)
        conversions.push_back({std::string("to ") + toString(to), to,
                               [to](const Expr& x, const Expr&, const Expr&) { return ir::cast(to, x); }});
    Comparison comparison;
    comparison.parts = {2};
    comparison.tolerance = 0;
    for (const LoopKind kind : {LoopKind::Serial, LoopKind::Vectorized})
        QCOMPARE(compareWithInterpreter(elementwise(static_cast<DType>(from), 21, kind, conversions), *m_codegen,
                                        comparison),
                 std::string());
}

void TestNestKernels::accessPatternsAgreeWithTheInterpreter_data()
{
    QTest::addColumn<int>("stride");
    QTest::addColumn<int>("lanes");
    for (const int stride : {-1, 0, 1, 2, 3, 4, 5, 9})
        for (const int lanes : {5, 16, 48})
            QTest::addRow("stride %d, %d lanes", stride, lanes) << stride << lanes;
}

void TestNestKernels::accessPatternsAgreeWithTheInterpreter()
{
    QFETCH(int, stride);
    QFETCH(int, lanes);
    const int span = std::abs(stride) * (lanes - 1) + 1;
    const Stmt reads = loop("o", 2, LoopKind::Parallel, [&](Expr o) {
        return loop("i", lanes, LoopKind::Vectorized, [&](Expr i) {
            const Expr from = stride < 0 ? Expr(span - 1) + i * stride : i * stride;
            return ir::makeStore(1, {o, i}, ir::load(0, DType::F32, {o, from}) + ir::load(0, DType::F32, {o, Expr(0)}));
        });
    });
    QCOMPARE(
        compareWithInterpreter(
            kernelOf("reads", {buffer("x", DType::F32, {2, span}), buffer("out", DType::F32, {2, lanes})}, {reads}),
            *m_codegen),
        std::string());
    if (stride == 0)
        return;
    const Stmt writes = loop("o", 2, LoopKind::Parallel, [&](Expr o) {
        return loop("i", lanes, LoopKind::Vectorized, [&](Expr i) {
            const Expr to = stride < 0 ? Expr(span - 1) + i * stride : i * stride;
            return ir::makeIf(i * 3 < Expr(2 * lanes), ir::makeStore(1, {o, to}, ir::load(0, DType::F32, {o, i})));
        });
    });
    QCOMPARE(
        compareWithInterpreter(
            kernelOf("writes", {buffer("x", DType::F32, {2, lanes}), buffer("out", DType::F32, {2, span})}, {writes}),
            *m_codegen),
        std::string());
}

void TestNestKernels::tilesInRegistersAgreeWithTheInterpreter()
{
    for (const auto& [rows, lanes] : {std::pair{4, 16}, {2, 32}, {3, 12}, {1, 8}, {6, 1}})
        QCOMPARE(compareWithInterpreter(matmul(12, 96, 19, rows, lanes), *m_codegen), std::string());
}

void TestNestKernels::guardsKeepLoadsInsideTheirBuffer()
{
    // out[i] = 0 <= i + d < n ? x[i + d] : 0 for d = -2 .. 2: lanes at both ends are outside.
    constexpr int n = 21;
    for (const LoopKind kind : {LoopKind::Serial, LoopKind::Vectorized, LoopKind::Unrolled}) {
        const Stmt body = loop("d", 5, LoopKind::Serial, [&](Expr d) {
            return loop("i", n, kind, [&](Expr i) {
                const Expr at = i + d - Expr(2);
                const Expr inside = Expr(0) <= at && at < Expr(n);
                return ir::makeStore(1, {d, i}, ir::ifThenElse(inside, ir::load(0, DType::F32, {at}), ir::floatImm(0)));
            });
        });
        QCOMPARE(
            compareWithInterpreter(
                kernelOf("pad", {buffer("x", DType::F32, {n}), buffer("out", DType::F32, {5, n})}, {body}), *m_codegen),
            std::string());
        // The same with one scalar condition for all lanes: a row above or below the tensor.
        const Stmt rows = loop("d", 5, LoopKind::Serial, [&](Expr d) {
            return loop("i", n, kind, [&](Expr i) {
                const Expr row = d - Expr(1);
                const Expr inside = Expr(0) <= row && row < Expr(3);
                return ir::makeStore(
                    1, {d, i},
                    ir::ifThenElse(inside, ir::load(0, DType::F32, {row, i}) * ir::load(0, DType::F32, {row, Expr(0)}),
                                   ir::floatImm(1)));
            });
        });
        QCOMPARE(compareWithInterpreter(
                     kernelOf("rows", {buffer("x", DType::F32, {3, n}), buffer("out", DType::F32, {5, n})}, {rows}),
                     *m_codegen),
                 std::string());
    }
    // Gathered: the index is data.
    const Stmt gather = loop("i", n, LoopKind::Vectorized, [&](Expr i) {
        const Expr at = ir::load(1, DType::I32, {i});
        const Expr inside = at >= Expr(0) && at < Expr(5);
        return ir::makeStore(2, {i}, ir::ifThenElse(inside, ir::load(0, DType::F32, {at}), ir::floatImm(-1)));
    });
    QCOMPARE(compareWithInterpreter(
                 kernelOf("gather",
                          {buffer("x", DType::F32, {5}), buffer("at", DType::I32, {n}), buffer("out", DType::F32, {n})},
                          {gather}),
                 *m_codegen),
             std::string());
}

void TestNestKernels::phasesShareTeamScratch()
{
    const auto phase = [&](std::int32_t from, std::int32_t to, int offset) {
        return loop("i", 8, LoopKind::Parallel, [&](Expr i) {
            return loop("j", 16, LoopKind::Vectorized, [&](Expr j) {
                return ir::makeStore(to, {i, j}, ir::load(from, DType::F32, {Expr(7) - i, j}) + ir::floatImm(offset));
            });
        });
    };
    const schedule::LoweredKernel kernel = kernelOf("phases",
                                                    {buffer("x", DType::F32, {8, 16}),
                                                     buffer("middle", DType::F32, {8, 16}, Scope::Team),
                                                     buffer("out", DType::F32, {8, 16})},
                                                    {phase(0, 1, 1), phase(1, 2, 10)});
    QCOMPARE(compareWithInterpreter(kernel, *m_codegen), std::string());
}

void TestNestKernels::privateScratchBelongsToOnePart()
{
    const Stmt body = loop("i", 6, LoopKind::Parallel, [&](Expr i) {
        return ir::makeBlock({loop("j", 20, LoopKind::Vectorized,
                                   [&](Expr j) {
                                       return ir::makeStore(1, {j}, ir::load(0, DType::F32, {i, j}) * ir::floatImm(2));
                                   }),
                              loop("j", 20, LoopKind::Serial, [&](Expr j) {
                                  return ir::makeStore(2, {i, j}, ir::load(1, DType::F32, {Expr(19) - j}));
                              })});
    });
    QCOMPARE(
        compareWithInterpreter(kernelOf("scratch",
                                        {buffer("x", DType::F32, {6, 20}), buffer("row", DType::F32, {20}, Scope::Part),
                                         buffer("out", DType::F32, {6, 20})},
                                        {body}),
                               *m_codegen),
        std::string());
}

void TestNestKernels::aReductionOverLanesStaysSequential()
{
    const Stmt body = loop("i", 5, LoopKind::Parallel, [&](Expr i) {
        return ir::makeBlock(
            {ir::makeStore(1, {i}, ir::floatImm(0)), loop("k", 33, LoopKind::Vectorized, [&](Expr k) {
                 return ir::makeStore(1, {i}, ir::load(1, DType::F32, {i}) + ir::load(0, DType::F32, {i, k}));
             })});
    });
    QCOMPARE(
        compareWithInterpreter(
            kernelOf("sum", {buffer("x", DType::F32, {5, 33}), buffer("out", DType::F32, {5})}, {body}), *m_codegen),
        std::string());
}

void TestNestKernels::unrollHintsKeepTheTail()
{
    Stmt body = loop("i", 23, LoopKind::Serial,
                     [&](Expr i) { return ir::makeStore(1, {i}, ir::load(0, DType::F32, {Expr(22) - i})); });
    auto hinted = std::make_shared<ir::StmtNode>(*body);
    hinted->unrollHint = 4;
    QCOMPARE(
        compareWithInterpreter(
            kernelOf("hint", {buffer("x", DType::F32, {23}), buffer("out", DType::F32, {23})}, {hinted}), *m_codegen),
        std::string());
}

LATHE_TEST(TestNestKernels)

} // namespace tst_nest_kernels

#include "tst_nest_kernels.moc"
