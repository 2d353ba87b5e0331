#include "core/compute/definitions/reduction.h"
#include "tests/conformance/back_ends.h"
#include "tests/support/test_program.h"

#include <algorithm>

namespace tst_conformance_shuffles {

using namespace lathe;
using namespace lathe::test;
using ir::Combiner;

namespace {

constexpr std::int64_t kCommonWidth = 32; ///< where the device says nothing

struct ShuffleCase
{
    Case one;
    DType dtype = DType::F32;
};

/// What the combiner makes of each row of x.
compute::DagPtr rows(Combiner combiner, std::int64_t count, std::int64_t length, DType dtype)
{
    compute::DagBuilder b;
    const compute::Tensor x = b.placeholder("x", {count, length}, dtype);
    if (combiner >= Combiner::ArgMax)
        return finish(b, compute::argReduction(b, combiner == Combiner::ArgMax, x, 1, false));
    return finish(b, b.reduce("y", {count}, {"i"}, "", combiner, {{"k", length}}, [&](const auto& i, const auto& r) {
        return b.at(x, {i[0], r[0]});
    }));
}

/// A block for each row, whose threads exchange their parts.
ShuffleCase byOneRow(Combiner combiner, std::int64_t length, DType dtype, std::int64_t threads, std::int64_t warp)
{
    const nlohmann::json steps = {{"AN", 1, 0, 5},
                                  {"SP", 1, 1, length, nlohmann::json::array({threads}), 1},
                                  {"AN", 1, 2, 6},
                                  {"SH", 1, 2, warp}};
    const std::string name = "combiner " + std::to_string(int(combiner)) + " of " + std::to_string(length) + " by "
                             + std::to_string(threads) + " of " + toString(dtype);
    return {{name, rows(combiner, 3, length, dtype), steps.dump()}, dtype};
}

/// A block for each four rows, which are one below the other.
ShuffleCase byFourRows(std::int64_t threads, std::int64_t warp)
{
    const nlohmann::json steps = {
        {"SP", 1, 0, 12, nlohmann::json::array({4}), 1},       {"AN", 1, 0, 5}, {"AN", 1, 1, 8},
        {"SP", 1, 2, 70, nlohmann::json::array({threads}), 1}, {"AN", 1, 3, 6}, {"SH", 1, 3, warp}};
    return {{"four rows by " + std::to_string(threads), rows(Combiner::Sum, 12, 70, DType::F32), steps.dump()}};
}

constexpr const char* kGroups[] = {"combiners", "positions", "types", "several sums of a block"};

std::vector<ShuffleCase> casesOf(const QString& group, std::int64_t warp)
{
    std::vector<ShuffleCase> list;
    const auto add = [&](Combiner combiner, std::int64_t length, DType dtype, std::int64_t threads) {
        list.push_back(byOneRow(combiner, length, dtype, threads, warp));
    };
    if (group == "combiners") {
        for (const Combiner combiner : {Combiner::Sum, Combiner::Prod, Combiner::Max, Combiner::Min})
            for (const std::int64_t threads : {std::int64_t{2}, warp / 2, warp, 2 * warp, 3 * warp})
                add(combiner, 300, DType::F32, threads);
        add(Combiner::Sum, 300, DType::F32, 8 * warp);
    } else if (group == "positions") {
        for (const Combiner combiner : {Combiner::ArgMax, Combiner::ArgMin})
            for (const std::int64_t threads : {warp / 2, warp, 3 * warp})
                add(combiner, 301, DType::F32, threads);
        add(Combiner::ArgMax, 301, DType::I8, warp); // with equal ones, of which the first counts
    } else if (group == "types") {
        for (const DType dtype : {DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64,
                                  DType::U64, DType::F16, DType::BF16, DType::F64})
            for (const Combiner combiner : {Combiner::Sum, Combiner::Max})
                add(combiner, warp, dtype, warp);
    } else {
        for (const std::int64_t threads : {warp / 4, warp})
            list.push_back(byFourRows(threads, warp));
    }
    return list;
}

/// Sums of half floats are rounded at each step, in another order.
double toleranceFor(DType dtype)
{
    return dtype == DType::BF16 ? 0.1 : dtype == DType::F16 ? 0.02 : 1e-5;
}

} // namespace

/// Sums across threads, and whatever else is combined, whose parts go from register to register within warps as wide
/// as the device has them: by each number of threads, in each type.
class TestConformanceShuffles : public QObject, BackEnds
{
    Q_OBJECT

private slots:
    void initTestCase() { prepareDrivers(); }
    void init() { skipWhereThereIsNoDevice(); }

    void partsAreExchanged_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("group");
        for (const std::string& target : targets())
            if (formOf(target) == KernelForm::Launches)
                for (const char* const group : kGroups)
                    QTest::newRow((target + ": " + group).c_str()) << QString::fromStdString(target) << group;
    }
    void partsAreExchanged()
    {
        QFETCH(QString, target);
        QFETCH(QString, group);
        const auto device = open(target.toStdString());
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        const std::int64_t told = lanesOf(**device);
        const std::vector<ShuffleCase> list = casesOf(group, told > 0 ? told : kCommonWidth);
        std::vector<Case> cases;
        for (const ShuffleCase& one : list) {
            QVERIFY2(one.one.dag, one.one.name.c_str());
            cases.push_back(one.one);
        }
        const auto product = build(target.toStdString(), cases);
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        std::size_t computed = 0;
        std::string lack; // of the device's subgroups
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string problem = problemOf(**device, *product, i, cases[i], toleranceFor(list[i].dtype));
            const bool isOfHalves = list[i].dtype == DType::F16 || list[i].dtype == DType::BF16;
            if (isOfHalves
                && (problem.find(toString(list[i].dtype)) != std::string::npos
                    || problem.find("cl_khr_fp16") != std::string::npos))
                continue; // tst_conformance_types
            if (told == 0 && problem.find("no subgroups of a required width") != std::string::npos) {
                lack = problem;
                continue;
            }
            QVERIFY2(problem.empty(), (cases[i].name + ": " + problem).c_str());
            ++computed;
        }
        QVERIFY2(lack.empty() || computed == 0, "some kernels are refused, others not");
        if (!lack.empty())
            QSKIP(lack.c_str());
    }
};

LATHE_TEST(TestConformanceShuffles)

} // namespace tst_conformance_shuffles

#include "tst_conformance_shuffles.moc"
