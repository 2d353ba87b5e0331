#include "core/compute/analysis.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/transform.h"
#include "tests/core/compute/dag_run.h"
#include "tests/core/compute/reference_tasks.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_analysis {

using namespace lathe;
using namespace lathe::compute;

namespace {

using Exprs = std::vector<ir::Expr>;

/// Position of the n-th operation with this name.
std::int32_t find(const Dag& dag, const std::string& name, int n = 0)
{
    for (std::size_t i = 0; i < dag.ops.size(); ++i)
        if (dag.ops[i].name == name && n-- == 0)
            return static_cast<std::int32_t>(i);
    return -1;
}

std::vector<std::string> namesWhere(const Analysis& a, bool OpAccess::*flag)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < a.dag().ops.size(); ++i)
        if (a.dag().ops[i].kind == OpKind::Compute && a.op(static_cast<std::int32_t>(i)).*flag)
            names.push_back(a.dag().ops[i].name);
    return names;
}

using Names = std::vector<std::string>;

} // namespace

class TestAnalysis : public QObject
{
    Q_OBJECT

private slots:
    void constShiftsAreRecognised()
    {
        const ir::Expr i = ir::var("i");
        const ir::Expr j = ir::var("j");
        const Exprs axes{i, j};
        QCOMPARE(constShiftAxis(j, axes), 1);
        QCOMPARE(constShiftAxis(i + 3, axes), 0);
        QCOMPARE(constShiftAxis(ir::Expr(3) + j, axes), 1);
        QCOMPARE(constShiftAxis(i - 2, axes), 0);
        QCOMPARE(constShiftAxis(ir::Expr(2) - i, axes), -1);
        QCOMPARE(constShiftAxis(i * 2, axes), -1);
        QCOMPARE(constShiftAxis(i + j, axes), -1);
        QCOMPARE(constShiftAxis(ir::var("k"), axes), -1);
    }

    void directConvolution()
    {
        const Analysis a(test::resnet18Tasks()[6].dag);
        QCOMPARE(namesWhere(a, &OpAccess::needsMultiLevelTiling), (Names{"Conv2dOutput"}));
        QCOMPARE(namesWhere(a, &OpAccess::strictlyInlineable), (Names{"T_add", "T_relu"}));
        QCOMPARE(namesWhere(a, &OpAccess::hasReduce), (Names{"Conv2dOutput"}));
        QCOMPARE(namesWhere(a, &OpAccess::isOutput), (Names{"T_relu"}));
        QCOMPARE(namesWhere(a, &OpAccess::hasBranch), (Names{"PaddedInput"}));
        const std::int32_t conv = find(a.dag(), "Conv2dOutput");
        const std::int32_t relu = find(a.dag(), "T_relu");
        QVERIFY(a.elementwiseMatch(conv, relu));
        QVERIFY(!a.elementwiseMatch(find(a.dag(), "PaddedInput"), conv));
        QCOMPARE(a.commonOuterIterators(conv, relu), 4);
        QCOMPARE(a.commonOuterIterators(find(a.dag(), "PaddedInput"), conv), 1);
        QCOMPARE(a.commonOuterIterators(relu, conv), 0);
        QCOMPARE(a.producers(conv), (std::vector<std::int32_t>{1, 2}));
        QCOMPARE(a.consumers(conv), (std::vector<std::int32_t>{5}));
        QCOMPARE(a.layoutFreePlaceholders(conv), (std::vector<std::int32_t>{2}));
        QVERIFY(a.layoutFreePlaceholders(relu).empty());
    }

    void aPaddingOfNothingIsInlineable()
    {
        const Analysis a(test::resnet18Tasks()[20].dag);
        QCOMPARE(namesWhere(a, &OpAccess::strictlyInlineable), (Names{"PaddedInput"}));
    }

    void winograd()
    {
        const Analysis a(test::resnet18Tasks()[4].dag);
        QCOMPARE(namesWhere(a, &OpAccess::needsMultiLevelTiling), (Names{"bgemm"}));
        QCOMPARE(namesWhere(a, &OpAccess::strictlyInlineable), (Names{"B", "A", "T_add", "T_relu"}));
        QCOMPARE(a.layoutFreePlaceholders(find(a.dag(), "bgemm")).size(), std::size_t{1});
    }

    void poolsAndSoftmaxNeedNoTiling()
    {
        for (const std::size_t task : {0, 2, 18})
            QVERIFY(namesWhere(Analysis(test::resnet18Tasks()[task].dag), &OpAccess::needsMultiLevelTiling).empty());
        QCOMPARE(namesWhere(Analysis(test::mobilenetTasks()[2].dag), &OpAccess::needsMultiLevelTiling),
                 (Names{"DepthwiseConv2d"}));
        QCOMPARE(namesWhere(Analysis(test::resnet18Tasks()[1].dag), &OpAccess::needsMultiLevelTiling),
                 (Names{"T_dense"}));
    }

    void softmaxExpIsExpensive()
    {
        const Analysis a(test::resnet18Tasks()[0].dag);
        QCOMPARE(namesWhere(a, &OpAccess::hasExpensiveOp), (Names{"T_softmax_exp"}));
        QCOMPARE(namesWhere(a, &OpAccess::strictlyInlineable), (Names{"T_softmax_norm"}));
        QCOMPARE(a.commonOuterIterators(find(a.dag(), "T_softmax_expsum"), find(a.dag(), "T_softmax_norm")), 1);
        QCOMPARE(a.commonOuterIterators(find(a.dag(), "T_softmax_exp"), find(a.dag(), "T_softmax_norm")),
                 1); // by way of the sum
    }

    void transposesAreNotStrictlyInlineable()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {2, 3}, DType::F32);
        const Tensor y = transpose(b, x, {1, 0});
        const Analysis a(test::finish(std::move(b), y));
        QVERIFY(a.op(1).simpleAccess);
        QVERIFY(!a.op(1).strictlyInlineable);
    }

    void aWeightWithTwoReadersKeepsItsLayout()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {4, 4}, DType::F32);
        const Tensor w = b.placeholder("w", {4, 4}, DType::F32);
        const Tensor y = b.reduce("y", {4, 4}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 4}},
                                  [&](const Exprs& a, const Exprs& r) {
                                      return b.at(x, {a[0], r[0]}) * b.at(w, {a[1], r[0]});
                                  });
        b.setAttr(y, "layout_free_placeholders", std::vector<std::string>{"w"});
        b.setAttr(w, "layout_free", std::int64_t{1});
        const Tensor z = binary(b, Binary::Add, y, w);
        const Analysis a(test::finish(std::move(b), z));
        QVERIFY(a.layoutFreePlaceholders(find(a.dag(), "y")).empty());
    }
};

LATHE_TEST(TestAnalysis)

} // namespace tst_analysis

#include "tst_analysis.moc"
