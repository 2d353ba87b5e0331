#include "core/compute/dag.h"
#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/support/files.h"
#include "plugins/cuda/codegen/nvrtc.h"
#include "plugins/cuda/codegen/spills.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/device/artifact.h"
#include "plugins/cuda/model/wheels.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_cuda_code {

using namespace lathe;
using namespace lathe::test;

namespace {

const char* const kReversed = R"(
extern "C" __global__ void reversed(float* x)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}
)";

/// Twice a vector of so many floats.
std::string doubled(std::int64_t extent)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {extent}, DType::F32);
    const auto y = b.compute("y", {extent}, {}, "elemwise",
                             [&](const auto& i) { return b.at(x, {i[0]}) + b.at(x, {i[0]}); });
    return compute::toJson(*must(std::move(b).finish({y}))).dump();
}

constexpr const char* kBlocks = R"([["SP", 1, 0, 64, [16], 1], ["AN", 1, 0, 5], ["AN", 1, 1, 6]])";

struct Builder
{
    explicit Builder(const std::string& target, const std::string& device = {}, const std::string& nvrtc = {})
    {
        measure::WorkerPrograms programs;
        if (!nvrtc.empty())
            programs.environment = {{"LATHE_NVRTC", nvrtc}};
        client = must(measure::BuilderClient::start(target, programs, {}, device));
    }
    Result<measure::BuiltProduct> build(const std::vector<measure::KernelJob>& jobs,
                                        measure::Product product = measure::Product::Artifact,
                                        const std::string& listing = {}) const
    {
        return client->build(jobs, product, Deadline::inSeconds(60), listing);
    }
    std::unique_ptr<measure::BuilderClient> client;
};

std::vector<runtime::PackedProgram> programsOf(const measure::BuiltProduct& product)
{
    std::vector<runtime::PackedProgram> programs;
    return runtime::unpack(product.bytes, programs) ? programs : std::vector<runtime::PackedProgram>();
}

} // namespace

/// The code generator and NVIDIA's compiler, without a GPU.
class TestCudaCode : public QObject
{
    Q_OBJECT

    /// What went wrong with all kernels, or the one.
    static std::string problemOf(const Result<measure::BuiltProduct>& product)
    {
        return !product ? product.error().message : product->kernels.at(0).text;
    }
    static Errc codeOf(const Result<measure::BuiltProduct>& product)
    {
        return !product ? product.error().code : product->kernels.at(0).code;
    }

private slots:
    void registersAndSpillsAreInTheLog()
    {
        const std::string_view log = "info: one\n  16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
                                     "info: Used 61 registers, used 1 barriers\n"
                                     "info: two\n  0 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads\n"
                                     "info: Used 255 registers, 8320 bytes smem\n";
        QCOMPARE(cuda::spilledBytesIn(log), std::int64_t{36});
        QCOMPARE(cuda::registersIn(log), 255);
        QCOMPARE(cuda::registersIn("no such words"), 0);
    }

    void kernelsThatSpillMayHaveAllRegisters()
    {
        const std::string log =
            "info : Compiling entry function 'one' for 'sm_80'\n  0 bytes spill stores, 0 bytes spill loads\n"
            "info : Compiling entry function 'two' for 'sm_80'\n  8 bytes spill stores, 4 bytes spill loads\n"
            "info : Compiling entry function 'three' for 'sm_80'\n  0 bytes spill stores, 4 bytes spill loads\n";
        QCOMPARE(cuda::spillsOf(log), (cuda::SpilledBytes{{"three", 4}, {"two", 12}}));
        QVERIFY(cuda::spillsOf("").empty());
        const std::string source =
            "void __launch_bounds__(64)\none(int *x)\n{}\nvoid __launch_bounds__(128)\ntwo(int *x)\n"
            "{ two(x); }\nvoid __launch_bounds__(32, 2)\nthree(int *x)\n{}\n";
        const std::string made = cuda::withAllRegisters(source, cuda::spillsOf(log));
        QCOMPARE(made, "void __launch_bounds__(64)\none(int *x)\n{}\nvoid __launch_bounds__(128, 1)\ntwo(int *x)\n"
                       "{ two(x); }\nvoid __launch_bounds__(32, 1)\nthree(int *x)\n{}\n");
        QCOMPARE(cuda::withAllRegisters(made, cuda::spillsOf(log)), made);
        QCOMPARE(cuda::withAllRegisters(source, {{"four", 8}}), source);

        // A candidate for a convolution of 3x3, of which the compiler spills 32 bytes at 168 registers.
        LATHE_NEEDS_NVRTC();
        const std::string spilling = must(readFile(LATHE_SOURCE_DIR "/tests/plugins/cuda/texts/spilling.cu"));
        const cuda::Compiled compiled = must(must(cuda::Nvrtc::find(80))->compile(spilling, 80));
        QCOMPARE(compiled.spilledBytes, std::int64_t{0});
        QVERIFY(compiled.registers > 168);
    }

    void pythonsPackagesAreLookedThrough()
    {
        QTemporaryDir home;
        const auto make = [&](const char* path) { QVERIFY(QDir(home.path()).mkpath(path)); };
        make("own/lib/python3.12/site-packages/nvidia/cu13/lib");
        make("own/bin");
        make("home/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
        make("data/lathe/nvidia-cuda-nvrtc/nvidia/cu13/lib");
        make("data/lathe/nvidia-cuda-nvrtc-cu12/nvidia/cuda_nvrtc/lib");
        make("home/.local/lib/python2.7/site-packages/nvidia/cuda_nvrtc/lib");
        const QByteArray path = qgetenv("PATH"), before = qgetenv("HOME"), data = qgetenv("XDG_DATA_HOME");
        qputenv("PATH", (home.path() + "/own/bin:relative/bin").toUtf8());
        qputenv("HOME", (home.path() + "/home").toUtf8());
        qputenv("XDG_DATA_HOME", (home.path() + "/data").toUtf8());
        std::vector<std::filesystem::path> folders = cuda::nvrtcFolders();
        const std::string command = cuda::wheelCommand("nvidia-cuda-nvrtc");
        qputenv("PATH", path);
        qputenv("HOME", before);
        data.isNull() ? qunsetenv("XDG_DATA_HOME") : qputenv("XDG_DATA_HOME", data);
        std::erase(folders, "/usr/local/cuda/lib64");
        const std::filesystem::path root = home.path().toStdString();
        QCOMPARE(folders.size(), std::size_t{4});
        // Where the command that the errors tell puts it, it is found.
        QVERIFY(command.find("--target " + (root / "data/lathe/nvidia-cuda-nvrtc").string() + ' ')
                != std::string::npos);
        QVERIFY(folders[0] == root / "data/lathe/nvidia-cuda-nvrtc/nvidia/cu13/lib");
        QVERIFY(folders[1] == root / "data/lathe/nvidia-cuda-nvrtc-cu12/nvidia/cuda_nvrtc/lib");
        QVERIFY(folders[2] == root / "home/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
        QVERIFY(folders[3] == root / "own/lib/python3.12/site-packages/nvidia/cu13/lib");
    }

    void eachArchitectureHasPtxAndACubin_data()
    {
        QTest::addColumn<int>("capability");
        for (const int capability : {50, 61, 70, 75, 80, 86, 89, 90, 100, 120, 121})
            QTest::newRow(cuda::architectureName(capability).c_str()) << capability;
    }
    void eachArchitectureHasPtxAndACubin()
    {
        LATHE_NEEDS_NVRTC();
        QFETCH(int, capability);
        const auto compiler = cuda::Nvrtc::find(capability);
        if (!compiler) { // one that is older or newer makes it
            QCOMPARE(int(compiler.error().code), int(Errc::Unsupported));
            const std::string words = compiler.error().message;
            QVERIFY2(words.find(cuda::architectureName(capability)) != std::string::npos
                         && words.find(capability < 75 ? "nvidia-cuda-nvrtc-cu12" : "nvidia-cuda-nvrtc")
                                != std::string::npos,
                     words.c_str());
            QSKIP(words.c_str());
        }
        const auto made = (*compiler)->compile(kReversed, capability);
        QVERIFY2(made, made ? "" : made.error().message.c_str());
        QVERIFY(made->ptx.find(".target " + cuda::architectureName(capability)) != std::string::npos);
        QVERIFY(made->ptx.find("reversed") != std::string::npos);
        QVERIFY(made->cubin.starts_with("\x7f"
                                        "ELF"));
        QVERIFY(made->registers > 0);
        QCOMPARE(made->spilledBytes, std::int64_t{0});
    }

    void whatTheCompilerRefusesIsInItsWords()
    {
        LATHE_NEEDS_NVRTC();
        const auto made = must(cuda::Nvrtc::find(80))->compile("__global__ void f() { nonsense; }", 80);
        QVERIFY(!made);
        QCOMPARE(int(made.error().code), int(Errc::BuildFailed));
        QVERIFY2(made.error().message.find("\"nonsense\" is undefined") != std::string::npos,
                 made.error().message.c_str());
    }

    void aNewerDeviceRunsCodeOfAnOlderArchitecture()
    {
        LATHE_NEEDS_NVRTC();
        const auto [compiler, made] = must(cuda::Nvrtc::findFor(125));
        QCOMPARE(made, compiler->capabilities().back());
        QCOMPARE(must(cuda::Nvrtc::findFor(86)).second, 86);
    }

    void withoutACompilerOneSentenceNamesThePackage()
    {
        const Builder builder("cuda -arch=sm_80", {}, "/nowhere/libnvrtc.so");
        const auto product = builder.build({{"k", doubled(64), kBlocks, {}}});
        QCOMPARE(int(codeOf(product)), int(Errc::NotFound));
        const std::string words = problemOf(product);
        QVERIFY2(words.find("pip install --upgrade --target ") != std::string::npos
                     && words.find("/lathe/nvidia-cuda-nvrtc nvidia-cuda-nvrtc'") != std::string::npos
                     && words.find("LATHE_NVRTC") != std::string::npos,
                 words.c_str());
    }

    void withoutAnArchitectureAndADeviceOneSentenceNamesTheWord()
    {
        const Builder builder("cuda");
        const auto product = builder.build({{"k", doubled(64), kBlocks, {}}});
        QCOMPARE(int(codeOf(product)), int(Errc::InvalidArgument));
        QVERIFY2(problemOf(product).find("add -arch=sm_90") != std::string::npos, problemOf(product).c_str());
    }

    void codeIsForTheTargetsArchitectureElseForTheDevices_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("made");
        QTest::newRow("target") << "cuda -arch=sm_80"
                                << R"({"architecture":"sm_90"})"
                                << "sm_80";
        QTest::newRow("device") << "cuda"
                                << R"({"architecture":"sm_90"})"
                                << "sm_90";
        QTest::newRow("a device newer than all compilers") << "cuda"
                                                           << R"({"architecture":"sm_999"})"
                                                           << "";
    }
    void codeIsForTheTargetsArchitectureElseForTheDevices()
    {
        LATHE_NEEDS_NVRTC();
        QFETCH(QString, target);
        QFETCH(QString, device);
        QFETCH(QString, made);
        const Builder builder(target.toStdString(), device.toStdString());
        const auto product = must(builder.build({{"k", doubled(64), kBlocks, {}}}));
        QVERIFY2(product.kernels[0].code == Errc::Ok, product.kernels[0].text.c_str());
        QCOMPARE(product.descriptor.format, std::string(cuda::kFormat));
        const auto programs = programsOf(product);
        QCOMPARE(programs.size(), std::size_t{1});
        const std::string madeFor = made.isEmpty() ? cuda::architectureName(must(cuda::Nvrtc::findFor(999)).second)
                                                   : made.toStdString();
        QCOMPARE(programs[0].madeFor, madeFor);
        QVERIFY(programs[0].source.find(".target " + madeFor) != std::string::npos);
        QVERIFY(programs[0].binary.starts_with("\x7f"
                                               "ELF"));
        QCOMPARE(programs[0].symbols, product.descriptor.kernels[0].launches[0].symbol + '\n');
        QVERIFY(product.kernels[0].info.codeBytes > 0);
    }

    /// A driver takes nothing of a compiler whose major version is later than its own.
    void theCompilerIsNoNewerThanTheDriver_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("made");
        const auto row = [](const char* name, const char* target, const char* device, const char* made) {
            QTest::newRow(name) << target << device << made;
        };
        row("older driver", "cuda", R"({"architecture":"sm_90","driver":"CUDA 12.4"})", "NVRTC 12");
        row("newer driver", "cuda", R"({"architecture":"sm_90","driver":"CUDA 13.1"})", "NVRTC 13");
        row("older than both", "cuda", R"({"architecture":"sm_90","driver":"CUDA 11.8"})", "NVRTC 13");
        row("a driver that does not say", "cuda", R"({"architecture":"sm_90"})", "NVRTC 13");
        row("an architecture that is named", "cuda -arch=sm_90", R"({"architecture":"sm_90","driver":"CUDA 12.4"})",
            "NVRTC 12");
        row("a device that is newer than both", "cuda", R"({"architecture":"sm_2147483647","driver":"CUDA 12.4"})",
            "NVRTC 12");
        row("no device", "cuda -arch=sm_90", "", "NVRTC 13");
    }
    void theCompilerIsNoNewerThanTheDriver()
    {
        QFETCH(QString, target);
        QFETCH(QString, device);
        QFETCH(QString, made);
        QTemporaryDir folder;
        QVERIFY(QFile::copy(LATHE_FAKE_NVRTC_12, folder.filePath("libnvrtc.so.12")));
        QVERIFY(QFile::copy(LATHE_FAKE_NVRTC_13, folder.filePath("libnvrtc.so.13")));
        const Builder builder(target.toStdString(), device.toStdString(), folder.path().toStdString());
        const auto product = must(builder.build({{"k", doubled(64), kBlocks, {}}}));
        const auto programs = programsOf(product);
        QCOMPARE(programs.size(), std::size_t{1});
        QVERIFY2(QString::fromStdString(programs[0].source).contains(made), programs[0].source.c_str());
    }

    void equalLaunchesOfSeveralCandidatesAreOneProgram()
    {
        LATHE_NEEDS_NVRTC();
        const Builder builder("cuda -arch=sm_80");
        const auto product = must(builder.build(
            {{"one", doubled(64), kBlocks, {}}, {"two", doubled(64), kBlocks, {}}, {"three", doubled(96), "[]", {}}}));
        QCOMPARE(product.descriptor.kernels.size(), std::size_t{3});
        QCOMPARE(programsOf(product).size(), std::size_t{2});
        QCOMPARE(product.descriptor.kernels[0].launches[0].symbol, product.descriptor.kernels[1].launches[0].symbol);
        // What was compiled before is the same.
        const auto again = must(builder.build({{"one", doubled(64), kBlocks, {}}}));
        QCOMPARE(programsOf(again)[0].binary, programsOf(product)[0].binary);
    }

    void aKernelIsShownAsSourceAndAsPtx()
    {
        LATHE_NEEDS_NVRTC();
        const Builder builder("cuda -arch=sm_80");
        const auto shown = [&](const char* name) {
            return must(builder.build({{"k", doubled(64), kBlocks, {}}}, measure::Product::Listing, name))
                .listings.at(0);
        };
        QVERIFY(shown("source").text.find("__global__") != std::string::npos);
        QVERIFY(shown("ptx").text.find(".target sm_80") != std::string::npos);
    }

    void aKernelIsShownAsMachineCode()
    {
        LATHE_NEEDS_NVRTC();
        const Builder builder("cuda -arch=sm_80");
        const auto product = builder.build({{"k", doubled(64), kBlocks, {}}}, measure::Product::Listing, "sass");
        if (!cuda::findDisassembler()) {
            QVERIFY2(problemOf(product).find("nvidia-cuda-nvdisasm") != std::string::npos, problemOf(product).c_str());
            return;
        }
        const backend::Listing& listing = must(product).listings.at(0);
        QVERIFY(listing.text.find("    EXIT ;\n") != std::string::npos);
        QVERIFY(listing.generalRegisters > 0);
    }

    void whatALaunchTakesIsTold()
    {
        LATHE_NEEDS_NVRTC();
        const Builder builder("cuda -arch=sm_80");
        const auto product = must(builder.build({{"k", doubled(64), kBlocks, {}}}));
        const auto& launches = product.kernels[0].info.launches;
        QCOMPARE(launches.size(), std::size_t{1});
        QVERIFY(launches[0].registers > 0 && launches[0].registers < 32);
        QCOMPARE(launches[0].sharedBytes, std::int64_t{0});
        QCOMPARE(launches[0].localBytes, std::int64_t{0});
        QCOMPARE(launches[0].spilledBytes, std::int64_t{0});
    }
};

LATHE_TEST(TestCudaCode)

} // namespace tst_cuda_code

#include "tst_cuda_code.moc"
