#include "core/ir/interpret.h"
#include "core/ir/print.h"
#include "core/ir/scalar.h"
#include "core/ir/scratch.h"
#include "core/ir/verify.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>

namespace tst_nest {

using namespace lathe;
using namespace lathe::ir;

namespace {

/// out[i] = in[i] + 1 over 10 elements, through a scratch buffer of `scope`.
LoopNest addOne(Scope scope = Scope::Part, std::int64_t read = 10)
{
    LoopNest nest;
    nest.name = "add_one";
    nest.buffers = {{"in", DType::F32, Scope::Parameter, {10}, {1}, true, false},
                    {"out", DType::F32, Scope::Parameter, {10}, {1}, false, false},
                    {"tmp", DType::F32, scope, {1}, {1}, false, false}};
    nest.parameters = {0, 1};
    const Expr i = var("i");
    nest.phases = {makeFor(i, 0, intImm(read), LoopKind::Parallel,
                           makeBlock({makeStore(2, {0}, load(0, DType::F32, {i})),
                                      makeStore(1, {i}, load(2, DType::F32, {0}) + floatImm(1))}))};
    return nest;
}

Result<> run(const LoopNest& nest, std::vector<float>& in, std::vector<float>& out, std::uint32_t parts)
{
    LATHE_TRY_ASSIGN(const NestInterpreter interpreter, NestInterpreter::compile(nest));
    const std::vector<std::span<std::byte>> arguments{std::as_writable_bytes(std::span(in)),
                                                      std::as_writable_bytes(std::span(out))};
    return interpreter.run(arguments, parts);
}

} // namespace

class TestNest : public QObject
{
    Q_OBJECT

private slots:
    void printIsStable();
    void statementsKnowTheirLines();
    void partsShareAParallelLoop();
    void accessesOutOfBoundsAreNamed();
    void scratchIsNotKeptBetweenParts();
    void smallParametersAreRefused();
    void verifyAcceptsAGoodNest();
    void verifyNamesWhatIsOff_data();
    void verifyNamesWhatIsOff();
    void scratchStartsOnCacheLines();
    void halvesRoundToEven();
};

void TestNest::printIsStable()
{
    QCOMPARE(QString::fromStdString(print(addOne())), QString("kernel add_one\n"
                                                              "buffer in float32 parameter [10] readonly\n"
                                                              "buffer out float32 parameter [10]\n"
                                                              "buffer tmp float32 part [1]\n"
                                                              "phase 0\n"
                                                              "  parallel i (0, 10)\n"
                                                              "    tmp[0] = in[i]\n"
                                                              "    out[i] = (tmp[0] + 1f)\n"));
}

void TestNest::statementsKnowTheirLines()
{
    LoopNest nest = addOne();
    nest.phases.push_back(makeFor(var("j"), 0, intImm(3), LoopKind::Serial, nest.phases[0])); // shared by both
    const LoopNest own = withOwnStatements(nest);
    const PrintedNest printed = printWithLines(own);
    QCOMPARE(printed.text, print(nest));
    const auto lines = QString::fromStdString(printed.text).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(printed.runs.size(), static_cast<std::size_t>(lines.size()));
    QCOMPARE(printed.stores.size(), printed.runs.size());
    const Stmt& first = own.phases[0];
    const Stmt& second = own.phases[1]->body[0];
    QVERIFY(first != second);
    QCOMPARE(printed.lines.at(first.get()), 5);
    QCOMPARE(printed.lines.at(own.phases[1].get()), 9);
    QCOMPARE(printed.lines.at(second.get()), 10);
    QCOMPARE(printed.lines.size(), std::size_t{7}); // blocks have none
    for (const auto& [statement, line] : printed.lines)
        QCOMPARE(printed.stores[static_cast<std::size_t>(line)], statement->kind == StmtKind::Store);
    QCOMPARE(printed.runs[0], 0.0); // the kernel's name
    QCOMPARE(printed.runs[5], 1.0);
    QCOMPARE(printed.runs[6], 10.0);
    QCOMPARE(printed.runs[11], 30.0); // within the second phase's loop
}

void TestNest::partsShareAParallelLoop()
{
    for (const std::uint32_t parts : {1u, 3u, 16u}) {
        std::vector<float> in(10);
        for (std::size_t i = 0; i < in.size(); ++i)
            in[i] = static_cast<float>(i);
        std::vector<float> out(10, -1);
        QVERIFY(run(addOne(), in, out, parts));
        for (std::size_t i = 0; i < in.size(); ++i)
            QCOMPARE(out[i], in[i] + 1);
    }
}

void TestNest::accessesOutOfBoundsAreNamed()
{
    std::vector<float> in(10);
    std::vector<float> out(10);
    const auto ran = run(addOne(Scope::Part, 11), in, out, 1);
    QVERIFY(!ran);
    QVERIFY(ran.error().code == Errc::WrongAnswer);
    QVERIFY2(ran.error().message.find("reads in at index 0 = 10") != std::string::npos, ran.error().message.c_str());
}

void TestNest::scratchIsNotKeptBetweenParts()
{
    LoopNest nest = addOne();
    const Expr i = var("i");
    // Only the first iteration writes the scratch: the second part reads what nobody wrote.
    nest.phases = {makeFor(
        i, 0, 10, LoopKind::Parallel,
        makeBlock({makeIf(i < 1, makeStore(2, {0}, floatImm(1))), makeStore(1, {i}, load(2, DType::F32, {0}))}))};
    std::vector<float> in(10);
    std::vector<float> out(10);
    QVERIFY(run(nest, in, out, 2));
    QCOMPARE(out[4], 1.0f);
    QVERIFY(std::isnan(out[5]));
}

void TestNest::smallParametersAreRefused()
{
    std::vector<float> in(10);
    std::vector<float> out(9);
    const auto ran = run(addOne(), in, out, 1);
    QVERIFY(!ran);
    QVERIFY(ran.error().code == Errc::InvalidArgument);
}

void TestNest::verifyAcceptsAGoodNest()
{
    const auto verified = verify(addOne(Scope::Register));
    QVERIFY2(verified, verified ? "" : verified.error().message.c_str());
}

void TestNest::verifyNamesWhatIsOff_data()
{
    QTest::addColumn<int>("fault");
    QTest::addColumn<QString>("name");
    QTest::newRow("rank") << 0 << "has 2 indices";
    QTest::newRow("free variable") << 1 << "outside of its loop";
    QTest::newRow("register index") << 2 << "register buffer";
    QTest::newRow("read-only") << 3 << "read-only";
    QTest::newRow("nested parallel") << 4 << "not outermost";
    QTest::newRow("open vector") << 5 << "no constant bounds";
    QTest::newRow("no parallel loop") << 6 << "no parallel loop";
}

void TestNest::verifyNamesWhatIsOff()
{
    QFETCH(int, fault);
    QFETCH(QString, name);
    LoopNest nest = addOne(fault == 2 ? Scope::Register : Scope::Part);
    const Expr i = var("i");
    const Expr j = var("j");
    const Stmt store = makeStore(1, {i}, floatImm(0));
    Stmt body = store;
    switch (fault) {
    case 0: body = makeStore(1, {i, i}, floatImm(0)); break;
    case 1: body = makeStore(1, {j}, floatImm(0)); break;
    case 2: body = makeStore(2, {i}, floatImm(0)); break;
    case 3: body = makeStore(0, {i}, floatImm(0)); break;
    case 4: body = makeFor(j, 0, 2, LoopKind::Parallel, store); break;
    case 5: body = makeFor(j, 0, i, LoopKind::Vectorized, store); break;
    default: break;
    }
    nest.phases = {makeFor(i, 0, 10, fault == 6 ? LoopKind::Serial : LoopKind::Parallel, body)};
    const auto verified = verify(nest);
    QVERIFY(!verified);
    QVERIFY(verified.error().code == Errc::Internal);
    QVERIFY2(QString::fromStdString(verified.error().message).contains(name), verified.error().message.c_str());
}

void TestNest::scratchStartsOnCacheLines()
{
    LoopNest nest = addOne(Scope::Team);
    nest.buffers.push_back({"more", DType::F64, Scope::Team, {3, 5}, {8, 1}, false, false});
    nest.buffers.push_back({"own", DType::U8, Scope::Part, {65}, {1}, false, false});
    const ScratchLayout layout = scratchLayout(nest);
    QCOMPARE(layout.offsets, (std::vector<std::int64_t>{-1, -1, 0, 64, 0}));
    QCOMPARE(layout.teamBytes, std::int64_t{64 + 192});
    QCOMPARE(layout.partBytes, std::int64_t{128});
}

void TestNest::halvesRoundToEven()
{
    std::byte bytes[2];
    const auto through = [&bytes](double v, DType t) {
        storeScalar(bytes, t, {v, 0});
        return loadScalar(bytes, t).f;
    };
    QCOMPARE(through(1.0 / 3, DType::F16), 0.333251953125);
    QCOMPARE(through(2049, DType::F16), 2048.0);
    QCOMPARE(through(2051, DType::F16), 2052.0);
    QCOMPARE(through(6e-8, DType::F16), std::ldexp(1.0, -24));
    QVERIFY(std::isinf(through(70000, DType::F16)));
    QCOMPARE(through(1.00390625, DType::BF16), 1.0);
    QCOMPARE(convert({-2.7, 0}, DType::F32, DType::I8).i, std::int64_t{-2});
}

LATHE_TEST(TestNest)

} // namespace tst_nest

#include "tst_nest.moc"
