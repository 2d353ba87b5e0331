#include "core/search/features.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <map>

namespace tst_features {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::schedule;

namespace {

compute::DagPtr matmul()
{
    compute::DagBuilder b;
    const compute::Tensor a = b.placeholder("A", {512, 512}, DType::F32),
                          c = b.placeholder("B", {512, 512}, DType::F32);
    const compute::Tensor y = b.reduce("C", {512, 512}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 512}},
                                       [&](const std::vector<ir::Expr>& x, const std::vector<ir::Expr>& r) {
                                           return b.at(a, {x[0], r[0]}) * b.at(c, {r[0], x[1]});
                                       });
    return *std::move(b).finish({y});
}

/// i split by 16, j by 8, order io jo k ji ii; ji vectorized, io and jo parallel, k unrolled.
Result<State> golden()
{
    return State::replay(matmul(), {SplitStep{2, 0, 512, {16}, true}, SplitStep{2, 2, 512, {8}, true},
                                    ReorderStep{2, {0, 2, 4, 3, 1}}, AnnotateStep{2, 3, Annotation::Vectorize},
                                    AnnotateStep{2, 0, Annotation::Parallel}, AnnotateStep{2, 1, Annotation::Parallel},
                                    AnnotateStep{2, 2, Annotation::Unroll}});
}

std::map<std::string, float> named(const std::vector<float>& rows)
{
    std::map<std::string, float> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kReferenceFeatures); ++i)
        values[referenceFeatureNames()[i]] = rows[i];
    return values;
}

void compare(float actual, double expected)
{
    QVERIFY2(std::abs(actual - expected) < 1e-4, qPrintable(QString("%1 is not %2").arg(actual).arg(expected)));
}

} // namespace

class TestFeatures : public QObject
{
    Q_OBJECT

private slots:
    void thereAre164() { QCOMPARE(static_cast<int>(referenceFeatureNames().size()), 164); }

    void theGoldenMatmulHasTheReferencesValues()
    {
        const auto state = golden();
        QVERIFY2(bool(state), state ? "" : state.error().message.c_str());
        const auto rows = referenceFeatures(*state, Hardware());
        QVERIFY(rows);
        QCOMPARE(static_cast<int>(rows->size()), 164);
        const auto value = named(*rows);
        // C is read and written, B the read whose innermost stride is 0.
        std::string c, b;
        for (int i = 0; i < 3; ++i) {
            const std::string name = "B" + std::to_string(i);
            if (value.at(name + ".acc_type.kReadWrite") == 1)
                c = name;
            else if (value.at(name + ".stride") == 0)
                b = name;
        }
        QVERIFY(!c.empty() && !b.empty());
        compare(value.at(c + ".bytes"), std::log2(std::pow(512.0, 3) * 4 + 1));
        compare(value.at(c + ".reuse_dis_iter"), std::log2(8 * 16 + 1));
        compare(value.at(c + ".reuse_dis_bytes"), std::log2((8 * 16 + 8 + 16) * 4 + 1));
        compare(value.at(c + ".reuse_ct"), std::log2(513));
        QCOMPARE(value.at(c + ".reuse_type.kLoopMultipleRead"), 1.0f);
        compare(value.at(b + ".unique_bytes"), std::log2(512.0 * 512 * 4 + 1));
        compare(value.at("unroll_num"), 1);
        compare(value.at("vec_num"), 1);
        compare(value.at("vec_prod"), std::log2(9));
        compare(value.at("parallel_num"), std::log2(3));
        compare(value.at("parallel_prod"), std::log2(512 * 512 / 128 + 1));
        compare(value.at("float_mul"), std::log2(std::pow(512.0, 3) + 1));
        compare(value.at("float_mad"), 0);
        compare(value.at("num_loops"), std::log2(6));
        QCOMPARE(value.at("is_gpu"), 0.0f);
        QCOMPARE(value.at("vec_type.kMixed"), 1.0f);
        QCOMPARE(value.at("B3.bytes"), 0.0f); // only three buffers
    }

    void oneRowPerStore()
    {
        const auto fused = State::replay(matmul(), {CacheWriteStep{2, "local"}, SplitStep{2, 0, 512, {16}, true},
                                                    FollowSplitStep{3, 0, 1, 1}, ComputeAtStep{2, 3, 0}});
        QVERIFY2(bool(fused), fused ? "" : fused.error().message.c_str());
        const auto rows = referenceFeatures(*fused, Hardware());
        QVERIFY(rows);
        QCOMPARE(static_cast<int>(rows->size()), 2 * 164);
        // The copy reads what the same outer loop has just written.
        const auto copy = named(std::vector<float>(rows->begin() + 164, rows->end()));
        QVERIFY(copy.at("B0.reuse_type.kSerialMultipleReadWrite") == 1
                || copy.at("B1.reuse_type.kSerialMultipleReadWrite") == 1);
        compare(copy.at("alloc_outer_prod"), 1);
        const auto sum = named(*rows);
        compare(sum.at("alloc_size"), std::log2(16 * 512 * 4 + 1));
        compare(sum.at("alloc_outer_prod"), std::log2(33));
    }

    void anOpenStateHasNoFeatures()
    {
        const auto open = State::replay(matmul(), {SplitStep{2, 0, 512, {std::nullopt}, true}});
        QVERIFY(open);
        QVERIFY(!referenceFeatures(*open, Hardware()));
    }
};

LATHE_TEST(TestFeatures)

} // namespace tst_features

#include "tst_features.moc"
