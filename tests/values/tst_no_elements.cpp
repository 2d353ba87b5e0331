#include "compiled_model.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>

namespace tst_no_elements {

using namespace lathe;
using namespace lathe::test;

namespace {

const std::vector<float> kNothing;

std::string axesInput(CompiledModel& model, const std::string& name, const std::vector<std::int64_t>& values)
{
    model.model().initializers.push_back(
        wire::tensor(name, wire::Int64, {static_cast<std::int64_t>(values.size())}, wire::ints(values)));
    return name;
}

} // namespace

/// Tensors without elements: what is made of them has none either, or is what a reduction over nothing gives.
class TestNoElements : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { skipWhereThereIsNoDevice(); }

    void outputsMayHaveNone()
    {
        CompiledModel model;
        model.input("x", wire::Float, {2, 0, 4}, kNothing);
        model.node("Relu", {"x"}, "relu");
        model.node("Identity", {"x"}, "same");
        model.node("Softmax", {"relu"}, "softmax");
        model.node("Transpose", {"x"}, "turned", wire::intsAttribute("perm", {1, 0, 2}));
        must(model.compile());
        for (const char* name : {"relu", "same", "softmax"})
            QVERIFY2(model.compiled(name).type == (graph::TensorType{DType::F32, {2, 0, 4}}), name);
        QVERIFY(model.compiled("turned").type == (graph::TensorType{DType::F32, {0, 2, 4}}));
    }

    void reductionsOverNothing()
    {
        CompiledModel model;
        model.model().opset = 18;
        model.input("x", wire::Float, {2, 0, 3}, kNothing);
        model.input("k", wire::Int32, {0}, std::vector<std::int32_t>());
        const std::string axes = axesInput(model, "axes", {1});
        for (const char* op :
             {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceLogSumExp", "ReduceL2"})
            model.node(op, {"x", axes}, op, wire::intAttribute("keepdims", 0));
        for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin"})
            model.node(op, {"k"}, std::string("whole") + op, wire::intAttribute("keepdims", 0));
        must(model.compile());
        constexpr float kInf = std::numeric_limits<float>::infinity();
        const std::map<std::string, float> wanted = {{"ReduceSum", 0},     {"ReduceProd", 1},
                                                     {"ReduceMax", -kInf}, {"ReduceMin", kInf},
                                                     {"ReduceL2", 0},      {"ReduceLogSumExp", -kInf}};
        for (const auto& [name, value] : wanted) {
            for (const auto* tensor : {&model.compiled(name), &model.evaluated(name)})
                QVERIFY2(valuesOf<float>(*tensor) == std::vector<float>(6, value), name.c_str());
        }
        for (const float mean : valuesOf<float>(model.compiled("ReduceMean")))
            QVERIFY(std::isnan(mean));
        QCOMPARE(valuesOf<std::int32_t>(model.compiled("wholeReduceSum")), std::vector<std::int32_t>{0});
        QCOMPARE(valuesOf<std::int32_t>(model.compiled("wholeReduceMax")),
                 std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min()});
        QCOMPARE(valuesOf<std::int32_t>(model.compiled("wholeReduceMin")),
                 std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::max()});
    }

    void anEmptyPartJoinsOthers()
    {
        CompiledModel model;
        model.input("x", wire::Float, {2, 0}, kNothing);
        model.input("y", wire::Float, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
        model.node("Concat", {"x", "y"}, "one", wire::intAttribute("axis", 1));
        model.node("Concat", {"y", "x", "y"}, "two", wire::intAttribute("axis", -1));
        model.node("Concat", {"x", "x"}, "none", wire::intAttribute("axis", 0));
        must(model.compile());
        QCOMPARE(valuesOf<float>(model.compiled("one")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
        QCOMPARE(valuesOf<float>(model.compiled("two")), (std::vector<float>{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
        QVERIFY(model.compiled("none").type == (graph::TensorType{DType::F32, {4, 0}}));
    }

    void productsOverNothingAreZero()
    {
        CompiledModel model;
        model.input("x", wire::Float, {2, 0}, kNothing);
        model.input("w", wire::Float, {0, 3}, kNothing);
        model.input("b", wire::Float, {3}, std::vector<float>{1, 2, 3});
        model.node("MatMul", {"x", "w"}, "product");
        model.node("Gemm", {"x", "w", "b"}, "shifted");
        must(model.compile());
        QCOMPARE(valuesOf<float>(model.compiled("product")), std::vector<float>(6, 0.0F));
        QCOMPARE(valuesOf<float>(model.compiled("shifted")), (std::vector<float>{1, 2, 3, 1, 2, 3}));
    }

    void aPartThatDoesNotFitIsStillRefused()
    {
        CompiledModel model;
        model.input("x", wire::Float, {5, 0}, kNothing);
        model.input("y", wire::Float, {2, 3}, std::vector<float>(6));
        model.node("Concat", {"x", "y"}, "one", wire::intAttribute("axis", 1));
        const auto compiled = model.compile();
        QVERIFY(!compiled && compiled.error().message.find("Concat") != std::string::npos);
    }
};

LATHE_TEST(TestNoElements)

} // namespace tst_no_elements

#include "tst_no_elements.moc"
