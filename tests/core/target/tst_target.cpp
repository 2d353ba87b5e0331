#include "core/target/detect.h"
#include "core/target/target.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>

namespace tst_target {

using namespace lathe;

class TestTarget : public QObject
{
    Q_OBJECT

private slots:
    void textIsCanonicalAndRoundTrips()
    {
        const auto target = Target::parse("  cpu   -threads=2 -mcpu=znver4 ");
        QVERIFY(target);
        QCOMPARE(target->text(), std::string("cpu -mcpu=znver4 -threads=2"));
        QVERIFY(*Target::parse(target->text()) == *target);
        const auto spaced = Target::parse("sim -script=\"/a b/c.json\" -like=cuda");
        QVERIFY(spaced);
        QCOMPARE(*spaced->attribute("script"), std::string("/a b/c.json"));
        QVERIFY(*Target::parse(spaced->text()) == *spaced);
    }

    void theMachineIsTheTriplesElseThisOne()
    {
        QCOMPARE(Target::parse("cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72")->machine(), std::string("aarch64"));
        QCOMPARE(Target::parse("cpu -mtriple=riscv64")->machine(), std::string("riscv64"));
        QCOMPARE(Target::parse("cpu -threads=2")->machine(), thisMachine());
        QVERIFY(!thisMachine().empty());
    }

    void refusalsNameTheWord_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("word");
        QTest::newRow("empty") << ""
                               << "empty";
        QTest::newRow("kind") << "tpu"
                              << "tpu";
        QTest::newRow("reference's name") << "llvm -mcpu=core-avx2"
                                          << "named cpu";
        QTest::newRow("no dash") << "cpu mcpu=x"
                                 << "mcpu=x";
        QTest::newRow("no value") << "cpu -mcpu="
                                  << "-mcpu=";
        QTest::newRow("unknown key") << "cuda -mcpu=x"
                                     << "-mcpu=x";
        QTest::newRow("threads") << "cpu -threads=0"
                                 << "-threads=0";
        QTest::newRow("threads text") << "cpu -threads=2x"
                                      << "-threads=2x";
        QTest::newRow("twice") << "cpu -threads=2 -threads=3"
                               << "-threads=3";
        QTest::newRow("like") << "sim -like=fpga"
                              << "-like=fpga";
        QTest::newRow("arch") << "cuda -arch=90"
                              << "-arch=90";
        QTest::newRow("quote") << "cpu -mcpu=\"a"
                               << "quote";
    }
    void refusalsNameTheWord()
    {
        QFETCH(QString, text);
        QFETCH(QString, word);
        const auto target = Target::parse(text.toStdString());
        QVERIFY(!target);
        QVERIFY(target.error().code == Errc::InvalidArgument);
        QVERIFY2(target.error().message.find(word.toStdString()) != std::string::npos, target.error().message.c_str());
    }

    void familiesFollowKindAndDevice()
    {
        const auto family = [](const char* text) { return QString::fromStdString(Target::parse(text)->family()); };
        QCOMPARE(family("cpu"), "cpu");
        QCOMPARE(family("cuda -arch=sm_90"), "gpu");
        QCOMPARE(family("opencl"), "gpu");
        QCOMPARE(family("opencl -device=mali -host=aarch64-linux-gnu"), "mali");
        QCOMPARE(family("sim"), "cpu");
        QCOMPARE(family("sim -like=cuda"), "gpu");
        QCOMPARE(family("sim -like=mali"), "mali");
    }

    void presetsAreTheReferences()
    {
        const auto eight = [](const char* text) { return defaultHardware(*Target::parse(text)).referenceEight(); };
        using Eight = std::vector<std::int64_t>;
        QCOMPARE(eight("cuda"), (Eight{-1, 16, 64, 49152, 2147483647, 1024, 8, 32}));
        QCOMPARE(eight("opencl -device=mali"), (Eight{-1, 16, 64, 32768, 2147483647, 256, 1, 1}));
        QCOMPARE(eight("opencl -device=adreno"), (Eight{-1, 16, 64, 32768, 32768, 256, 1, 1}));
        QCOMPARE(eight("sim -like=cuda"), eight("cuda"));
        QCOMPARE(eight("cpu -mcpu=znver4 -threads=8"), (Eight{8, 64, 64, 0, 0, 0, 0, 0}));
        QCOMPARE(defaultHardware(*Target::parse("cuda")).limits["warp_size"].origin, std::string("preset cuda"));
    }

    void aNamedCpuBringsItsRegistersAndCaches()
    {
        const Hardware avx2 = defaultHardware(*Target::parse("cpu -mcpu=haswell -threads=4"));
        QCOMPARE(avx2.get("vector_unit_bytes"), 32);
        QCOMPARE(avx2.get("vector_registers"), 16);
        QCOMPARE(avx2.limits.at("num_cores").origin, std::string("user"));
        const Hardware arm = defaultHardware(*Target::parse("cpu -mcpu=cortex-a72 -threads=2"));
        QCOMPARE(arm.get("vector_unit_bytes"), 16);
        QCOMPARE(arm.get("vector_registers"), 32);
        QCOMPARE(arm.get("no such limit", 7), 7);
    }

    void detectionReadsTheKernelsFiles()
    {
        QTemporaryDir dir;
        const std::filesystem::path root = dir.path().toStdString();
        const auto write = [&](const std::string& name, const std::string& text) {
            std::filesystem::create_directories((root / name).parent_path());
            std::ofstream(root / name) << text << '\n';
        };
        write("proc/cpuinfo",
              "processor\t: 0\nflags\t\t: fpu avx2 fma sse2\nphysical id\t: 0\ncore id\t\t: 0\ncpu MHz\t\t: 3100.5\n\n"
              "processor\t: 1\nphysical id\t: 0\ncore id\t\t: 1\n");
        const std::string cache = "sys/devices/system/cpu/cpu0/cache/index";
        const auto level = [&](int index, const char* depth, const char* type, const char* size) {
            write(cache + std::to_string(index) + "/level", depth);
            write(cache + std::to_string(index) + "/type", type);
            write(cache + std::to_string(index) + "/size", size);
            write(cache + std::to_string(index) + "/coherency_line_size", "128");
        };
        level(0, "1", "Data", "48K");
        level(1, "1", "Instruction", "32K");
        level(2, "2", "Unified", "2M");
        const Hardware hardware = detectHardware(root);
        QCOMPARE(hardware.get("vector_unit_bytes"), 32);
        QCOMPARE(hardware.get("vector_registers"), 16);
        QCOMPARE(hardware.get("l1d_bytes"), 48 * 1024);
        QCOMPARE(hardware.get("l2_bytes"), 2 * 1024 * 1024);
        QCOMPARE(hardware.get("cache_line_bytes"), 128);
        QCOMPARE(hardware.get("physical_cores"), 2);
        QCOMPARE(hardware.get("clock_mhz"), 3100);
        QCOMPARE(hardware.limits.at("l2_bytes").origin, std::string("detected"));
        QCOMPARE(hardware.limits.at("l3_bytes").origin, std::string("preset cpu"));
    }

    void aMachineThatTellsNothingGetsCautiousPresets()
    {
        QTemporaryDir dir;
        const Hardware hardware = detectHardware(dir.path().toStdString());
        QCOMPARE(hardware.get("vector_unit_bytes"), 16);
        for (const auto& [name, limit] : hardware.limits)
            QCOMPARE(limit.origin, std::string("preset cpu"));
    }

    void aQuotaBelowTheProcessorsIsTheNumberOfThreads()
    {
        QTemporaryDir dir;
        const std::filesystem::path root = dir.path().toStdString();
        std::filesystem::create_directories(root / "proc/self");
        std::filesystem::create_directories(root / "sys/fs/cgroup");
        std::ofstream(root / "proc/self/cgroup") << "0::/\n";
        std::ofstream(root / "proc/self/mountinfo") << "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        QVERIFY(availableThreads(root) >= 1);
        std::ofstream(root / "sys/fs/cgroup/cpu.max") << "90000 100000\n";
        QCOMPARE(availableThreads(root), 1U);
    }

    void plainCpuIsThisMachine()
    {
        const Target target = *Target::parse("cpu");
        const Hardware hardware = defaultHardware(target);
        QVERIFY(hardware.get("num_cores") >= 1);
        QCOMPARE(hardware.get("num_cores"), static_cast<std::int64_t>(target.threads()));
        QVERIFY(hardware.get("vector_unit_bytes") >= 16);
        QVERIFY(hardware.get("l1d_bytes") > 0);
    }
};

LATHE_TEST(TestTarget)

} // namespace tst_target

#include "tst_target.moc"
