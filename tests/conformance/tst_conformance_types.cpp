#include "tests/conformance/back_ends.h"
#include "tests/support/test_program.h"

#include <set>

namespace tst_conformance_types {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr DType kTypes[] = {DType::Bool, DType::I8,  DType::U8,  DType::I16,  DType::U16, DType::I32, DType::U32,
                            DType::I64,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

/// One unit of the last place of 1 and of the roundings before it.
double toleranceOf(DType type)
{
    switch (type) {
    case DType::F16: return 0x1p-10;
    case DType::BF16: return 0x1p-7;
    case DType::F64: return 1e-14;
    default: return 1e-6;
    }
}

bool isHalf(DType type)
{
    return type == DType::F16 || type == DType::BF16;
}

/// What is added, and what sums are kept in: of half floats f32, as in the definitions of operators.
DType sumType(DType type)
{
    return isHalf(type) ? DType::F32 : type == DType::Bool ? DType::I32 : type;
}

compute::DagPtr addition(DType type)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {37}, type);
    const auto y = b.placeholder("y", {37}, type);
    return finish(b, b.compute("z", {37}, {}, "elemwise", [&](const auto& i) {
        const ir::Expr p = b.at(x, {i[0]}), q = b.at(y, {i[0]});
        return type == DType::Bool ? p || q : p + q;
    }));
}

/// Of integers it wraps.
compute::DagPtr products(DType type)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("A", {5, 9}, type);
    const auto y = b.placeholder("B", {9, 37}, type);
    const DType wide = sumType(type);
    const auto sum = b.reduce("sum", {5, 37}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 9}},
                              [&](const auto& a, const auto& r) {
                                  return ir::cast(wide, b.at(x, {a[0], r[0]})) * ir::cast(wide, b.at(y, {r[0], a[1]}));
                              });
    if (wide == type)
        return finish(b, sum);
    return finish(b, b.compute("C", {5, 37}, {}, "elemwise", [&](const auto& i) {
        return ir::cast(type, b.at(sum, {i[0], i[1]}));
    }));
}

compute::DagPtr toFloat(DType type)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {37}, type);
    return finish(
        b, b.compute("f", {37}, {}, "elemwise", [&](const auto& i) { return ir::cast(DType::F32, b.at(x, {i[0]})); }));
}

/// Numbers beyond the ends of the small types; the factor rounds nothing.
compute::DagPtr fromFloat(DType type)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {37}, DType::F32);
    return finish(b, b.compute("t", {37}, {}, "elemwise",
                               [&](const auto& i) { return ir::cast(type, b.at(x, {i[0]}) * ir::floatImm(512)); }));
}

compute::DagPtr comparison(DType type)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {37}, type);
    const auto y = b.placeholder("y", {37}, type);
    return finish(b, b.compute("less", {37}, {}, "elemwise", [&](const auto& i) {
        const ir::Expr p = b.at(x, {i[0]}), q = b.at(y, {i[0]});
        return type == DType::Bool ? ir::ne(p, q) : p < q;
    }));
}

compute::DagPtr choice(DType type)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {37}, type);
    const auto y = b.placeholder("y", {37}, type);
    return finish(b, b.compute("least", {37}, {}, "elemwise", [&](const auto& i) {
        const ir::Expr p = b.at(x, {i[0]}), q = b.at(y, {i[0]});
        return type == DType::Bool ? ir::select(p, !q, q) : ir::min(p, q);
    }));
}

/// Each as it is, and in vectors of four with a tail, which blocks or threads share where there are such.
std::vector<Case> casesOf(DType type, KernelForm form)
{
    const auto vectors = [form](int stage, int axis) {
        const std::string at = std::to_string(stage), i = std::to_string(axis), next = std::to_string(axis + 1);
        std::string steps = R"([["SP", )" + at + ", " + i + R"(, 37, [4], 1], ["AN", )" + at + ", " + next + ", 2]";
        if (form == KernelForm::Launches)
            steps += R"(, ["AN", )" + at + ", " + i + ", 6]";
        return steps + "]";
    };
    const std::pair<const char*, compute::DagPtr> kernels[] = {{"addition", addition(type)},
                                                               {"to f32", toFloat(type)},
                                                               {"from f32", fromFloat(type)},
                                                               {"comparison", comparison(type)},
                                                               {"choice", choice(type)}};
    std::vector<Case> list;
    for (const auto& [name, dag] : kernels) {
        list.push_back({name, dag});
        list.push_back({std::string(name) + " in vectors", dag, vectors(static_cast<int>(dag->ops.size()) - 1, 0)});
    }
    const compute::DagPtr sums = products(type);
    list.push_back({"multiply and accumulate", sums});
    const std::string order = R"([["RE", 2, [0, 2, 1]], ["SP", 2, 2, 37, [4], 1], ["AN", 2, 3, 2])";
    list.push_back({"multiply and accumulate in vectors", sums,
                    order + (form == KernelForm::Launches ? R"(, ["AN", 2, 0, 6]])" : "]")});
    return list;
}

/// What a back end has no type for, or has it by an extension that a device may lack; all else must compute.
struct Lack
{
    const char* kind;
    DType type;
    std::vector<std::string> names; ///< of which the refusal has one
    bool isAlways;
};
const std::vector<Lack>& lacks()
{
    static const std::vector<Lack> list = {{"opencl", DType::BF16, {"bfloat16"}, true},
                                           {"opencl", DType::F16, {"cl_khr_fp16", "float16"}, false},
                                           {"opencl", DType::F64, {"cl_khr_fp64", "float64"}, false},
                                           {"sim", DType::F16, {"does not know float16"}, true},
                                           {"sim", DType::BF16, {"does not know bfloat16"}, true}};
    return list;
}

} // namespace

/// Kernels in each element type on each back end: they compute their DAG, or what the device lacks is named.
class TestConformanceTypes : public QObject, BackEnds
{
    Q_OBJECT

private slots:
    void initTestCase() { prepareDrivers(); }
    void init() { skipWhereThereIsNoDevice(); }

    void kernelsComputeTheirDagInEachType_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("type");
        for (const std::string& target : targets())
            for (const DType type : kTypes)
                QTest::newRow((target + ": " + toString(type)).c_str()) << QString::fromStdString(target) << int(type);
    }
    void kernelsComputeTheirDagInEachType()
    {
        QFETCH(QString, target);
        QFETCH(int, type);
        const DType dtype = DType(type);
        const std::string kind(Target::parse(target.toStdString())->kind());
        const auto lack = std::ranges::find_if(lacks(),
                                               [&](const Lack& one) { return one.kind == kind && one.type == dtype; });
        const std::vector<Case> list = casesOf(dtype, formOf(target.toStdString()));
        const auto product = build(target.toStdString(), list);
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        const auto device = open(target.toStdString());
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        std::size_t refused = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            QVERIFY2(list[i].dag, list[i].name.c_str());
            const std::string problem = problemOf(**device, *product, i, list[i], toleranceOf(dtype));
            const bool isNamed = lack != lacks().end()
                                 && std::ranges::any_of(lack->names, [&problem](const std::string& name) {
                                        return problem.find(name) != std::string::npos;
                                    });
            QVERIFY2(problem.empty() || isNamed, (list[i].name + ": " + problem).c_str());
            refused += problem.empty() ? 0 : 1;
        }
        QVERIFY2(refused == 0 || refused == list.size(), "some kernels are refused, others not");
        if (lack != lacks().end() && lack->isAlways)
            QCOMPARE(refused, list.size());
        if (refused > 0)
            m_refused[target.toStdString()] += std::string(" ") + toString(dtype);
    }

    void cleanupTestCase()
    {
        for (const auto& [target, types] : m_refused)
            qInfo("%s has no%s", target.c_str(), types.c_str());
    }

private:
    std::map<std::string, std::string> m_refused;
};

LATHE_TEST(TestConformanceTypes)

} // namespace tst_conformance_types

#include "tst_conformance_types.moc"
