#include "core/compute/dag.h"
#include "core/compute/flop.h"
#include "core/compute/json.h"
#include "core/compute/key.h"
#include "core/compute/print.h"
#include "core/compute/verify.h"
#include "tests/core/compute/reference_tasks.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <limits>

namespace tst_dag {

using namespace lathe;
using namespace lathe::compute;

namespace {

using Exprs = std::vector<ir::Expr>;
using Json = nlohmann::json;

QString q(const std::string& s)
{
    return QString::fromStdString(s);
}

/// y = sum over k of a[i, k] * b[k], plus a constant.
Json smallJson()
{
    DagBuilder b;
    const Tensor x = b.placeholder("a", {2, 3}, DType::F32);
    const Tensor y = b.placeholder("b", {3}, DType::F32);
    const Tensor dot = b.reduce("dot", {2}, {"i"}, "", ir::Combiner::Sum, {{"k", 3}},
                                [&](const Exprs& a, const Exprs& r) {
                                    return b.at(x, {a[0], r[0]}) * b.at(y, {r[0]});
                                });
    const Tensor out = b.compute("out", {2}, {"i"}, "",
                                 [&](const Exprs& a) { return b.at(dot, a) + ir::floatImm(0.5); });
    return toJson(**std::move(b).finish({out}));
}

} // namespace

class TestDag : public QObject
{
    Q_OBJECT

private slots:
    void operationsStandInPostOrderOfFirstUse()
    {
        DagBuilder b;
        const Tensor bias = b.placeholder("bias", {4}, DType::F32);
        const Tensor unused = b.placeholder("unused", {4}, DType::F32);
        const Tensor x = b.placeholder("x", {4}, DType::F32);
        Q_UNUSED(unused);
        const Tensor twice = b.compute("twice", {4}, {}, "",
                                       [&](const Exprs& a) { return b.at(x, a) * ir::floatImm(2); });
        const Tensor sum = b.compute("sum", {4}, {}, "",
                                     [&](const Exprs& a) { return b.at(twice, a) + b.at(bias, a); });
        std::vector<Tensor> inputs;
        const auto dag = std::move(b).finish({sum}, &inputs);
        QVERIFY(dag.has_value());
        QCOMPARE(inputs.size(), std::size_t{2});
        QCOMPARE(inputs[0].id, x.id);
        QCOMPARE(inputs[1].id, bias.id);
        QCOMPARE(q(print(**dag)), QString("x = PLACEHOLDER [4]\n"
                                          "twice(i0) = (x[i0]*2f)\n"
                                          "bias = PLACEHOLDER [4]\n"
                                          "sum(i0) = (twice[i0] + bias[i0])\n"));
        QCOMPARE((*dag)->inputs, (std::vector<std::int32_t>{0, 2}));
        QCOMPARE((*dag)->outputs, (std::vector<std::int32_t>{3}));
    }

    void aTensorReadInsideAnIndexComesFirst()
    {
        DagBuilder b;
        const Tensor table = b.placeholder("table", {9}, DType::F32);
        const Tensor index = b.placeholder("index", {4}, DType::I32);
        const Tensor out = b.compute("out", {4}, {}, "", [&](const Exprs& a) { return b.at(table, {b.at(index, a)}); });
        const auto dag = std::move(b).finish({out});
        QCOMPARE(q((*dag)->ops[0].name), QString("index"));
        QCOMPARE(q((*dag)->ops[1].name), QString("table"));
    }

    void iteratorNamesOfOneOperationMustDiffer()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {4, 4}, DType::F32);
        const Tensor y = b.reduce("y", {4}, {"i"}, "", ir::Combiner::Sum, {{"i", 4}},
                                  [&](const Exprs& a, const Exprs& r) {
                                      return b.at(x, {a[0], r[0]});
                                  });
        const auto dag = std::move(b).finish({y});
        QVERIFY(!dag);
        QVERIFY(dag.error().code == Errc::Internal);
        QVERIFY(dag.error().message.find("iterator name i") != std::string::npos);
    }

    void indexCountsMustMatchTheRank()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {4, 4}, DType::F32);
        const Tensor y = b.compute("y", {4}, {}, "", [&](const Exprs& a) { return b.at(x, a); });
        const auto dag = std::move(b).finish({y});
        QVERIFY(!dag && dag.error().code == Errc::Internal);
    }

    void literalsPrintWithTheirTypes()
    {
        const Dag none;
        const ir::Expr i = ir::var("i");
        QCOMPARE(q(printExpr(none, ir::intImm(3, DType::I64))), QString("(int64)3"));
        QCOMPARE(q(printExpr(none, ir::boolImm(true))), QString("(bool)1"));
        QCOMPARE(q(printExpr(none, ir::floatImm(0.5))), QString("0.5f"));
        QCOMPARE(q(printExpr(none, ir::floatImm(1.5, DType::F64))), QString("1.5"));
        QCOMPARE(q(printExpr(none, ir::floatImm(2, DType::F16))), QString("2h"));
        QCOMPARE(q(printExpr(none, ir::floatImm(-3.4028234663852886e38))), QString("-3.40282e+38f"));
        QCOMPARE(q(printExpr(none, ir::select(i < 3 && !ir::eq(i, 2), i + 1, ir::max(i, 7)))),
                 QString("select(((i < 3) && !(i == 2)), (i + 1), max(i, 7))"));
        QCOMPARE(q(printExpr(none, ir::floorDiv(i, 4) - ir::floorMod(i, 4) * 2)),
                 QString("(floordiv(i, 4) - (floormod(i, 4)*2))"));
        QCOMPARE(q(printExpr(none, ir::cast(DType::F32, i))), QString("float32(i)"));
        QCOMPARE(q(printExpr(none, ir::call("exp", DType::F32, {ir::cast(DType::F32, i)}))),
                 QString("tir.exp(float32(i))"));
    }

    void theWinogradTaskPrintsAsTheReferenceDoes()
    {
        const std::string text = print(*test::resnet18Tasks()[5].dag, PrintMode::Display);
        const QStringList lines = q(text).split('\n');
        QCOMPARE(lines[0], QString("placeholder = PLACEHOLDER [1, 7, 7, 512]"));
        QCOMPARE(
            lines[1],
            QString("data_pad(i0, i1, i2, i3) = tir.if_then_else(((((i1 >= 1) && (i1 < 8)) && (i2 >= 1)) && (i2 < 8)), "
                    "placeholder[i0, (i1 - 1), (i2 - 1), i3], 0f)"));
        QCOMPARE(
            lines[2],
            QString("input_tile(eps, nu, p, ci) = data_pad[floordiv(p, 16), ((floormod(floordiv(p, 4), 4)*2) + eps), "
                    "((floormod(p, 4)*2) + nu), ci]"));
        QVERIFY(lines[3].startsWith("B(i, j) = select(((floormod(i, 4) == 3) && (floormod(j, 4) == 3)), 1f, select("));
        QVERIFY(lines[3].contains(" ..(OMITTED).. "));
        QCOMPARE(lines[3].size(), 128 + 15 + 128);
        QCOMPARE(lines[4],
                 QString("data_pack(eps, nu, p, ci) += ((input_tile[r_a, r_b, p, ci]*B[r_a, eps])*B[r_b, nu])"));
        QCOMPARE(lines[9], QString("conv2d_winograd(n, h, w, co) = inverse[floormod(h, 2), floormod(w, 2), ((((n*4)*4) "
                                   "+ (floordiv(h, 2)*4)) + "
                                   "floordiv(w, 2)), co]"));
    }

    void theFlopAttributeOverrides()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {4}, DType::F32);
        const Tensor y = b.compute("y", {4}, {}, "", [&](const Exprs& a) { return b.at(x, a) + b.at(x, {a[0] * 1}); });
        b.setAttr(y, "FLOP", std::int64_t{123});
        QCOMPARE(flop(**std::move(b).finish({y})), 123.0);
    }

    void jsonLosesNothing()
    {
        for (const auto& tasks : {test::resnet18Tasks(), test::mobilenetTasks()})
            for (const auto& task : tasks) {
                const Json json = Json::parse(toJson(*task.dag).dump());
                const auto back = dagFromJson(json);
                QVERIFY2(back.has_value(), back ? "" : back.error().message.c_str());
                QCOMPARE(q(print(**back)), q(print(*task.dag)));
                QCOMPARE(q(strongText(**back)), q(strongText(*task.dag)));
                QCOMPARE(q(workloadKey(**back, NameEra::Hash)), q(workloadKey(*task.dag, NameEra::Hash)));
                QVERIFY(toJson(**back) == toJson(*task.dag));
            }
    }

    void jsonKeepsInfinities()
    {
        DagBuilder b;
        const Tensor y = b.compute(
            "y", {1}, {}, "", [&](const Exprs&) { return ir::floatImm(-std::numeric_limits<double>::infinity()); });
        const auto back = dagFromJson(Json::parse(toJson(**std::move(b).finish({y})).dump()));
        QCOMPARE((*back)->ops[0].bodies[0]->floatValue, -std::numeric_limits<double>::infinity());
    }

    void badJsonIsRefused_data()
    {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value");
        QTest::newRow("ops is no list") << "/ops"
                                        << "3";
        QTest::newRow("unknown member") << "/ops/0/colour"
                                        << "3";
        QTest::newRow("unknown kind") << "/ops/0/kind"
                                      << "\"scan\"";
        QTest::newRow("unknown type") << "/ops/0/dtype"
                                      << "\"float31\"";
        QTest::newRow("negative extent") << "/ops/0/shape/0"
                                         << "-1";
        QTest::newRow("fraction as extent") << "/ops/0/shape/0"
                                            << "1.5";
        QTest::newRow("name is no text") << "/ops/0/name"
                                         << "7";
        QTest::newRow("attribute of a strange kind") << "/ops/0/attrs"
                                                     << "{\"a\": 1.5}";
        QTest::newRow("axes missing") << "/ops/2/axes"
                                      << "[]";
        QTest::newRow("axis name twice") << "/ops/2/reduce_axes/0/0"
                                         << "\"i\"";
        QTest::newRow("body missing") << "/ops/2/bodies"
                                      << "[]";
        QTest::newRow("source after the reader") << "/ops/2/bodies/0/4/2/2"
                                                 << "2";
        QTest::newRow("source negative") << "/ops/2/bodies/0/4/2/2"
                                         << "-1";
        QTest::newRow("second output") << "/ops/2/bodies/0/4/2/3"
                                       << "1";
        QTest::newRow("index missing") << "/ops/2/bodies/0/4/2"
                                       << "[\"load\", \"float32\", 0, 0]";
        QTest::newRow("unknown combiner") << "/ops/2/bodies/0/2"
                                          << "\"mean\"";
        QTest::newRow("reduce over a spatial axis") << "/ops/2/bodies/0/3/0"
                                                    << "0";
        QTest::newRow("variable out of range") << "/ops/2/bodies/0/4/2/4/1"
                                               << "9";
        QTest::newRow("unknown expression") << "/ops/3/bodies/0/0"
                                            << "\"fold\"";
        QTest::newRow("operand too many") << "/ops/3/bodies/0/4"
                                          << "[\"i\", \"int32\", 1]";
        QTest::newRow("mixed types") << "/ops/3/bodies/0/3"
                                     << "[\"i\", \"int32\", 1]";
        QTest::newRow("reduction inside")
            << "/ops/3/bodies/0/3"
            << "[\"reduce\", \"float32\", \"sum\", [], [\"f\", \"float32\", 0], [\"f\", \"float32\", 0]]";
        QTest::newRow("input is a compute") << "/inputs/0"
                                            << "2";
        QTest::newRow("input missing") << "/inputs"
                                       << "[0]";
        QTest::newRow("output out of range") << "/outputs/0"
                                             << "4";
        QTest::newRow("no output") << "/outputs"
                                   << "[]";
    }

    void badJsonIsRefused()
    {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        Json json = smallJson();
        QVERIFY(dagFromJson(json).has_value());
        json[Json::json_pointer(pointer.toStdString())] = Json::parse(value.toStdString());
        const auto dag = dagFromJson(json);
        QVERIFY2(!dag, json.dump().c_str());
        QVERIFY(dag.error().code == Errc::BadFile);
    }

    void endlessNestingIsRefused()
    {
        Json json = smallJson();
        Json deep = Json::array({"f", "float32", 0u});
        for (int i = 0; i < 5000; ++i) {
            Json outer = Json::array({"cast", "float32"});
            outer.push_back(std::move(deep));
            deep = std::move(outer);
        }
        json["ops"][3]["bodies"][0] = std::move(deep);
        const auto dag = dagFromJson(json);
        QVERIFY(!dag && dag.error().code == Errc::BadFile);
    }

    /// What a rewrite with a bug would leave.
    void unsoundDagsAreNamed()
    {
        const auto read = dagFromJson(smallJson());
        QVERIFY(read.has_value());
        const DagPtr sound = *read;
        QVERIFY(verify(*sound).has_value());
        const auto isNamed = [&](auto spoil, const char* text) {
            Dag dag = *sound;
            spoil(dag);
            const auto checked = verify(dag);
            if (!checked && checked.error().code == Errc::Internal
                && checked.error().message.find(text) != std::string::npos)
                return true;
            qWarning("%s: %s", text, checked ? "nothing was found" : checked.error().message.c_str());
            return false;
        };
        const auto compute = static_cast<std::size_t>(sound->outputs.back());
        QVERIFY(sound->ops[compute].kind == OpKind::Compute);
        QVERIFY(isNamed([&](Dag& dag) { dag.ops[compute].axes.pop_back(); }, "axis names"));
        QVERIFY(isNamed([&](Dag& dag) { dag.ops[compute].bodies.clear(); }, "no body"));
        QVERIFY(isNamed([&](Dag& dag) { dag.ops[compute].bodies[0] = ir::var("stranger", DType::F32); },
                        "none of its iterators"));
        const auto load = [&](std::int32_t source, std::size_t indices) {
            return ir::load(source, DType::F32, std::vector<ir::Expr>(indices, ir::Expr(0)));
        };
        QVERIFY(isNamed(
            [&](Dag& dag) {
                dag.ops[compute].bodies[0] = load(static_cast<std::int32_t>(compute), dag.ops[compute].shape.size());
            },
            "does not come before"));
        QVERIFY(
            isNamed([&](Dag& dag) { dag.ops[compute].bodies[0] = load(0, dag.ops[0].shape.size() + 1); }, "of rank"));
        QVERIFY(isNamed([&](Dag& dag) { dag.outputs = {99}; }, "outputs"));
        QVERIFY(isNamed([&](Dag& dag) { dag.inputs.pop_back(); }, "inputs"));
    }
};

LATHE_TEST(TestDag)

} // namespace tst_dag

#include "tst_dag.moc"
