#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/flop.h"
#include "core/compute/key.h"
#include "core/compute/print.h"
#include "tests/core/compute/reference_tasks.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_workload_keys {

using namespace lathe;
using namespace lathe::compute;

namespace {

QString q(const std::string& s)
{
    return QString::fromStdString(s);
}

struct ConvChange
{
    std::int64_t stride = 1;
    std::int64_t size = 14;
    std::int64_t padding = 1;
    DType dtype = DType::F32;
};

DagPtr convRelu(const ConvChange& c)
{
    DagBuilder b;
    Conv2dParams p;
    p.layout = ImageLayout::Nhwc;
    p.strides = {c.stride, c.stride};
    p.padding = {c.padding, c.padding, c.padding, c.padding};
    const Tensor x = b.placeholder("placeholder", {1, c.size, c.size, 8}, c.dtype);
    const Tensor w = b.placeholder("placeholder", {3, 3, 8, 8}, c.dtype);
    const Tensor y = unary(b, Unary::Relu, conv2d(b, x, w, p, NameEra::Nested));
    return *std::move(b).finish({y});
}

} // namespace

class TestWorkloadKeys : public QObject
{
    Q_OBJECT

private slots:
    void keysHaveTheFormOfTheirGeneration()
    {
        const auto tasks = test::resnet18Tasks();
        QCOMPARE(q(workloadKey(*tasks[1].dag, NameEra::Hash)), QString("[\"d09dc1a6bb90d59c91b68989ad3492ff\"]"));
        QCOMPARE(q(workloadKey(*tasks[1].dag, NameEra::Flat)),
                 QString("[\"9847f8cc0b305137f49f2c5c0c8ab25d\", 1, 512, 1000, 512, 1000, 1, 1000]"));
        QCOMPARE(q(workloadKey(*test::mobilenetTasks()[18].dag, NameEra::Nested)),
                 QString("[\"7d44c6e3c81cd80f61ff2265b2bae89a\", [1, 1024], [1000, 1024], [1, 1000], [1, 1000]]"));
    }

    void strideShapeAndTypeChangeTheKeys()
    {
        const DagPtr base = convRelu({});
        const std::string simple = workloadText(*base, NameEra::Nested);
        QVERIFY(workloadText(*convRelu({.stride = 2}), NameEra::Nested) != simple);
        QVERIFY(workloadKey(*convRelu({.size = 28}), NameEra::Nested) != workloadKey(*base, NameEra::Nested));
        QVERIFY(workloadText(*convRelu({.dtype = DType::F16}), NameEra::Nested)
                != simple); // its literal shows the type
        QVERIFY(workloadText(*convRelu({.size = 28}), NameEra::Hash) != workloadText(*base, NameEra::Hash));
    }

    void theStrongTextSeesWhatTheReferencesKeysDoNot()
    {
        const std::string base = strongText(*convRelu({}));
        QCOMPARE(q(strongText(*convRelu({}))), q(base));
        for (const ConvChange& c : {ConvChange{.stride = 2}, ConvChange{.size = 28}, ConvChange{.padding = 0},
                                    ConvChange{.dtype = DType::F16}})
            QVERIFY(strongText(*convRelu(c)) != base);

        // The amount of padding and plain types hide from the reference's text.
        const auto padded = [](std::int64_t before, DType type) {
            DagBuilder b;
            Conv2dParams p;
            p.padding = {before, 1, 2 - before, 1};
            const Tensor x = b.placeholder("placeholder", {1, 4, 8, 8}, type);
            const Tensor w = b.placeholder("placeholder", {4, 4, 3, 3}, type);
            return *std::move(b).finish({conv2d(b, x, w, p, NameEra::Nested)});
        };
        QVERIFY(workloadKey(*padded(1, DType::F32), NameEra::Nested)
                == workloadKey(*padded(2, DType::F32), NameEra::Nested));
        QVERIFY(strongText(*padded(1, DType::F32)) != strongText(*padded(2, DType::F32)));
        const auto sum = [](DType type) {
            DagBuilder b;
            const Tensor x = b.placeholder("placeholder", {4, 8}, type), y = b.placeholder("placeholder", {4, 8}, type);
            return *std::move(b).finish({binary(b, Binary::Add, x, y)});
        };
        QVERIFY(workloadKey(*sum(DType::F16), NameEra::Nested) == workloadKey(*sum(DType::F32), NameEra::Nested));
        QVERIFY(strongText(*sum(DType::F16)) != strongText(*sum(DType::F32)));
        // Convolutions of half floats are summed in f32, which the text shows.
        QVERIFY(workloadKey(*padded(1, DType::F16), NameEra::Nested)
                != workloadKey(*padded(1, DType::F32), NameEra::Nested));
    }

    void theStrongTextLeavesNamesOut()
    {
        const auto named = [](const char* name, const char* axis) {
            DagBuilder b;
            const Tensor x = b.placeholder(name, {4}, DType::F32);
            return *std::move(b).finish(
                {b.compute(name, {4}, {axis}, "", [&](const auto& a) { return b.at(x, {a[0]}) + ir::floatImm(1); })});
        };
        QCOMPARE(q(strongText(*named("a", "i"))), q(strongText(*named("b", "j"))));
        QVERIFY(print(*named("a", "i")) != print(*named("b", "j")));
    }

    void distancesScaleWithTheArguments()
    {
        QCOMPARE(*distanceFactor("[\"h\", [1, 8], [4]]", "[\"h\", 1, 8, 4]"), 1.0);
        QCOMPARE(*distanceFactor("[\"h\", 2, 16]", "[\"h\", 1, 8]"), 4.0);
        QVERIFY(std::isinf(*distanceFactor("[\"h\", 2, 12]", "[\"h\", 1, 8]")));
        QVERIFY(std::isinf(*distanceFactor("[\"h\", 2]", "[\"g\", 2]")));
        QVERIFY(std::isinf(*distanceFactor("[\"h\", 2]", "[\"h\", 2, 1]")));
        QVERIFY(std::isinf(*distanceFactor("[\"h\", 0]", "[\"h\", 2]")));
        QCOMPARE(*distanceFactor("[\"h\", 0, \"x\"]", "[\"h\", 0, \"x\"]"), 1.0);
        QVERIFY(distanceFactor("{", "[\"h\"]").error().code == Errc::BadFile);
        QVERIFY(distanceFactor("[\"h\"]", "[3]").error().code == Errc::BadFile);
        QVERIFY(std::isinf(*distanceFactor("[\"h\", -9223372036854775808]", "[\"h\", -1]")));
        QVERIFY(distanceFactor("[\"h\"]", "[\"h\", " + std::string(100000, '[') + std::string(100000, ']') + "]")
                    .error()
                    .code
                == Errc::BadFile);
    }

    void referenceTasksHaveTheReferencesKeysAndFlop_data()
    {
        QTest::addColumn<int>("network");
        QTest::addColumn<int>("index");
        int index = 0;
        for (const auto& task : test::resnet18Tasks())
            QTest::newRow(("resnet-18 " + task.name).c_str()) << 0 << index++;
        index = 0;
        for (const auto& task : test::mobilenetTasks())
            QTest::newRow(("mobilenet " + task.name).c_str()) << 1 << index++;
    }

    void referenceTasksHaveTheReferencesKeysAndFlop()
    {
        QFETCH(int, network);
        QFETCH(int, index);
        static const auto resnet = test::resnet18Tasks();
        static const auto mobilenet = test::mobilenetTasks();
        const auto& task = (network == 0 ? resnet : mobilenet)[static_cast<std::size_t>(index)];
        QVERIFY2(md5Hex(workloadText(*task.dag, NameEra::Flat)) == task.md5, print(*task.dag).c_str());
        QCOMPARE(flop(*task.dag), task.flop);
        if (!task.hashFormMd5.empty())
            QVERIFY2(md5Hex(workloadText(*task.dag, NameEra::Hash)) == task.hashFormMd5,
                     workloadText(*task.dag, NameEra::Hash).c_str());
    }
};

LATHE_TEST(TestWorkloadKeys)

} // namespace tst_workload_keys

#include "tst_workload_keys.moc"
