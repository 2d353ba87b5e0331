// Values whose size depends on data, as files have them that are odd or mean harm. What ONNX Runtime makes of sound
// ones is in tests/values/tst_sized_results.

#include "core/frontend/onnx.h"
#include "core/frontend/output_softmax.h"
#include "core/graph/passes.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QTest>

#include <cmath>

namespace tst_onnx_sized {

using namespace lathe;

namespace {

using Texts = std::vector<std::string>;

constexpr std::int64_t kHuge = std::int64_t{1} << 32;

std::string vector(const std::string& name, const std::vector<std::int64_t>& values)
{
    return wire::tensor(name, wire::Int64, {static_cast<std::int64_t>(values.size())}, wire::ints(values));
}

std::string whole(const std::string& name, std::int64_t value)
{
    return wire::tensor(name, wire::Int64, {}, wire::ints({value}));
}

Result<graph::Graph> importModel(const wire::Model& model)
{
    const std::string text = model.write();
    return frontend::importOnnx(std::as_bytes(std::span(text)));
}

/// A network whose first node makes "p" [2, how many elements of x are not zero].
wire::Model positions(const Texts& nodes, const Texts& initializers = {}, wire::DataType type = wire::Float)
{
    wire::Model model{{wire::node("NonZero", {"x"}, {"p"})}, initializers, {wire::info("x", {2, 3}, type)}, {}, 17};
    model.nodes.insert(model.nodes.end(), nodes.begin(), nodes.end());
    model.outputs = {wire::info("y", {})};
    return model;
}

template<typename T>
graph::HostTensor hostTensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<T>& values)
{
    graph::HostTensor tensor = graph::HostTensor::zeros({dtype, std::move(shape)});
    std::ranges::copy(values, tensor.as<T>().begin());
    return tensor;
}

std::string messageOf(const Result<graph::Graph>& result)
{
    return result ? "no error" : std::string(toString(result.error().code)) + ": " + result.error().message;
}

} // namespace

class TestOnnxSized : public QObject
{
    Q_OBJECT

private slots:
    /// Shapes are vectors of integers, and go through operators that change only how the numbers lie.
    void aShapeMayBeFlattened()
    {
        const auto g = importModel(positions(
            {wire::node("Shape", {"p"}, {"s"}), wire::node("Flatten", {"s"}, {"f"}, {}, wire::intAttribute("axis", 0)),
             wire::node("Reshape", {"f", "one"}, {"t"}), wire::node("Expand", {"zero", "t"}, {"y"})},
            {vector("one", {-1}), vector("zero", {0})}));
        QVERIFY2(g, messageOf(g).c_str());
        const auto y = graph::interpret(*g, {hostTensor<float>(DType::F32, {2, 3}, {1, 0, 2, 0, 0, 3})});
        QVERIFY2(y, y ? "" : y.error().message.c_str());
        QCOMPARE((*y)[0].type.shape, (std::vector<std::int64_t>{2, 3}));
    }

    /// Each rule is asked too where only numbers of shapes go in.
    void rulesTakeNumbersOfShapes_data()
    {
        QTest::addColumn<QString>("op");
        for (const char* op :
             {"ArgMax", "Cast", "Concat", "Flatten", "GlobalMaxPool", "Identity", "NonZero", "ReduceMax", "ReduceMean",
              "ReduceSum", "Shape", "Size", "Softmax", "Squeeze", "Transpose", "Unsqueeze"})
            QTest::newRow(op) << QString(op);
    }
    void rulesTakeNumbersOfShapes()
    {
        QFETCH(QString, op);
        wire::Model model = positions({wire::node("Shape", {"p"}, {"s"}), wire::node(op.toStdString(), {"s"}, {"y"})});
        const auto g = importModel(model); // right or wrong, but an answer
        QVERIFY(g || !g.error().message.empty());
    }

    void extentsBeyondAllAreRefused_data()
    {
        QTest::addColumn<QList<qint64>>("shape");
        QTest::newRow("a product of 0") << QList<qint64>{kHuge, kHuge, -1};
        QTest::newRow("a product below 0") << QList<qint64>{std::int64_t{1} << 62, 2, -1};
        QTest::newRow("in front of what stays") << QList<qint64>{kHuge, kHuge, 0, -1};
        QTest::newRow("less than nothing") << QList<qint64>{-3, std::numeric_limits<std::int64_t>::min(), -1};
    }
    void extentsBeyondAllAreRefused()
    {
        QFETCH(QList<qint64>, shape);
        const auto g = importModel(
            positions({wire::node("Reshape", {"p", "wanted"}, {"y"}, "shaped")},
                      {vector("wanted", std::vector<std::int64_t>(shape.begin(), shape.end()))}));
        QVERIFY(!g);
        QVERIFY2(g.error().code == Errc::Unsupported || g.error().code == Errc::BadFile, messageOf(g).c_str());
    }

    void absentInputsAreNamed_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<QStringList>("inputs");
        QTest::addColumn<QString>("part");
        const auto row = [](const char* name, const char* op, const QStringList& inputs, const char* part) {
            QTest::newRow(name) << QString(op) << inputs << QString(part);
        };
        for (const char* op : {"MatMul", "Gemm", "Gather", "GatherElements", "GatherND", "Div", "Mod"}) {
            row(op, op, {"n"}, "input 1 is missing");
            row(QByteArray(op) + ", the first one", op, {"", "n"}, "input 0 is missing");
        }
        row("Range without ends", "Range", {"", "count", ""}, "input 0 is missing");
        row("Range without a step", "Range", {"zero", "count"}, "input 2 is missing");
        row("Concat of nothing", "Concat", {"", "n"}, "input 0 is missing");
        row("Add of one", "Add", {"n"}, "input 1 is missing");
        row("Where of nothing", "Where", {"", "n", "n"}, "input 0 is missing");
        row("Conv of nothing", "Conv", {"", "n"}, "input 0 is missing");
        row("Softmax of nothing", "LayerNormalization", {"", "n"}, "input 0 is missing");
        row("TopK of nothing", "TopK", {"", "n"}, "input 0 is missing");
        row("Slice of nothing", "Slice", {"", "n", "n"}, "input 0 is missing");
        row("Reshape of nothing", "Reshape", {"", "n"}, "input 0 is missing");
        row("CumSum of nothing", "CumSum", {"", "n"}, "input 0 is missing");
        row("RoiAlign of nothing", "RoiAlign", {"", "n", "n"}, "input 0 is missing");
        row("Expand of nothing", "Expand", {"", "n"}, "input 0 is missing");
        row("ReduceSum of nothing", "ReduceSum", {"", "n"}, "input 0 is missing");
        row("Tile of nothing", "Tile", {"", "n"}, "input 0 is missing");
    }
    void absentInputsAreNamed()
    {
        QFETCH(QString, op);
        QFETCH(QStringList, inputs);
        QFETCH(QString, part);
        Texts names;
        for (const QString& name : inputs)
            names.push_back(name.toStdString());
        const auto g = importModel(
            positions({wire::node("Identity", {"p"}, {"n"}), wire::node("Shape", {"p"}, {"s"}),
                       wire::node("Gather", {"s", "last"}, {"count"}),
                       wire::node(op.toStdString(), names, {"y"}, "node", wire::intAttribute("axis", 0))},
                      {whole("last", 1), whole("zero", 0)}));
        QVERIFY2(messageOf(g).starts_with("BadFile") && QString::fromStdString(messageOf(g)).contains(part),
                 messageOf(g).c_str());
    }

    /// The mean of what a condition picked, in the numbers' own precision.
    void aMeanOfDoublesIsDouble()
    {
        wire::Model model = positions(
            {wire::node("Transpose", {"p"}, {"at"}), wire::node("GatherND", {"x", "at"}, {"g"}),
             wire::node("ReduceMean", {"g"}, {"y"}, "mean", wire::intAttribute("keepdims", 0))},
            {}, wire::Double);
        const auto g = importModel(model);
        QVERIFY2(g, messageOf(g).c_str());
        const auto mean = [&](const std::vector<double>& x) {
            const auto y = graph::interpret(*g, {hostTensor<double>(DType::F64, {2, 3}, x)});
            return y ? (*y)[0].as<double>()[0] : std::nan("");
        };
        QCOMPARE(mean({1e300, 0, 3e300, 0, 0, 0}), 2e300);
        QCOMPARE(mean({1, 0, 1 + 1e-12, 0, 0, 0}), 1 + 5e-13);
    }

    /// A softmax that is appended sees no more of an output than there is of it.
    void anAppendedSoftmaxEndsWithItsRow()
    {
        wire::Model model{{wire::node("Compress", {"x", "keep"}, {"y"}, "pick", wire::intAttribute("axis", 0))},
                          {},
                          {wire::info("x", {4}), wire::info("keep", {4}, wire::Bool)},
                          {wire::info("y", {})},
                          17};
        const auto g = importModel(model);
        QVERIFY2(g, messageOf(g).c_str());
        std::vector<Message> notes;
        const auto softened = frontend::appendSoftmax(*g, notes);
        QVERIFY2(softened, messageOf(softened).c_str());
        const auto results = graph::interpret(*softened, {hostTensor<float>(DType::F32, {4}, {-20, -7, -21, -7}),
                                                          hostTensor<std::uint8_t>(DType::Bool, {4}, {1, 0, 1, 0})});
        QVERIFY2(results, results ? "" : results.error().message.c_str());
        const graph::HostTensor& y = (*results)[0];
        QCOMPARE(y.type.shape, std::vector<std::int64_t>{2});
        const float first = static_cast<float>(1 / (1 + std::exp(-1.0)));
        QCOMPARE(y.as<float>()[0], first);
        QCOMPARE(y.as<float>()[1], 1 - first);
    }

    /// What an importer writes out in constants is in proportion to the file, however large its inputs are said to be.
    void constantsAreInProportionToTheFile()
    {
        const auto refusal = [](const wire::Model& model) { return messageOf(importModel(model)); };
        wire::Model model = positions({wire::node("ReduceSum", {"p"}, {"y"})});
        model.inputs = {wire::info("x", {std::int64_t{1} << 26})};
        QVERIFY2(refusal(model).find("far larger than the file") != std::string::npos, refusal(model).c_str());
        model = positions({wire::node("Concat", {"p", "p"}, {"y"}, "join", wire::intAttribute("axis", 1))});
        model.inputs = {wire::info("x", {std::int64_t{1} << 26})};
        QVERIFY2(refusal(model).find("far larger than the file") != std::string::npos, refusal(model).c_str());
        // A hundred words that share a column, beside one that makes for a million of them.
        std::vector<std::int64_t> words, columns(100, 0);
        for (std::int64_t word = 0; word <= 100; ++word)
            words.push_back(word);
        columns.push_back(1 << 20);
        const std::string attributes = wire::intsAttribute("ngram_counts", {0})
                                       + wire::intsAttribute("pool_int64s", words)
                                       + wire::intsAttribute("ngram_indexes", columns)
                                       + wire::textAttribute("mode", "TF") + wire::intAttribute("min_gram_length", 1)
                                       + wire::intAttribute("max_gram_length", 1)
                                       + wire::intAttribute("max_skip_count", 0);
        model.nodes = {wire::node("TfIdfVectorizer", {"x"}, {"y"}, "words", attributes)};
        model.inputs = {wire::info("x", {7}, wire::Int64)};
        QVERIFY2(refusal(model).find("far larger than the file") != std::string::npos, refusal(model).c_str());
    }

    /// Counts from which something is taken may be below 0.
    void numbersBelowZeroAreTakenAsTheStandardSays()
    {
        const auto shapeFor = [](const Texts& nodes, const Texts& initializers, std::vector<float> x) {
            Texts all = {wire::node("Shape", {"p"}, {"s"}), wire::node("Gather", {"s", "one"}, {"n"})};
            all.insert(all.end(), nodes.begin(), nodes.end());
            Texts constants = {vector("one", {1}), vector("zero", {0})};
            constants.insert(constants.end(), initializers.begin(), initializers.end());
            const auto g = importModel(positions(all, constants));
            const auto y = g ? graph::interpret(*g, {hostTensor<float>(DType::F32, {2, 3}, x)})
                             : Result<std::vector<graph::HostTensor>>(g.error());
            return y ? (*y)[0].type.shape : std::vector<std::int64_t>{-1};
        };
        // An end below 0 is one from the end: of five, up to n - 4.
        const Texts slice = {wire::node("Sub", {"n", "four"}, {"end"}),
                             wire::node("Slice", {"five", "zero", "end"}, {"y"})};
        const Texts constants = {vector("four", {4}), vector("five", {1, 2, 3, 4, 5})};
        QCOMPARE(shapeFor(slice, constants, {1, 1, 1, 0, 0, 0}), std::vector<std::int64_t>{4});
        QCOMPARE(shapeFor(slice, constants, {1, 1, 1, 1, 1, 1}), std::vector<std::int64_t>{2});
        QCOMPARE(shapeFor(slice, constants, {1, 1, 1, 1, 0, 0}), std::vector<std::int64_t>{0});
        // The square of n - 4 is largest where n is 0.
        const Texts square = {wire::node("Sub", {"n", "four"}, {"less"}), wire::node("Mul", {"less", "less"}, {"area"}),
                              wire::node("ConstantOfShape", {"area"}, {"y"})};
        QCOMPARE(shapeFor(square, constants, {0, 0, 0, 0, 0, 0}), std::vector<std::int64_t>{16});
        QCOMPARE(shapeFor(square, constants, {1, 1, 1, 1, 1, 1}), std::vector<std::int64_t>{4});
        // That of 1 - n where n is largest.
        const Texts other = {wire::node("Sub", {"one", "n"}, {"less"}), wire::node("Mul", {"less", "less"}, {"area"}),
                             wire::node("ConstantOfShape", {"area"}, {"y"})};
        QCOMPARE(shapeFor(other, constants, {1, 1, 1, 1, 1, 1}), std::vector<std::int64_t>{25});
        // Numbers at the ends do not wrap around.
        const Texts far = {wire::node("Sub", {"n", "lowest"}, {"f"}), wire::node("ConstantOfShape", {"f"}, {"y"})};
        QCOMPARE(shapeFor(far, {vector("lowest", {std::numeric_limits<std::int64_t>::min()})}, {0, 0, 0, 0, 0, 0}),
                 std::vector<std::int64_t>{-1});
    }
};

LATHE_TEST(TestOnnxSized)

} // namespace tst_onnx_sized

#include "tst_onnx_sized.moc"
