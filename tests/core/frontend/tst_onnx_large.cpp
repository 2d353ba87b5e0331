#include "core/frontend/onnx.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/support/files.h"
#include "core/target/target.h"
#include "tests/support/own_bytes.h"
#include "tests/support/test_program.h"
#include "wire_writer.h"

#include <QTest>

#include <chrono>
#include <cmath>
#include <fstream>

namespace tst_onnx_large {

using namespace lathe;
using frontend::importOnnx;
using frontend::ImportOptions;
using test::ownBytes;

namespace {

constexpr std::int64_t kSide = 1024;
constexpr std::int64_t kMatrixBytes = kSide * kSide * 4;

std::string at(std::int64_t offset)
{
    return std::to_string(offset);
}

void putFloat(const std::filesystem::path& file, std::int64_t offset, float value)
{
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(offset);
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

/// x [1, 1024] through `count` matrices in "w.bin", which takes no room on the disk; every other is stored by rows of
/// outputs.
std::string chain(int count)
{
    wire::Model model;
    model.inputs = {wire::info("x", {1, kSide})};
    std::string last = "x";
    for (int i = 0; i < count; ++i) {
        const std::string weight = "w" + std::to_string(i), product = "p" + std::to_string(i),
                          next = "y" + std::to_string(i);
        model.initializers.push_back(
            wire::external(weight, {kSide, kSide},
                           {{"location", "w.bin"}, {"offset", at(i * kMatrixBytes)}, {"length", at(kMatrixBytes)}}));
        if (i % 2 == 0)
            model.nodes.push_back(wire::node("MatMul", {last, weight}, {product}));
        else
            model.nodes.push_back(wire::node("Gemm", {last, weight}, {product}, {}, wire::intAttribute("transB", 1)));
        model.nodes.push_back(wire::node("Relu", {product}, {next}));
        last = next;
    }
    model.outputs = {wire::info(last, {})};
    return model.write();
}

QString messageOf(const Result<graph::Graph>& result)
{
    return result ? QString("no error") : QString::fromStdString(result.error().message);
}

int largeConstants(const graph::Graph& graph, bool inFileOnly)
{
    int count = 0;
    for (const graph::Value& value : graph.values)
        count += value.constant && value.constant->bytes >= graph::kLargeConstant
                 && (!inFileOnly || value.constant->inFile());
    return count;
}

std::vector<float> floatsOf(const graph::ConstData& constant)
{
    const auto held = graph::contentsOf(constant);
    std::vector<float> values(held ? held->bytes.size() / sizeof(float) : 0);
    if (!values.empty())
        std::memcpy(values.data(), held->bytes.data(), held->bytes.size());
    return values;
}

graph::HostTensor ramp(const graph::Value& input)
{
    graph::HostTensor x = graph::HostTensor::zeros({DType::F32, input.shape});
    for (std::size_t i = 0; i < x.as<float>().size(); ++i)
        x.as<float>()[i] = 0.01F * static_cast<float>(i % 37) - 0.1F;
    return x;
}

/// A matrix and a vector inside of the file; the matrix lies at an odd place.
wire::Model smallNetwork()
{
    std::vector<float> matrix;
    for (int i = 0; i < 12; ++i)
        matrix.push_back(0.5F * static_cast<float>(i) - 2);
    return {{wire::node("MatMul", {"x", "w"}, {"t"}), wire::node("Add", {"t", "b"}, {"y"})},
            {wire::tensor("w", wire::Float, {4, 3}, wire::floats(matrix)),
             wire::tensor("b", wire::Float, {3}, wire::floats({1, 2, 3}))},
            {wire::info("x", {2, 4})},
            {wire::info("y", {})},
            17};
}

} // namespace

/// Networks of gigabytes: weights stay in the files that hold them, from import through the passes.
class TestOnnxLarge : public QObject
{
    Q_OBJECT

private slots:
    void externalWeightsAreCopiedByNothing()
    {
        constexpr int kCount = 48; // 192 MiB
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto weights = dir->path() / "w.bin";
        std::ofstream(weights, std::ios::binary).close();
        std::filesystem::resize_file(weights, kCount * kMatrixBytes);
        putFloat(weights, (1 * kSide + 2) * 4, 7); // w0[1][2]
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", chain(kCount)));
        const std::int64_t before = ownBytes();
        QVERIFY(before > 0);

        ImportOptions options;
        options.mapFrom = kCount * kMatrixBytes;
        auto imported = importOnnx(dir->path() / "m.onnx", options);
        QVERIFY2(imported, qPrintable(messageOf(imported)));
        QCOMPARE(largeConstants(*imported, true), kCount);
        const std::byte* first = nullptr;
        int seen = 0; // those that are stored as a dense layer wants them; the others are made from the file
        for (const graph::Value& value : imported->values) {
            if (!value.constant || !value.name.starts_with("w"))
                continue;
            QVERIFY(value.constant->mapped);
            first = first == nullptr ? value.constant->data : first;
            QCOMPARE(value.constant->data - first,
                     2 * seen++ * kMatrixBytes); // where the file says, one mapping for all
        }
        QCOMPARE(seen, kCount / 2);

        const auto optimized = graph::optimize(*imported, *Target::parse("cpu"));
        QVERIFY2(optimized, qPrintable(messageOf(optimized)));
        QCOMPARE(largeConstants(*optimized, false), kCount);
        QCOMPARE(largeConstants(*optimized, true), kCount);
        const std::int64_t grown = ownBytes() - before;
        QVERIFY2(grown < kCount * kMatrixBytes / 4, qPrintable(QString("%1 MiB were copied").arg(grown >> 20)));

        const graph::Node& dense = optimized->nodes[0];
        QCOMPARE(dense.op, std::string("dense"));
        const std::vector<float> turned = floatsOf(*optimized->value(dense.inputs[1]).constant);
        QCOMPARE(turned.size(), static_cast<std::size_t>(kSide * kSide));
        QCOMPARE(turned[2 * kSide + 1], 7.0F);
        QCOMPARE(turned[1 * kSide + 2], 0.0F);
    }

    void smallFilesMayBeWrittenAnewWhileTheNetworkIsOpen_data()
    {
        QTest::addColumn<int>("less");
        QTest::newRow("copied") << 0;
        QTest::newRow("one is mapped") << 1; // the first is copied, then there is no room for the second
    }
    void smallFilesMayBeWrittenAnewWhileTheNetworkIsOpen()
    {
        QFETCH(int, less);
        auto dir = TempDir::create();
        QVERIFY(dir);
        wire::Model model;
        model.inputs = {wire::info("x", {1, kSide})};
        for (const std::string name : {"a", "b"}) {
            QVERIFY(writeFileAtomically(dir->path() / name, std::string(kMatrixBytes, name[0])));
            model.initializers.push_back(wire::external(name, {kSide, kSide}, {{"location", name}}));
        }
        model.nodes = {wire::node("MatMul", {"x", "a"}, {"t"}), wire::node("MatMul", {"t", "b"}, {"y"})};
        model.outputs = {wire::info("y", {})};
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", model.write()));
        ImportOptions options;
        options.mapFrom = static_cast<std::size_t>(2 * kMatrixBytes + 1 - less);
        const auto imported = importOnnx(dir->path() / "m.onnx", options);
        QVERIFY2(imported, qPrintable(messageOf(imported)));
        for (const std::string name : {"a", "b"}) {
            std::fstream(dir->path() / name, std::ios::binary | std::ios::in | std::ios::out) << "new!";
            for (const graph::Value& value : imported->values) {
                if (!value.constant || value.name != name)
                    continue;
                QVERIFY(value.constant->mapped); // no pass need copy it, wherever it lies
                QCOMPARE(char(value.constant->data[0]), name == "b" && less == 1 ? 'n' : name[0]);
            }
        }
    }

    void aFileThatIsCutShortGivesAnError_data()
    {
        QTest::addColumn<bool>("written");
        QTest::newRow("truncated") << false;
        QTest::newRow("written to") << true;
    }
    void aFileThatIsCutShortGivesAnError()
    {
        QFETCH(bool, written);
        constexpr int kCount = 3;
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto weights = dir->path() / "w.bin";
        std::ofstream(weights, std::ios::binary).close();
        std::filesystem::resize_file(weights, kCount * kMatrixBytes);
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", chain(kCount)));
        ImportOptions options;
        options.mapFrom = kMatrixBytes;
        const auto imported = importOnnx(dir->path() / "m.onnx", options);
        QVERIFY2(imported, qPrintable(messageOf(imported)));
        const auto optimized = graph::optimize(*imported, *Target::parse("cpu"));
        QVERIFY2(optimized, qPrintable(messageOf(optimized)));
        if (written)
            std::filesystem::last_write_time(weights,
                                             std::filesystem::last_write_time(weights) + std::chrono::seconds(5));
        else
            std::filesystem::resize_file(weights, kMatrixBytes / 2);
        const std::string said = weights.string()
                                 + (written ? " was changed while it was open: open it again"
                                            : " was truncated while it was open");
        int looked = 0;
        for (const graph::Graph* network : {&*imported, &*optimized}) { // views of the file, and what is made of them
            for (const graph::Value& value : network->values) {
                if (!value.constant || value.constant->bytes < graph::kLargeConstant)
                    continue;
                looked += 1;
                const auto contents = graph::contentsOf(*value.constant);
                QVERIFY(!contents);
                QVERIFY(contents.error().code == Errc::BadFile);
                QVERIFY2(contents.error().message.find(said) != std::string::npos, contents.error().message.c_str());
            }
            std::vector<graph::HostTensor> inputs;
            for (const graph::ValueId id : network->inputs)
                inputs.push_back(graph::HostTensor::zeros({network->value(id).dtype, network->value(id).shape}));
            const auto evaluated = graph::interpret(*network, std::move(inputs));
            QVERIFY(!evaluated);
            QVERIFY2(evaluated.error().message.find(said) != std::string::npos, evaluated.error().message.c_str());
        }
        QCOMPARE(looked, 2 * kCount);
    }

    void halfFloatsInAFileAreWidenedWhenTheyAreLookedAt()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto weights = dir->path() / "w.bin";
        std::ofstream(weights, std::ios::binary).close();
        std::filesystem::resize_file(weights, 2 + kSide * kSide * 2);
        {
            std::fstream out(weights, std::ios::binary | std::ios::in | std::ios::out);
            const std::uint16_t half = graph::operators::floatToHalf(-1.5F);
            out.seekp(2 + 2 * (3 * kSide + 5)); // w[3][5]
            out.write(reinterpret_cast<const char*>(&half), sizeof half);
        }
        wire::Model model;
        model.inputs = {wire::info("x", {1, kSide}, wire::Float16)};
        model.initializers = {
            wire::external("w", {kSide, kSide}, {{"location", "w.bin"}, {"offset", "2"}}, wire::Float16)};
        model.nodes = {wire::node("MatMul", {"x", "w"}, {"y"})};
        model.outputs = {wire::info("y", {}, wire::Float16)};
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", model.write()));
        const auto imported = importOnnx(dir->path() / "m.onnx");
        QVERIFY2(imported, qPrintable(messageOf(imported)));
        const auto optimized = graph::optimize(*imported, *Target::parse("cpu"));
        QVERIFY2(optimized, qPrintable(messageOf(optimized)));
        bool found = false;
        for (const graph::Node& node : optimized->nodes) {
            if (node.op != "dense")
                continue;
            found = true;
            const graph::Value& weight = optimized->value(node.inputs[1]);
            QVERIFY(weight.constant && weight.constant->inFile());
            QVERIFY(weight.dtype == DType::F32);
            QCOMPARE(floatsOf(*weight.constant)[5 * kSide + 3], -1.5F);
        }
        QVERIFY(found);
    }

    void scalesGoIntoWeightsOfAFileWhenTheyAreLookedAt()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        std::string matrix;
        for (int i = 0; i < 1024 * 256; ++i) {
            const float value = 0.01F * static_cast<float>(i % 101) - 0.5F;
            matrix.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        QVERIFY(writeFileAtomically(dir->path() / "w.bin", matrix));
        std::vector<float> scale, shift, mean, variance;
        for (int i = 0; i < 1024; ++i) {
            scale.push_back(0.5F + 0.001F * static_cast<float>(i));
            shift.push_back(0.002F * static_cast<float>(i));
            mean.push_back(0.1F);
            variance.push_back(1.5F);
        }
        wire::Model model;
        model.inputs = {wire::info("x", {1, 256, 2, 2})};
        model.initializers = {wire::external("w", {1024, 256, 1, 1}, {{"location", "w.bin"}}),
                              wire::tensor("s", wire::Float, {1024}, wire::floats(scale)),
                              wire::tensor("b", wire::Float, {1024}, wire::floats(shift)),
                              wire::tensor("m", wire::Float, {1024}, wire::floats(mean)),
                              wire::tensor("v", wire::Float, {1024}, wire::floats(variance))};
        model.nodes = {wire::node("Conv", {"x", "w"}, {"t"}),
                       wire::node("BatchNormalization", {"t", "s", "b", "m", "v"}, {"y"})};
        model.outputs = {wire::info("y", {})};
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", model.write()));
        const auto imported = importOnnx(dir->path() / "m.onnx");
        QVERIFY2(imported, qPrintable(messageOf(imported)));
        auto last = graph::convertLayout(*imported, "NHWC");
        QVERIFY2(last, qPrintable(messageOf(last)));
        const auto optimized = graph::optimize(*std::move(last), *Target::parse("cpu"));
        QVERIFY2(optimized, qPrintable(messageOf(optimized)));
        QCOMPARE(largeConstants(*optimized, false), 1);
        QCOMPARE(largeConstants(*optimized, true), 1);
        const graph::HostTensor x = ramp(imported->value(imported->inputs[0]));
        const auto expected = graph::interpret(*imported, {x});
        const auto got = graph::interpret(*optimized, {x});
        QVERIFY(expected && got);
        for (std::size_t i = 0; i < 4096; ++i)
            QVERIFY(std::abs((*expected)[0].as<float>()[i] - (*got)[0].as<float>()[i]) < 1e-4F);
    }

    void weightsOfALargeFileStayInItToo()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const wire::Model model = smallNetwork();
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", model.write()));
        ImportOptions options;
        options.mapFrom = 1;
        options.leastMapped = 48; // the matrix, but not the vector
        const auto mapped = importOnnx(dir->path() / "m.onnx", options);
        QVERIFY2(mapped, qPrintable(messageOf(mapped)));
        const auto copied = importOnnx(dir->path() / "m.onnx");
        QVERIFY2(copied, qPrintable(messageOf(copied)));
        QCOMPARE(graph::print(*mapped), graph::print(*copied));
        for (const graph::Value& value : mapped->values)
            QVERIFY(!value.constant || value.constant->mapped == (value.name == "w"));
        for (const graph::Value& value : copied->values)
            QVERIFY(!value.constant || !value.constant->mapped);
        const auto optimized = graph::optimize(*mapped, *Target::parse("cpu"));
        QVERIFY2(optimized, qPrintable(messageOf(optimized)));
        const graph::HostTensor x = ramp(mapped->value(mapped->inputs[0]));
        const auto a = graph::interpret(*mapped, {x}), b = graph::interpret(*copied, {x}),
                   c = graph::interpret(*optimized, {x});
        QVERIFY(a && b && c);
        QVERIFY((*a)[0].bytes == (*b)[0].bytes);
        QVERIFY((*a)[0].bytes == (*c)[0].bytes);
    }

    /// As the format has it: later fields of one message win, and two messages of one kind are one.
    void rawDataThatIsGivenTwiceCountsOnce()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        wire::Model model = smallNetwork();
        model.initializers[1] += wire::bytes(9, wire::floats({4, 5, 6}));
        const std::string text = model.write()
                                 + wire::bytes(
                                     7, wire::bytes(5, wire::tensor("z", wire::Float, {3}, wire::floats({7, 8, 9})))
                                            + wire::bytes(1, wire::node("Add", {"y", "z"}, {"q"}))
                                            + wire::bytes(12, wire::info("q", {})));
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", text));
        for (const std::size_t least : {std::size_t{1}, std::size_t{13}}) {
            ImportOptions options;
            options.mapFrom = 1;
            options.leastMapped = least;
            const auto mapped = importOnnx(dir->path() / "m.onnx", options);
            QVERIFY2(mapped, qPrintable(messageOf(mapped)));
            const auto copied = importOnnx(dir->path() / "m.onnx");
            QVERIFY2(copied, qPrintable(messageOf(copied)));
            const graph::HostTensor x = ramp(mapped->value(mapped->inputs[0]));
            const auto a = graph::interpret(*mapped, {x}), b = graph::interpret(*copied, {x});
            QVERIFY(a && b);
            QCOMPARE(a->size(), std::size_t{2});
            QVERIFY((*a)[1].bytes == (*b)[1].bytes);
        }
    }

    void aLargeFileThatIsCutAnywhereGivesAnError()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const std::string whole = smallNetwork().write();
        ImportOptions options;
        options.mapFrom = 1;
        options.leastMapped = 16;
        for (std::size_t size = 0; size < whole.size(); size += 5) {
            std::ofstream(dir->path() / "m.onnx", std::ios::binary) << whole.substr(0, size);
            const auto result = importOnnx(dir->path() / "m.onnx", options);
            QVERIFY2(!result && !result.error().message.empty(), qPrintable(QString::number(size)));
        }
        std::uint32_t state = 54321;
        for (int round = 0; round < 200; ++round) {
            std::string text = whole;
            for (int i = 0; i < 3; ++i) {
                state = state * 1664525 + 1013904223;
                text[state / 16 % text.size()] = static_cast<char>(state >> 24);
            }
            std::ofstream(dir->path() / "m.onnx", std::ios::binary) << text;
            const auto result = importOnnx(dir->path() / "m.onnx", options); // right or wrong, but an answer
            QVERIFY(result || !result.error().message.empty());
        }
    }

    void rawDataOfAnotherSizeIsRefused()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        wire::Model model = smallNetwork();
        model.initializers[0] = wire::tensor("w", wire::Float, {4, 3}, wire::floats(std::vector<float>(13, 1)));
        QVERIFY(writeFileAtomically(dir->path() / "m.onnx", model.write()));
        ImportOptions options;
        options.mapFrom = 1;
        options.leastMapped = 16;
        const QString message = messageOf(importOnnx(dir->path() / "m.onnx", options));
        QVERIFY2(message.contains("holds 52 bytes where its shape asks for 48"), qPrintable(message));
    }
};

LATHE_TEST(TestOnnxLarge)

} // namespace tst_onnx_large

#include "tst_onnx_large.moc"
