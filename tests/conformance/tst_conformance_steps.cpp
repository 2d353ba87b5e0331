#include "core/schedule/lower.h"
#include "tests/conformance/back_ends.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tst_conformance_steps {

using namespace lathe;
using namespace lathe::test;
using schedule::Annotation;
using schedule::Step;

namespace {

/// A small kernel whose schedule has a step of the kind, as the reference's short name gives it.
struct StepCase
{
    std::string kind, name;
    compute::DagPtr dag;
    std::string steps;
    std::vector<KernelForm> forms; ///< that it is of
    std::string refusal = {}; ///< what its refusal says; empty: it computes
    std::vector<bool> constantInputs = {};
    int warp = 0; ///< threads that exchange registers, which a device may not have; 0: none do
};

const std::vector<KernelForm> kBoth = {KernelForm::Phases, KernelForm::Launches};
const std::vector<KernelForm> kPhases = {KernelForm::Phases};
const std::vector<KernelForm> kLaunches = {KernelForm::Launches};

/// Stages of matmul(): A 0, B 1, C 2; of convolution(): data 0, pad 1, weight 2, conv 3, relu 4. Odd extents have
/// tails.
std::vector<StepCase> annotations()
{
    std::vector<StepCase> list = {
        {"AN", "unroll", matmul(7, 8, 5), R"([["AN", 2, 2, 1]])", kBoth},
        {"AN", "vectorize", matmul(7, 8, 5), R"([["RE", 2, [0, 2, 1]], ["AN", 2, 2, 2]])", kBoth},
        {"AN", "vectorize with a tail", matmul(7, 10, 5),
         R"([["SP", 2, 1, 10, [4], 1], ["RE", 2, [0, 1, 3, 2]], ["AN", 2, 3, 2]])", kBoth},
        {"AN", "parallel", matmul(7, 8, 5), R"([["AN", 2, 0, 3]])", kPhases},
        {"AN", "parallel", matmul(7, 8, 5), R"([["AN", 2, 0, 3]])", kLaunches,
         "'C' has a loop for the cores of a processor"},
        {"AN", "virtual threads", matmul(7, 16, 5), R"([["SP", 2, 1, 16, [8], 1], ["AN", 2, 1, 4], ["AN", 2, 2, 6]])",
         kLaunches},
        {"AN", "tensorize", matmul(7, 8, 5), R"([["AN", 2, 2, 11]])", kBoth,
         "'C' is tensorized, but there is no intrinsic to call"},
        {"AN", "a sum across threads", matmul(3, 4, 21), R"([["AN", 2, 0, 5], ["AN", 2, 1, 7], ["AN", 2, 2, 6]])",
         kLaunches}};
    constexpr std::pair<const char*, int> kAxes[] = {{"blocks along x", 5}, {"threads along x", 6},
                                                     {"blocks along y", 7}, {"threads along y", 8},
                                                     {"blocks along z", 9}, {"threads along z", 10}};
    for (const auto& [name, annotation] : kAxes)
        list.push_back(
            {"AN", name, matmul(7, 8, 5), "[[\"AN\", 2, 0, " + std::to_string(annotation) + "]]", kLaunches});
    // A processor has no blocks and threads.
    for (const auto& [name, annotation] : kAxes)
        list.push_back({"AN", name, matmul(7, 8, 5), "[[\"AN\", 2, 0, " + std::to_string(annotation) + "]]", kPhases,
                        "'C' has a loop for blocks or threads"});
    list.push_back({"AN", "virtual threads", matmul(7, 8, 5), R"([["AN", 2, 0, 4]])", kPhases,
                    "'C' has a loop for blocks or threads"});
    return list;
}

/// Loops: split, fused, reordered, unrolled, followed, divided at their edges.
std::vector<StepCase> loops()
{
    return {
        {"FU", "two loops", matmul(7, 8, 5), R"([["FU", 2, [0, 1]]])", kBoth},
        {"FU", "two loops, divided among threads", matmul(7, 9, 5),
         R"([["FU", 2, [0, 1]], ["SP", 2, 0, 63, [16], 1], ["AN", 2, 0, 5], ["AN", 2, 1, 6]])", kLaunches},
        {"PR", "unrolling", matmul(7, 8, 5), R"([["PR", 2, 0, "auto_unroll_max_step$64"]])", kBoth},
        {"RE", "the sum outermost", matmul(7, 8, 5), R"([["RE", 2, [2, 1, 0]]])", kBoth},
        {"RE", "the sum between", matmul(7, 8, 5), R"([["RE", 2, [1, 2, 0]]])", kBoth},
        {"SP", "with a tail", matmul(7, 8, 5), R"([["SP", 2, 0, 7, [4], 1]])", kBoth},
        {"SP", "by the number of parts", matmul(7, 8, 5), R"([["SP", 2, 0, 7, [3], 0]])", kBoth},
        {"SP", "into four", matmul(7, 24, 5), R"([["SP", 2, 1, 24, [2, 3, 2], 1]])", kBoth},
        {"SP", "a sum", matmul(7, 8, 11), R"([["SP", 2, 2, 11, [4], 1]])", kBoth},
        {"FSP", "as the copy", matmul(8, 8, 5),
         R"([["CHW", 2, "local"], ["SP", 3, 0, 8, [2, 2], 1], ["FSP", 2, 0, 1, 2]])", kBoth},
        {"FSP", "the last lengths as one", matmul(7, 8, 5),
         R"([["CHW", 2, "local"], ["SP", 3, 0, 7, [3, 2], 1], ["FSP", 2, 0, 1, 1], ["CA", 2, 3, 0]])", kBoth},
        {"FFSP", "by the product of two lengths", matmul(8, 16, 5),
         R"([["CHW", 2, "local"], ["SP", 3, 0, 8, [2], 1], ["SP", 3, 2, 16, [4], 1], ["FFSP", 2, 1, [1, 2], 0, 1]])",
         kBoth},
        {"FFSP", "into as many parts", matmul(8, 15, 5),
         R"([["CHW", 2, "local"], ["SP", 3, 0, 8, [2], 1], ["SP", 3, 2, 15, [2], 1], ["FFSP", 2, 1, [1, 2], 0, 0]])",
         kBoth},
        {"OV", "the last part moved back", matmul(7, 8, 5), R"([["OV", 2, 0, 4]])", kBoth},
        {"OV", "beside blocks and threads", matmul(7, 10, 5), R"([["OV", 2, 1, 4], ["AN", 2, 0, 5]])", kLaunches},
        {"OV", "of blocks", matmul(7, 10, 5), R"([["OV", 2, 1, 4], ["AN", 2, 1, 5]])", kLaunches,
         "'C' has overlapping parts: two threads would store one element"},
        {"OV", "of threads", matmul(7, 10, 5), R"([["OV", 2, 1, 4], ["AN", 2, 2, 6]])", kLaunches,
         "'C' has overlapping parts: two threads would store one element"},
        {"OV", "of a sum", matmul(7, 8, 5), R"([["OV", 2, 2, 4]])", kBoth, "k of 'C' is summed over"},
        {"SH",
         "a sum of one warp",
         matmul(3, 4, 77),
         R"([["AN", 2, 0, 5], ["AN", 2, 1, 7], ["SP", 2, 2, 77, [32], 1], ["AN", 2, 3, 6], ["SH", 2, 3, 32]])",
         kLaunches,
         "",
         {},
         32},
        {"SH",
         "a sum of three warps",
         matmul(3, 4, 210),
         R"([["AN", 2, 0, 5], ["AN", 2, 1, 7], ["SP", 2, 2, 210, [96], 1], ["AN", 2, 3, 6], ["SH", 2, 3, 32]])",
         kLaunches,
         "",
         {},
         32},
        {"SH",
         "a maximum of a part of a warp",
         maximum(),
         R"([["AN", 1, 0, 5], ["SP", 1, 1, 11, [8], 1], ["AN", 1, 2, 6], ["SH", 1, 2, 32]])",
         kLaunches,
         "",
         {},
         32},
        {"SH", "threads that are no whole warps", matmul(3, 4, 77),
         R"([["SP", 2, 2, 77, [48], 1], ["AN", 2, 3, 6], ["SH", 2, 3, 32]])", kLaunches,
         "'C' exchanges parts between 48 threads, which are neither whole warps of 32 lanes nor a power of two below "
         "one"},
        {"SH", "a processor's loop", matmul(3, 4, 77), R"([["SH", 2, 2, 32]])", kPhases,
         "'C' exchanges parts of a sum along a loop that is not bound to threadIdx.x"},
        {"PT", "edges of a padded convolution", convolution(), R"([["CI", 1], ["PT", 3, 1], ["PT", 3, 2]])", kBoth},
        {"PT", "the tail of a split", matmul(7, 8, 5), R"([["SP", 2, 0, 7, [4], 1], ["PT", 2, 0]])", kBoth}};
}

/// Stages: where each is computed, and copies of them.
std::vector<StepCase> stages()
{
    return {{"CA", "padding at the rows", convolution(), R"([["CA", 1, 3, 1]])", kBoth},
            {"CA", "padding shared by a block", convolution(),
             R"([["AN", 3, 1, 5], ["AN", 3, 3, 6], ["CA", 1, 3, 1], ["AN", 1, 3, 6]])", kLaunches},
            {"CI", "padding", convolution(), R"([["CI", 1]])", kBoth},
            {"CR", "back at the root", convolution(), R"([["CA", 1, 3, 1], ["CR", 1]])", kBoth},
            {"CHR", "rows of an operand", matmul(7, 8, 5), R"([["CHR", 0, "local", [2]], ["CA", 1, 3, 0]])", kBoth},
            {"CHR", "a tile shared by a block", matmul(7, 8, 5),
             R"([["CHR", 0, "shared", [2]], ["AN", 3, 0, 5], ["AN", 3, 1, 6], ["CA", 1, 3, 0], ["AN", 1, 1, 6]])",
             kLaunches},
            {"CHW", "at the root", matmul(7, 8, 5), R"([["CHW", 2, "local"]])", kBoth},
            {"CHW", "in registers", matmul(8, 8, 5),
             R"([["CHW", 2, "local"], ["SP", 3, 0, 8, [2], 1], ["SP", 3, 2, 8, [4], 1], ["RE", 3, [0, 2, 1, 3]],
             ["CA", 2, 3, 1], ["AN", 2, 0, 1], ["RE", 2, [2, 0, 1]], ["AN", 2, 2, 2], ["AN", 3, 3, 2]])",
             kBoth},
            {"RF", "a sum in parts", matmul(3, 4, 24), R"([["SP", 2, 2, 24, [4], 1], ["RF", 2, 3, 2]])", kBoth},
            {"RF", "a sum in parts, of which each thread has one", matmul(3, 4, 24),
             R"([["SP", 2, 2, 24, [4], 1], ["RF", 2, 3, 2], ["AN", 2, 0, 6]])", kLaunches},
            {"FD", "rows in a ring", convolution(), R"([["CA", 1, 3, 1], ["FD", 1, 1, 3]])", kBoth,
             "'pad' keeps rows in a ring, which lowering has no form for"}};
}

/// Memory: where elements of a tensor lie, and when they are fetched.
std::vector<StepCase> memory()
{
    return {
        {"LY",
         "weights packed ahead of time",
         matmul(7, 10, 5),
         R"([["LY", 1, [[1, 4, 3], [0, 1, 5], [1, 1, 4]]]])",
         kBoth,
         "",
         {false, true}},
        {"LY", "an input", matmul(7, 10, 5), R"([["LY", 0, [[1, 1, 5], [0, 1, 7]]]])", kBoth},
        {"LY", "the output", matmul(7, 10, 5), R"([["LY", 2, [[0, 4, 2], [1, 1, 10], [0, 1, 4]]]])", kBoth},
        {"LY", "what lies between", convolution(),
         R"([["LY", 1, [[0, 1, 1], [3, 2, 3], [1, 1, 9], [2, 1, 11], [3, 1, 2]]]])", kBoth},
        {"LY", "of fewer elements than the tensor", matmul(7, 10, 5), R"([["LY", 2, [[0, 1, 6], [1, 1, 10]]]])", kBoth,
         "the layout of 'C' covers 6 of 7 in dimension 0"},
        {"SA", "of a copy", matmul(7, 10, 5), R"([["CHW", 2, "local"], ["SA", 2, 0, 16, 3]])", kBoth},
        {"SA", "of a tile shared by a block", matmul(7, 8, 6),
         R"([["CHR", 0, "shared", [2]], ["SP", 3, 0, 7, [4], 1], ["AN", 3, 0, 5], ["AN", 3, 1, 8], ["AN", 3, 2, 6],
             ["CA", 1, 3, 0], ["SA", 1, 0, 32, 1], ["AN", 1, 1, 6]])",
         kLaunches},
        {"PS", "of a copy", matmul(7, 10, 5), R"([["CHW", 2, "local"], ["PS", 2, 0, 3]])", kBoth},
        {"PS", "of an input and the output", matmul(7, 10, 5), R"([["PS", 0, 0, 3], ["PS", 2, 0, 6]])", kBoth},
        {"PF", "a distance ahead", matmul(7, 40, 9), R"([["RE", 2, [0, 2, 1]], ["PF", 2, 1, 1, 320]])", kBoth},
        {"PF", "what is read next", matmul(8, 64, 9),
         R"([["CHW", 2, "local"], ["SP", 3, 1, 64, [32], 1], ["RE", 3, [1, 0, 2]], ["CA", 2, 3, 1], ["RE", 2, [0, 2, 1]],
             ["PF", 2, 1, 1, 0]])",
         kBoth},
        {"PF", "of what is not read", convolution(), R"([["PF", 3, 1, 0, 64]])", kBoth, "'conv' does not read 'data'"}};
}

/// Tiles that are filled ahead of the loop that reads them: of A in C's sum over 12 or 13 elements, 4 at a time, then
/// of the padded data in that of a convolution.
std::vector<StepCase> stagedTiles()
{
    const std::string tile = R"([["CHR", 0, "shared", [2]], ["SP", 3, 2, 0, [4], 1], ["AN", 3, 0, 5], ["AN", 3, 1, 6],
        ["CA", 1, 3, 2], ["FU", 1, [0, 1]], ["SP", 1, 0, 0, [8, )";
    const std::string each = R"(], 1], ["AN", 1, 1, 6], ["AN", 1, 2, 2], ["SG", 1, )";
    return {
        {"SG", "two slices", matmul(7, 8, 12), tile + "1" + each + "2]]", kLaunches},
        {"SG", "three slices, of which the last is not whole", matmul(7, 8, 13), tile + "1" + each + "3]]", kLaunches},
        {"SG", "two elements at once", matmul(7, 8, 12), tile + "2" + each + "2]]", kLaunches},
        {"SG", "a vector at once, more slices than steps", matmul(7, 8, 12), tile + "4" + each + "4]]", kLaunches},
        {"SG", "padding", convolution(),
         R"([["CHR", 1, "shared", [3]], ["CI", 1], ["AN", 4, 1, 5], ["AN", 4, 3, 6], ["CA", 2, 4, 4],
             ["FU", 2, [0, 1, 2, 3]], ["SP", 2, 0, 0, [4], 1], ["AN", 2, 1, 6], ["SG", 2, 2]])",
         kLaunches},
        {"SG", "on a processor", matmul(7, 8, 12),
         R"([["CHR", 0, "shared", [2]], ["SP", 3, 2, 0, [4], 1], ["CA", 1, 3, 2], ["SG", 1, 2]])", kPhases,
         "'A.shared' is filled ahead in memory that threads share, which a processor has not"},
        {"SG", "of what is no copy", matmul(7, 8, 12), R"([["SG", 2, 2]])", kBoth,
         "'C' is no copy in shared memory, which alone is filled ahead"}};
}

std::vector<StepCase> roomForBlocks()
{
    const std::string threads = R"([["SP", 2, 0, 0, [4], 1], ["AN", 2, 0, 5], ["AN", 2, 1, 6])";
    return {{"LB", "room for two blocks", matmul(7, 8, 12), threads + R"(, ["LB", 2, 2]])", kLaunches},
            {"LB", "more than fit", matmul(7, 8, 12), threads + R"(, ["LB", 2, 32]])", kLaunches},
            {"LB", "on a processor", matmul(7, 8, 12), R"([["LB", 2, 2]])", kPhases,
             "'C' counts blocks, which a processor has not"},
            {"LB", "of what has no launch", convolution(), R"([["CI", 1], ["LB", 1, 2]])", kBoth, "'pad' is inlined"}};
}

std::vector<StepCase> casesOf(KernelForm form)
{
    std::vector<StepCase> list;
    for (auto& some : {annotations(), loops(), stages(), memory(), stagedTiles(), roomForBlocks()})
        for (const StepCase& one : some)
            if (std::ranges::find(one.forms, form) != one.forms.end())
                list.push_back(one);
    return list;
}

/// The short name of each alternative of Step.
template<std::size_t... I>
std::vector<std::string> kindsOf(std::index_sequence<I...>)
{
    return {schedule::toJson(Step(std::variant_alternative_t<I, Step>{}))[0].template get<std::string>()...};
}
std::vector<std::string> allKinds()
{
    return kindsOf(std::make_index_sequence<std::variant_size_v<Step>>());
}

/// Numbers of all annotations that a step can have.
std::vector<int> allAnnotations()
{
    std::vector<int> numbers;
    for (int i = 1; schedule::stepFromJson(nlohmann::json::array({"AN", 0, 0, i})); ++i)
        numbers.push_back(i);
    return numbers;
}

std::vector<Step> stepsOf(const StepCase& one)
{
    return must(schedule::stepsFromJson(nlohmann::json::parse(one.steps)));
}

std::vector<Step> without(std::vector<Step> steps, const std::string& kind)
{
    std::erase_if(steps, [&kind](const Step& step) { return schedule::toJson(step)[0] == kind; });
    return steps;
}

/// The loops, and where elements of parameters lie. Errors: those of replaying and lowering.
Result<std::string> loweredText(const StepCase& one, const std::vector<Step>& steps, KernelForm form)
{
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::State::replay(one.dag, steps));
    schedule::LowerOptions options;
    options.form = form;
    options.constantInputs = one.constantInputs;
    LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(state, options));
    return ir::print(kernel.nest);
}

const char* nameOf(KernelForm form)
{
    return form == KernelForm::Phases ? "phases" : "launches";
}

} // namespace

/// Each kind of step of a schedule in a kernel of its own: on every back end it computes its DAG, or the form of
/// kernels has no such thing, and the refusal says what.
class TestConformanceSteps : public QObject, BackEnds
{
    Q_OBJECT

private slots:
    void initTestCase() { prepareDrivers(); }

    void everyKindOfStepHasACase_data()
    {
        QTest::addColumn<int>("form");
        for (const KernelForm form : kBoth)
            QTest::newRow(nameOf(form)) << int(form);
    }
    void everyKindOfStepHasACase()
    {
        QFETCH(int, form);
        const std::vector<StepCase> list = casesOf(KernelForm(form));
        for (const std::string& kind : allKinds()) {
            const auto isOfKind = [&kind](const StepCase& one) { return one.kind == kind; };
            QVERIFY2(std::ranges::any_of(list, isOfKind), kind.c_str());
        }
        for (const StepCase& one : list)
            QVERIFY2(stepsOf(one).size() > without(stepsOf(one), one.kind).size(), one.name.c_str());
    }

    void everyAnnotationHasACase_data() { everyKindOfStepHasACase_data(); }
    void everyAnnotationHasACase()
    {
        QFETCH(int, form);
        std::set<int> had;
        for (const StepCase& one : casesOf(KernelForm(form)))
            for (const Step& step : stepsOf(one))
                if (const auto* annotate = std::get_if<schedule::AnnotateStep>(&step); one.kind == "AN" && annotate)
                    had.insert(static_cast<int>(annotate->annotation));
        const std::vector<int> all = allAnnotations();
        QCOMPARE(all.back(), static_cast<int>(Annotation::Tensorize));
        for (const int annotation : all)
            QVERIFY2(had.contains(annotation), std::to_string(annotation).c_str());
    }

    /// Without its step a kernel is another one, and what was refused is not.
    void casesAreAboutTheirSteps_data() { everyKindOfStepHasACase_data(); }
    void casesAreAboutTheirSteps()
    {
        QFETCH(int, form);
        for (const StepCase& one : casesOf(KernelForm(form))) {
            const std::string name = one.kind + ' ' + one.name;
            const auto with = loweredText(one, stepsOf(one), KernelForm(form));
            const auto less = loweredText(one, without(stepsOf(one), one.kind), KernelForm(form));
            if (!one.refusal.empty()) {
                QVERIFY2(!with, name.c_str());
                QVERIFY2(less, name.c_str());
                continue;
            }
            QVERIFY2(with, with ? "" : (name + ": " + with.error().message).c_str());
            QVERIFY2(!less || *less != *with, name.c_str());
        }
    }

    void stepsComputeTheirDag_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("index");
        for (const std::string& target : targets()) {
            const auto list = casesOf(formOf(target));
            for (std::size_t i = 0; i < list.size(); ++i)
                QTest::newRow((target + ": " + list[i].kind + ", " + list[i].name).c_str())
                    << QString::fromStdString(target) << int(i);
        }
    }
    void stepsComputeTheirDag()
    {
        QFETCH(QString, target);
        QFETCH(int, index);
        if (const std::string none = missing(Target::parse(target.toStdString())->kind()); !none.empty())
            QSKIP(none.c_str());
        const Built& built = builtFor(target.toStdString());
        QVERIFY2(built.problem.empty(), built.problem.c_str());
        const StepCase& one = built.cases[static_cast<std::size_t>(index)];
        const measure::KernelStatus& status = built.product.kernels[static_cast<std::size_t>(index)];
        if (!one.refusal.empty()) {
            QVERIFY2(status.code == Errc::IllegalSchedule || status.code == Errc::Unsupported, status.text.c_str());
            QCOMPARE(int(status.stage), int(TrialStage::Lower));
            QVERIFY2(status.text.find(one.refusal) != std::string::npos, status.text.c_str());
            return;
        }
        if (one.warp > 0 && status.code != Errc::Ok && lanesOf(*built.device) != one.warp) {
            QCOMPARE(int(status.code), int(Errc::BuildFailed));
            QVERIFY2(status.text.find("subgroups of") != std::string::npos, status.text.c_str());
            QSKIP(status.text.c_str());
        }
        const std::string problem = problemOf(*built.device, built.product, static_cast<std::size_t>(index),
                                              {one.name, one.dag, one.steps, one.constantInputs}, 1e-5);
        QCOMPARE(QString::fromStdString(problem), QString());
    }

private:
    /// All cases of a target in one artifact.
    struct Built
    {
        std::vector<StepCase> cases;
        measure::BuiltProduct product;
        std::shared_ptr<serve::Device> device;
        std::string problem;
    };
    std::map<std::string, Built> m_built;

    const Built& builtFor(const std::string& target)
    {
        const auto [at, isNew] = m_built.try_emplace(target);
        Built& built = at->second;
        if (!isNew)
            return built;
        built.cases = casesOf(formOf(target));
        std::vector<Case> list;
        for (const StepCase& one : built.cases)
            list.push_back({one.name, one.dag, one.steps, one.constantInputs});
        auto product = build(target, list);
        auto device = open(target);
        if (product && device) {
            built.product = *std::move(product);
            built.device = *std::move(device);
        } else {
            built.problem = product ? device.error().message : product.error().message;
        }
        return built;
    }
};

LATHE_TEST(TestConformanceSteps)

} // namespace tst_conformance_steps

#include "tst_conformance_steps.moc"
