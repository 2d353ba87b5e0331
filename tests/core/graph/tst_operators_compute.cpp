#include "core/compute/interpret.h"
#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "operator_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_operators_compute {

using namespace lathe;
using namespace lathe::graph;
using namespace operator_cases;

namespace {

HostTensor noise(const TensorType& type, std::uint32_t seed)
{
    HostTensor tensor = HostTensor::zeros(type);
    std::vector<double> values(tensor.bytes.size() / static_cast<std::size_t>(sizeOf(type.dtype)));
    for (double& value : values) {
        seed = seed * 1664525 + 1013904223;
        const double unit = (seed >> 8) / 16777216.0;
        // Small whole numbers are valid indices and, where positive, divisors; floats are positive for log and sqrt.
        value = isFloat(type.dtype)
                    ? 0.05 + unit
                    : (type.dtype == DType::Bool
                           ? std::floor(2 * unit)
                           : std::floor(2 * unit) + (type.shape.size() == 2 && type.shape[0] == 5 ? 0 : 1));
    }
    operators::writeFloats(tensor, values);
    return tensor;
}

std::vector<Row> allRows()
{
    std::vector<Row> rows = goodRows();
    for (const OpDef* entry : allOperators()) {
        const bool seen = std::ranges::any_of(rows, [&](const Row& row) { return row.op == entry->name; });
        if (seen || !entry->compute)
            continue;
        const bool logic = entry->name.starts_with("logical");
        const TensorType plain = entry->name == "global_max_pool2d" ? kImage : f32({2, 3});
        const std::vector<TensorType> inputs(static_cast<std::size_t>(std::max(entry->minInputs, 1)),
                                             logic ? kBool : plain);
        rows.push_back({entry->name.data(), std::string(entry->name),
                        entry->name == "argmin" ? Attrs{{"axes", Ints{1}}} : Attrs{}, inputs, ""});
    }
    std::erase_if(rows, [](const Row& row) { return !findOperator(row.op)->compute; });
    return rows;
}

/// The operator's compute definition alone, its inputs as placeholders p0, p1 ...
Result<compute::DagPtr> dagOf(const Node& node, const std::vector<HostTensor>& inputs, const TensorType& output)
{
    compute::DagBuilder builder;
    std::vector<compute::Tensor> placeholders;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        placeholders.push_back(
            builder.placeholder("p" + std::to_string(i), inputs[i].type.shape, inputs[i].type.dtype));
    ComputeContext context{builder, compute::NameEra::Nested, {}, std::span(&output, 1)};
    LATHE_TRY_ASSIGN(const compute::Tensor result, findOperator(node.op)->compute(node, placeholders, context));
    return std::move(builder).finish({result});
}

} // namespace

/// Each operator is written down twice: as a compute definition, from which kernels come, and as the reference
/// executor's plain loops. Here both run and must agree.
class TestOperatorsCompute : public QObject
{
    Q_OBJECT

private slots:
    void definitionEqualsPlainEvaluation_data()
    {
        QTest::addColumn<int>("index");
        const std::vector<Row> rows = allRows();
        for (std::size_t i = 0; i < rows.size(); ++i)
            QTest::newRow(rows[i].name) << static_cast<int>(i);
    }
    void definitionEqualsPlainEvaluation()
    {
        QFETCH(int, index);
        const Row row = allRows().at(static_cast<std::size_t>(index));
        Node node;
        node.name = "n";
        node.op = row.op;
        node.attrs = row.attrs;
        node.outputs.resize(1);
        std::vector<HostTensor> inputs;
        std::vector<const HostTensor*> pointers;
        for (std::size_t i = 0; i < row.inputs.size(); ++i)
            inputs.push_back(noise(row.inputs[i], static_cast<std::uint32_t>(i + 1)));
        for (const HostTensor& input : inputs)
            pointers.push_back(&input);
        const auto expected = evaluateNode(node, pointers);
        QVERIFY2(expected, expected ? "" : expected.error().message.c_str());

        const auto dag = dagOf(node, inputs, (*expected)[0].type);
        if (!dag) { // a product with a vector is refused, and nothing else
            QVERIFY2(dag.error().code == Errc::Unsupported && QString(row.name) == "matmul vector",
                     dag.error().message.c_str());
            return;
        }
        const auto interpreter = compute::Interpreter::compile(*dag);
        QVERIFY2(interpreter, interpreter ? "" : interpreter.error().message.c_str());
        std::vector<std::span<const std::byte>> buffers;
        for (const std::int32_t input : (*dag)->inputs) {
            const std::string& name = (*dag)->ops[static_cast<std::size_t>(input)].name;
            buffers.emplace_back(inputs.at(std::stoul(name.substr(1))).bytes);
        }
        const auto run = interpreter->run(buffers);
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        const compute::Op& output = (*dag)->ops[static_cast<std::size_t>((*dag)->outputs[0])];
        QCOMPARE(typeText({output.dtype, output.shape}), typeText((*expected)[0].type));
        const auto want = operators::readFloats((*expected)[0]);
        const auto got = operators::readFloats((*run)[0].data(), output.dtype, want.size());
        for (std::size_t i = 0; i < want.size(); ++i)
            QVERIFY2((std::isnan(got[i]) && std::isnan(want[i]))
                         || std::fabs(got[i] - want[i]) <= 1e-5 * std::max(1.0, std::fabs(want[i])),
                     qPrintable(QString("at %1: %2, not %3").arg(i).arg(got[i]).arg(want[i])));
    }

    /// Floats do not tell each of more than 2^24 places: none lies behind the end.
    void longSignalsAreNotReadBehindTheirEnd()
    {
        constexpr std::int64_t kLength = (std::int64_t{1} << 24) + 4;
        HostTensor signal = HostTensor::zeros(f32({1, 1, kLength}));
        signal.as<float>()[kLength - 2] = signal.as<float>()[kLength - 1] = 7;
        HostTensor grid = HostTensor::zeros(f32({1, 3, 1}));
        grid.as<float>()[0] = 1;
        grid.as<float>()[1] = 3;
        grid.as<float>()[2] = -1;
        for (const char* const padding : {"border", "reflection", "zeros"}) {
            Node node;
            node.name = "n";
            node.op = "grid_sample";
            node.attrs = {{"mode", std::string("nearest")}, {"padding_mode", std::string(padding)}};
            node.outputs.resize(1);
            const std::vector<const HostTensor*> inputs{&signal, &grid};
            const auto plain = evaluateNode(node, inputs);
            QVERIFY2(plain, plain ? "" : plain.error().message.c_str());
            const auto dag = dagOf(node, {signal, grid}, (*plain)[0].type);
            QVERIFY2(dag, dag ? "" : dag.error().message.c_str());
            const auto compiled = compute::Interpreter::compile(*dag);
            QVERIFY2(compiled, compiled ? "" : compiled.error().message.c_str());
            std::vector<std::span<const std::byte>> views;
            for (const std::int32_t input : (*dag)->inputs)
                views.emplace_back((*dag)->ops[static_cast<std::size_t>(input)].name == "p0" ? signal.bytes
                                                                                             : grid.bytes);
            const auto results = compiled->run(views);
            QVERIFY2(results, results ? "" : results.error().message.c_str());
            const auto* const values = reinterpret_cast<const float*>((*results)[0].data());
            for (std::size_t i = 0; i < 3; ++i)
                QCOMPARE(values[i], (*plain)[0].as<float>()[i]);
            if (std::string_view(padding) == "border")
                QCOMPARE(std::pair(values[0], values[1]), std::pair(7.0F, 7.0F));
        }
    }
};

LATHE_TEST(TestOperatorsCompute)

} // namespace tst_operators_compute

#include "tst_operators_compute.moc"
