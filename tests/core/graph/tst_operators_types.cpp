#include "core/graph/node_types.h"
#include "core/graph/passes.h"
#include "operator_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>

namespace tst_operators_types {

using namespace lathe;
using namespace lathe::graph;
using namespace operator_cases;

namespace {

/// The inferred types as text, or the error's message.
std::string infer(std::string op, Attrs attrs, const std::vector<TensorType>& inputs, std::size_t outputs = 1)
{
    Node node;
    node.name = "n";
    node.op = std::move(op);
    node.attrs = std::move(attrs);
    node.outputs.resize(outputs);
    const std::vector<const ConstData*> constants(inputs.size(), nullptr);
    const auto types = nodeTypes(node, inputs, constants);
    if (!types)
        return types.error().message;
    std::string text;
    for (const TensorType& type : *types)
        text += (text.empty() ? "" : ", ") + typeText(type);
    return text;
}

std::vector<Row> badRows()
{
    const Attrs pool3{{"pool_size", Ints{3, 3}}};
    return {
        {"unknown operator", "convolve", {}, {kImage}, "convolve, which does not exist"},
        {"input count", "conv2d", {}, {kImage}, "takes 2 inputs, but has 1"},
        {"output count", "relu", {}, {kImage}, "has 1 output, but the graph names 2", 2},
        {"quantize to int32", "quantize", {{"dtype", std::string("int32")}}, {f32({2}), f32({})}, "8 or 16 bits"},
        {"quantize zero", "quantize", {}, {f32({2}), f32({}), {DType::I8, {}}}, "zero point must be uint8"},
        {"quantize scale", "quantize", {}, {f32({2, 3}), f32({2})}, "do not broadcast"},
        {"requantize floats", "requantize", {}, {f32({2}), f32({})}, "sums must be int32"},
        {"dequantize longs", "dequantize", {}, {kLong, f32({})}, "data must be integers of 8, 16 or 32 bits"},
        {"conv rank", "conv2d", {}, {f32({1, 2, 3}), f32({1, 1, 1, 1})}, "data must have 4 dimensions"},
        {"conv channels",
         "conv2d",
         {},
         {kImage, f32({4, 3, 1, 1})},
         "takes 3 channels in each of 1 groups, data has 8"},
        {"conv groups", "conv2d", {{"groups", std::int64_t{3}}}, {kImage, f32({3, 8, 1, 1})}, "groups 3 must divide"},
        {"conv kernel", "conv2d", {}, {kImage, f32({1, 8, 15, 1})}, "reaches over 15 rows, the padded data has 14"},
        {"conv types", "conv2d", {}, {kImage, {DType::F16, {1, 8, 1, 1}}}, "data is float32 and weight is float16"},
        {"conv strides", "conv2d", {{"strides", Ints{1}}}, {kImage, f32({1, 8, 1, 1})}, "strides must have 2 entries"},
        {"conv stride 0", "conv2d", {{"strides", Ints{0, 1}}}, {kImage, f32({1, 8, 1, 1})}, "it holds 0"},
        {"conv layout",
         "conv2d",
         {{"layout", std::string("NCWH")}},
         {kImage, f32({1, 8, 1, 1})},
         "layout must be NCHW or NHWC"},
        {"kernel layout",
         "conv2d",
         {{"kernel_layout", std::string("OOHW")}},
         {kImage, f32({1, 8, 1, 1})},
         "kernel_layout must order"},
        {"volume rank", "conv3d", {}, {kImage, f32({1, 8, 1, 1})}, "data must have 5 dimensions"},
        {"volume layout",
         "conv3d",
         {{"layout", std::string("NHWC")}},
         {kVolume, f32({1, 4, 1, 1, 1})},
         "layout must be NCDHW or NDHWC"},
        {"volume kernel",
         "conv3d",
         {},
         {kVolume, f32({1, 4, 7, 1, 1})},
         "reaches over 7 slices, the padded data has 6"},
        {"volume kernel layout",
         "conv3d",
         {{"kernel_layout", std::string("OIHW")}},
         {kVolume, f32({1, 4, 1, 1, 1})},
         "the letters O, I, D, H and W"},
        {"volume strides",
         "max_pool3d",
         {{"pool_size", Ints{1, 1, 1}}, {"strides", Ints{1, 1}}},
         {kVolume},
         "strides must have 3 entries"},
        {"attribute type",
         "conv2d",
         {{"groups", std::string("two")}},
         {kImage, f32({1, 8, 1, 1})},
         "groups must be an integer"},
        {"HWOI multiplier",
         "conv2d",
         {{"layout", std::string("NHWC")}, {"kernel_layout", std::string("HWOI")}, {"groups", std::int64_t{8}}},
         {kImageLast, f32({3, 3, 16, 1})},
         "one filter in each channel"},
        {"output padding",
         "conv2d_transpose",
         {{"output_padding", Ints{1, 0}}},
         {kImage, f32({8, 1, 1, 1})},
         "smaller than stride"},
        {"dense", "dense", {}, {f32({5, 4}), f32({7, 3})}, "4 columns meet 3 rows"},
        {"pool padding",
         "max_pool2d",
         {{"pool_size", Ints{2, 2}}, {"padding", Ints{2, 0, 0, 0}}},
         {kImage},
         "smaller than the pool"},
        {"pool size missing", "max_pool2d", {}, {kImage}, "pool_size must have 2 entries"},
        {"pool too large", "max_pool2d", pool3, {f32({1, 1, 2, 5})}, "the pool reaches over 3 rows"},
        {"bias length", "bias_add", {}, {kImage, f32({7})}, "one value for each of the 8 entries"},
        {"batch norm of integers",
         "batch_norm",
         {},
         {{DType::I32, {1, 2}}, {DType::I32, {2}}, {DType::I32, {2}}, {DType::I32, {2}}, {DType::I32, {2}}},
         "floating point"},
        {"broadcast", "add", {}, {f32({2, 3}), f32({4, 3})}, "2 meets 4"},
        {"mixed types", "multiply", {}, {f32({2, 3}), kLong}, "input 0 is float32 and input 1 is int64"},
        {"bool arithmetic", "add", {}, {kBool, kBool}, "must be numbers"},
        {"logic on numbers", "logical_and", {}, {kLong, kLong}, "must be bool"},
        {"exp of integers", "exp", {}, {kLong}, "floating point"},
        {"where condition", "where", {}, {kLong, kLong, kLong}, "condition must be bool"},
        {"cast without type", "cast", {}, {kLong}, "dtype is missing"},
        {"cast to nonsense", "cast", {{"dtype", std::string("float31")}}, {kLong}, "must name an element type"},
        {"softmax axis", "softmax", {{"axis", std::int64_t{2}}}, {f32({2, 3})}, "axis 2 is outside"},
        {"reshape count", "reshape", {{"newshape", Ints{4, 2}}}, {f32({2, 3})}, "has 8 elements, input [2, 3] has 6"},
        {"reshape two open", "reshape", {{"newshape", Ints{-1, -1}}}, {f32({2, 3})}, "one -1"},
        {"reshape overflow",
         "reshape",
         {{"newshape", Ints{std::int64_t{1} << 40, std::int64_t{1} << 40}}},
         {f32({2, 3})},
         "2^40"},
        {"squeeze", "squeeze", {{"axes", Ints{0}}}, {f32({2, 3})}, "its extent is 2"},
        {"transpose twice", "transpose", {{"axes", Ints{0, 0}}}, {f32({2, 3})}, "one dimension twice"},
        {"broadcast_to", "broadcast_to", {{"shape", Ints{2, 3}}}, {f32({2, 2})}, "do not broadcast"},
        {"concatenate", "concatenate", {}, {f32({2, 3}), f32({2, 4})}, "does not join"},
        {"split",
         "split",
         {{"sections", std::int64_t{4}}, {"axis", std::int64_t{1}}},
         {f32({2, 6})},
         "4 sections do not divide",
         4},
        {"split falls", "split", {{"indices", Ints{4, 1}}, {"axis", std::int64_t{1}}}, {f32({2, 6})}, "must rise", 3},
        {"reflect",
         "pad",
         {{"pad_width", Ints{0, 0, 3, 0}}, {"mode", std::string("reflect")}},
         {f32({2, 3})},
         "reflects more"},
        {"pad mode", "pad", {{"pad_width", Ints{0, 0}}, {"mode", std::string("wrap")}}, {f32({2})}, "mode must be"},
        {"slice stride",
         "strided_slice",
         {{"begin", Ints{0}}, {"end", Ints{1}}, {"strides", Ints{0}}},
         {f32({2})},
         "must not be 0"},
        {"slice lengths", "strided_slice", {{"begin", Ints{0}}, {"end", Ints{1, 2}}}, {f32({2, 2})}, "one length"},
        {"take", "take", {}, {f32({2}), f32({1})}, "indices must be integers"},
        {"mean axis", "mean", {{"axes", Ints{5}}}, {f32({2})}, "axis 5"},
        {"mean of no integers", "mean", {{"axes", Ints{1}}}, {{DType::I64, {2, 0}}}, "no mean of no integers"},
        {"bits of floats", "bitwise_and", {}, {f32({2}), f32({2})}, "must be integers, they are float32"},
        {"shift of signed numbers", "left_shift", {}, {kLong, kLong}, "must be unsigned integers, they are int64"},
        {"grid of too few coordinates", "grid_sample", {}, {kImage, f32({1, 5, 3, 3})}, "a place of 2 coordinates"},
        {"cubic volume",
         "grid_sample",
         {{"mode", std::string("cubic")}},
         {kVolume, f32({1, 2, 2, 2, 3})},
         "mode cubic is for images alone"},
        {"regions without corners", "roi_max_pool", {}, {kImage, f32({3, 4})}, "must have 5 columns"},
        {"adaptive maximum",
         "roi_align",
         {{"maximum", std::int64_t{1}}},
         {kImage, f32({3, 4}), {DType::I64, {3}}},
         "needs their number"},
        {"offsets of other windows",
         "deformed_columns",
         {{"kernel_size", Ints{3, 3}}},
         {kImage, f32({1, 18, 3, 3})},
         "at 12 by 10 windows"},
        {"columns that do not fit",
         "columns_to_image",
         {{"image_shape", Ints{4, 4}}, {"kernel_size", Ints{2, 2}}},
         {f32({1, 4, 8})},
         "a multiple of 4 rows and 9 columns"},
        {"columns of windows beyond all memory",
         "columns_to_image",
         {{"image_shape", Ints(4, 1 << 20)}, {"kernel_size", Ints(4, 1 << 20)}},
         {f32({1, 4, 8})},
         "has more than 2^40 elements"},
        {"columns of an image beyond all memory",
         "columns_to_image",
         {{"image_shape", Ints(4, 1 << 20)}, {"kernel_size", Ints(4, 1)}},
         {f32({1, 4, 8})},
         "has more than 2^40 elements"},
        {"argmax axes", "argmax", {}, {f32({2})}, "must name one dimension"},
        {"too large", "broadcast_to", {{"shape", Ints{1 << 30, 1 << 30}}}, {f32({1})}, "2^40"},
    };
}

} // namespace

class TestOperatorsTypes : public QObject
{
    Q_OBJECT

private slots:
    void shapeRulesGiveTypes_data() { addRows(goodRows()); }
    void shapeRulesGiveTypes()
    {
        QFETCH(int, index);
        const Row row = goodRows().at(static_cast<std::size_t>(index));
        QCOMPARE(QString::fromStdString(infer(row.op, row.attrs, row.inputs, row.outputs)), QString(row.expected));
    }

    void brokenRulesAreNamed_data() { addRows(badRows()); }
    void brokenRulesAreNamed()
    {
        QFETCH(int, index);
        const Row row = badRows().at(static_cast<std::size_t>(index));
        const QString text = QString::fromStdString(infer(row.op, row.attrs, row.inputs, row.outputs));
        QVERIFY2(text.contains(row.expected), qPrintable(text));
        QVERIFY2(text.contains("\"n\""), qPrintable(text)); // and the node
    }

    void everyOperatorHasRuleAndEvaluation()
    {
        for (const OpDef* entry : allOperators()) {
            QVERIFY2(entry->inferTypes && entry->evaluate, std::string(entry->name).c_str());
            QCOMPARE(findOperator(entry->name), entry);
        }
    }

    /// What is left without either is rewritten before tasks are cut, or has several outputs.
    void everyOtherOperatorHasAComputeDefinitionOrAFunction()
    {
        const std::set<std::string_view> without{"batch_norm", "branch_begin", "branch_end", "dropout", "if",
                                                 "loop",       "loop_begin",   "loop_end",   "split"};
        for (const OpDef* entry : allOperators()) {
            QVERIFY2((entry->compute || entry->function) != without.contains(entry->name),
                     std::string(entry->name).c_str());
            QVERIFY2(!entry->compute || !entry->function, std::string(entry->name).c_str());
        }
    }

private:
    static void addRows(const std::vector<Row>& rows)
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < rows.size(); ++i)
            QTest::newRow(rows[i].name) << static_cast<int>(i);
    }
};

LATHE_TEST(TestOperatorsTypes)

} // namespace tst_operators_types

#include "tst_operators_types.moc"
