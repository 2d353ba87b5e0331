#include "core/target/kinds.h"
#include "core/target/presets.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <deque>

using namespace lathe;

/// Kinds of targets describe themselves, and their number is open.
class TestKinds : public QObject
{
    Q_OBJECT

    static const BackendTraits& traits(const char* text)
    {
        static std::deque<Target> read;
        const auto target = Target::parse(text);
        if (!target)
            qFatal("%s", target.error().message.c_str());
        read.push_back(*target);
        return read.back().traits();
    }

private slots:
    void theReferencesKindsSayWhatTheyAreLike()
    {
        const BackendTraits& cpu = traits("cpu");
        QVERIFY(cpu.clock == CostClock::Wall && cpu.sharesCores && cpu.runsHere && cpu.libraries
                && !cpu.takesDeviceFigures);
        QCOMPARE(cpu.layout, std::string("NHWC"));
        QCOMPARE(cpu.headStart, "cpu-" + thisMachine());
        QVERIFY(!traits("cpu -mtriple=riscv64-linux-gnu").runsHere);
        const BackendTraits& cuda = traits("cuda -arch=sm_90");
        QVERIFY(cuda.clock == CostClock::Device && cuda.form == KernelForm::Launches && cuda.takesDeviceFigures);
        QVERIFY(!cuda.sharesCores && !cuda.libraries && cuda.runsHere && cuda.layout.empty() && cuda.headStart.empty());
        QVERIFY(traits("sim").clock == CostClock::Model && traits("sim").form == KernelForm::Phases);
        QVERIFY(traits("sim -like=cuda").clock == CostClock::Model
                && traits("sim -like=cuda").form == KernelForm::Launches);
        QCOMPARE(traits("sim").headStart, std::string("sim"));
        QVERIFY(Target().traits() == cpu);
    }

    void tolerancesAreOfTheType()
    {
        const Tolerances usual = traits("cpu").tolerance;
        QCOMPARE(usual.of(DType::F32), 1e-4);
        QVERIFY(usual.of(DType::F16) > usual.of(DType::F32) && usual.of(DType::BF16) > usual.of(DType::F16));
        for (const DType dtype : {DType::Bool, DType::I8, DType::U8, DType::I32, DType::I64})
            QCOMPARE(usual.of(dtype), 0.0);
    }

    void aKindThatIsAddedIsReadAndReplaced()
    {
        QVERIFY(!Target::parse("abacus"));
        TargetKind abacus;
        abacus.name = "abacus";
        abacus.words = {choiceWord("beads", {"wood", "ivory"}), threadsWord()};
        addTargetKind(abacus);
        const auto plain = Target::parse("abacus -beads=wood");
        QVERIFY(plain);
        QVERIFY(plain->traits() == BackendTraits());
        QVERIFY(defaultHardware(*plain).get("num_cores") >= 1);
        abacus.traits = [](const Target& target) {
            BackendTraits traits;
            traits.family = target.attribute("beads") == "ivory" ? "gpu" : "cpu";
            return traits;
        };
        abacus.presets = [](const Target&) {
            Hardware hardware;
            hardware.limits["rods"] = {13, "preset abacus"};
            return hardware;
        };
        addTargetKind(abacus);
        QCOMPARE(Target::parse("abacus -beads=ivory")->family(), std::string("gpu"));
        QCOMPARE(plain->family(), std::string("cpu")); // as of when it was read
        QCOMPARE(defaultHardware(*plain).get("rods"), std::int64_t{13});
        const auto kinds = targetKinds();
        QCOMPARE(
            std::count_if(kinds.begin(), kinds.end(), [](const TargetKindPtr& kind) { return kind->name == "abacus"; }),
            std::ptrdiff_t{1});
        const auto wrong = Target::parse("abacus -beads=glass");
        QVERIFY2(!wrong && wrong.error().message.find("wood or ivory") != std::string::npos,
                 wrong.error().message.c_str());
        const auto unknown = Target::parse("slide-rule");
        QVERIFY2(!unknown && unknown.error().message.find("sim, abacus") != std::string::npos,
                 unknown.error().message.c_str());
    }

    void whatADeviceTellsReplacesPresetsAlone()
    {
        Hardware hardware;
        hardware.limits = {{"a", {1, "preset x"}}, {"b", {2, "detected"}}, {"c", {3, "edited"}}, {"d", {4, "file y"}}};
        Hardware device;
        for (const char* name : {"a", "b", "c", "d", "e"})
            device.limits[name] = {9, "told"};
        hardware.takeDeviceFigures(device);
        QCOMPARE(hardware.get("a"), std::int64_t{9});
        QCOMPARE(hardware.limits.at("a").origin, std::string("told"));
        QCOMPARE(hardware.get("b"), std::int64_t{2});
        QCOMPARE(hardware.get("c"), std::int64_t{3});
        QCOMPARE(hardware.get("d"), std::int64_t{4});
        QCOMPARE(hardware.get("e"), std::int64_t{9});
    }

    void recordsOfTheReferenceNameTheirFamily()
    {
        QCOMPARE(familyOfRecord("llvm -keys=cpu"), std::string("cpu"));
        QCOMPARE(familyOfRecord("opencl -keys=mali,opencl,gpu -device=mali"), std::string("mali"));
        QCOMPARE(familyOfRecord("cuda -keys=cuda,gpu"), std::string("gpu"));
        QCOMPARE(familyOfRecord("sim -like=cuda"), std::string("gpu"));
        QCOMPARE(referenceTargetText(*Target::parse("cpu -threads=2")), std::string("llvm -keys=cpu"));
        QCOMPARE(referenceTargetText(*Target::parse("cuda")), std::string("cuda"));
    }
};

LATHE_TEST(TestKinds)
#include "tst_kinds.moc"
