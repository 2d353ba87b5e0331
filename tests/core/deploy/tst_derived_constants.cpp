#include "core/compute/definitions/elementwise.h"
#include "core/deploy/derived_constants.h"
#include "tests/core/compute/dag_run.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_derived_constants {

using namespace lathe;
using lathe::test::Floats;
using lathe::test::must;

/// What recipes make of weights, once for all libraries of a network.
class TestDerivedConstants : public QObject
{
    Q_OBJECT

    static graph::Value constant(const Floats& values)
    {
        graph::Value value;
        value.name = "w";
        value.dtype = DType::F32;
        value.shape = {static_cast<std::int64_t>(values.size())};
        value.constant = graph::makeConst(values.data(), values.size() * sizeof(float));
        return value;
    }

    static compute::DagPtr recipe(compute::Unary what)
    {
        compute::DagBuilder b;
        const compute::Tensor w = b.placeholder("w", {3}, DType::F32);
        return test::finish(std::move(b), compute::unary(b, what, w));
    }

    static Floats floats(const std::vector<std::byte>& bytes)
    {
        Floats values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }

private slots:
    void areMadeOnceForEachConstantAndRecipe()
    {
        deploy::DerivedConstants derived;
        const graph::Value w = constant({-1, 2, -3}), v = constant({4, -5, 6});
        const compute::DagPtr relu = recipe(compute::Unary::Relu), negative = recipe(compute::Unary::Negative);
        const auto first = must(derived.of(w, relu));
        QCOMPARE(floats(*first), (Floats{0, 2, 0}));
        QCOMPARE(must(derived.of(w, relu)).get(), first.get());
        QCOMPARE(floats(*must(derived.of(w, negative))), (Floats{1, -2, 3}));
        QCOMPARE(floats(*must(derived.of(v, relu))), (Floats{4, 0, 6}));
        QCOMPARE(must(derived.of(w, relu)).get(), first.get());
    }

    void outliveTheGraphThatTheyAreOf()
    {
        // A constant that comes to stand where one of a graph before stood is not taken for it: that one is still held.
        deploy::DerivedConstants derived;
        const compute::DagPtr relu = recipe(compute::Unary::Relu);
        for (float i = 1; i < 50; ++i)
            QCOMPARE(floats(*must(derived.of(constant({i, -i, 2 * i}), relu))), (Floats{i, 0, 2 * i}));
    }

    void refuseConstantsThatDoNotFitTheRecipe()
    {
        deploy::DerivedConstants derived;
        const auto refused = derived.of(constant({1, 2}), recipe(compute::Unary::Relu));
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::InvalidArgument);
    }
};

LATHE_TEST(TestDerivedConstants)

} // namespace tst_derived_constants

#include "tst_derived_constants.moc"
