#include "core/backend/library_link.h"
#include "core/backend/linker_program.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "plugins/cpu/codegen/compile.h"
#include "plugins/cpu/codegen/cpu_target.h"
#include "tests/plugins/cpu/codegen_fixture.h"
#include "tests/plugins/cpu/dag_cases.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#ifndef Q_MOC_RUN // which cannot read them
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#endif

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace tst_cpu_codegen {

using namespace lathe;
using namespace lathe::test;
using ir::Expr;
using ir::LoopKind;

namespace {

/// Names in .dynsym: those that are undefined, or those that are defined; DT_NEEDED entries.
struct DynamicSymbols
{
    std::vector<std::string> undefined, defined, needed;
};

DynamicSymbols dynamicSymbols(const std::vector<std::byte>& file)
{
    DynamicSymbols out;
    const auto at = [&](std::size_t offset, auto& value) { std::memcpy(&value, file.data() + offset, sizeof value); };
    Elf64_Ehdr header{};
    at(0, header);
    for (unsigned s = 0; s < header.e_shnum; ++s) {
        Elf64_Shdr section{};
        at(header.e_shoff + s * sizeof section, section);
        if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC)
            continue;
        Elf64_Shdr strings{};
        at(header.e_shoff + section.sh_link * sizeof strings, strings);
        const auto text = [&](std::uint64_t offset) {
            return std::string(reinterpret_cast<const char*>(file.data()) + strings.sh_offset + offset);
        };
        for (std::uint64_t e = 0; e < section.sh_size / section.sh_entsize; ++e) {
            if (section.sh_type == SHT_DYNSYM) {
                Elf64_Sym symbol{};
                at(section.sh_offset + e * sizeof symbol, symbol);
                if (symbol.st_name != 0)
                    (symbol.st_shndx == SHN_UNDEF ? out.undefined : out.defined).push_back(text(symbol.st_name));
            } else {
                Elf64_Dyn entry{};
                at(section.sh_offset + e * sizeof entry, entry);
                if (entry.d_tag == DT_NEEDED)
                    out.needed.push_back(text(entry.d_un.d_val));
            }
        }
    }
    return out;
}

std::vector<std::byte> readFile(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

schedule::LoweredKernel withLoop(LoopKind kind)
{
    const ir::Stmt body = loop("i", 16, kind,
                               [&](Expr i) { return ir::makeStore(1, {i}, ir::load(0, DType::F32, {i})); });
    return kernelOf("copy", {buffer("x", DType::F32, {16}), buffer("out", DType::F32, {16})}, {body});
}

} // namespace

class TestCpuCodegen : public QObject
{
    Q_OBJECT
private slots:
    void malformedCodeIsCaughtBeforeItIsOptimized();
    void initTestCase()
    {
        m_codegen = codegenFor();
        QVERIFY(m_codegen);
    }
    void linkingChangesNoSetting(); // first: the process has linked nothing yet
    void aTiledMatmulIsRightForAnyNumberOfParts();
    void artifactsNeedNothing();
    void kernelsThatDoTheSameShareTheirCode();
    void variablesOfOneNameAreKeptApart();
    void aKernelThatFailsLeavesTheOthers();
    void loopKindsOfOtherDevicesAreRefusedByName();
    void tooMuchUnrollingIsRefused();
    void registerTilesLeaveNoStackBehind();
    void spillsAreCounted();
    void listingsShowVectorsAndAssembly();
    void aarch64Compiles();
    void unknownProcessorsAreRefused();
    void emptyLoopsDoNothing();
    void halfFloatsNeedTheirConversions();
    void aRegisterBufferThatStaysInMemoryShows();
    void sumsKeepTheirOrder();
    void aLibraryHoldsSectionsAndExportsNamesAlone();
    void anUndefinedSymbolIsNamed();

private:
    std::unique_ptr<backend::Codegen> m_codegen;
};

void TestCpuCodegen::linkingChangesNoSetting()
{
    // LLD forgets what LLVM was told on its command line, for the whole process.
    std::vector<schedule::LoweredKernel> kernels;
    for (const DagCase& example : dagCases()) {
        auto state = schedule::State::replay(example.dag, {});
        QVERIFY(state);
        auto kernel = schedule::lower(*std::move(state), {});
        QVERIFY(kernel);
        kernels.push_back(*std::move(kernel));
    }
    const auto listings = [&] {
        std::vector<std::string> all;
        for (const schedule::LoweredKernel& kernel : kernels)
            all.push_back(codegenFor()->listing(kernel, "assembly")->text);
        return all;
    };
    const std::vector<std::string> before = listings();
    QVERIFY(m_codegen->build({&kernels.front(), 1}));
    QVERIFY(listings() == before);
}

void TestCpuCodegen::aTiledMatmulIsRightForAnyNumberOfParts()
{
    Comparison comparison;
    comparison.parts = {1, 2, 5, 8};
    QCOMPARE(compareWithInterpreter(matmul(12, 32, 17, 4, 16), *m_codegen, comparison), std::string());
}

void TestCpuCodegen::artifactsNeedNothing()
{
    std::vector<schedule::LoweredKernel> kernels{matmul(8, 32, 8, 4, 16), withLoop(LoopKind::Serial)};
    const Result<backend::Artifact> artifact = m_codegen->build(kernels);
    QVERIFY2(artifact, artifact ? "" : artifact.error().message.c_str());
    const DynamicSymbols symbols = dynamicSymbols(artifact->bytes);
    QVERIFY(symbols.undefined.empty());
    QVERIFY(symbols.needed.empty());
    QCOMPARE(symbols.defined.size(), std::size_t{2});
    QCOMPARE(artifact->descriptor.format, std::string("cpu-so"));
    QCOMPARE(artifact->descriptor.kernels[0].phases.size(), std::size_t{1});
    QVERIFY(std::find(symbols.defined.begin(), symbols.defined.end(), artifact->descriptor.kernels[0].phases[0])
            != symbols.defined.end());
    QVERIFY(artifact->kernels[0].info.codeBytes > 0);
}

void TestCpuCodegen::kernelsThatDoTheSameShareTheirCode()
{
    schedule::LoweredKernel twin = matmul(8, 32, 8, 4, 16);
    twin.nest.name = "twin";
    for (ir::Buffer& b : twin.nest.buffers)
        b.name += "2";
    schedule::LoweredKernel other = matmul(8, 32, 8, 4, 8);
    other.nest.name = "other";
    std::vector<schedule::LoweredKernel> kernels{matmul(8, 32, 8, 4, 16), twin, other};
    const Result<backend::Artifact> artifact = m_codegen->build(kernels);
    QVERIFY2(artifact, artifact ? "" : artifact.error().message.c_str());
    const auto& built = artifact->descriptor.kernels;
    QCOMPARE(built.size(), std::size_t{3});
    QVERIFY(built[0].phases == built[1].phases);
    QVERIFY(built[0].phases != built[2].phases);
    QCOMPARE(dynamicSymbols(artifact->bytes).defined.size(), std::size_t{2});
}

void TestCpuCodegen::variablesOfOneNameAreKeptApart()
{
    // out[i] = x[j] with two loops that are both called "i": which of them an index means is not in its text.
    const auto nested = [](bool inner) {
        const Expr outer = ir::var("i"), other = ir::var("i");
        const ir::Stmt store = ir::makeStore(1, {outer}, ir::load(0, DType::F32, {inner ? other : outer}));
        const ir::Stmt loops = ir::makeFor(outer, 0, 16, LoopKind::Serial,
                                           ir::makeFor(other, 0, 16, LoopKind::Serial, store));
        return kernelOf(inner ? "a" : "b", {buffer("x", DType::F32, {16}), buffer("out", DType::F32, {16})},
                        {ir::makeFor(ir::var("part"), 0, 1, LoopKind::Parallel, loops)});
    };
    std::vector<schedule::LoweredKernel> kernels{nested(false), nested(true)};
    const Result<backend::Artifact> artifact = m_codegen->build(kernels);
    QVERIFY2(artifact, artifact ? "" : artifact.error().message.c_str());
    QVERIFY(artifact->descriptor.kernels[0].phases != artifact->descriptor.kernels[1].phases);
}

void TestCpuCodegen::aKernelThatFailsLeavesTheOthers()
{
    std::vector<schedule::LoweredKernel> kernels{withLoop(LoopKind::ThreadX), matmul(8, 32, 8, 4, 16)};
    const Result<backend::Artifact> artifact = m_codegen->build(kernels);
    QVERIFY(artifact);
    QCOMPARE(artifact->kernels.size(), std::size_t{2});
    QVERIFY(artifact->kernels[0].status.error().code == Errc::Unsupported);
    QVERIFY(artifact->kernels[1].status);
    QCOMPARE(artifact->descriptor.kernels.size(), std::size_t{1});
    QCOMPARE(artifact->descriptor.kernels[0].name, std::string("matmul"));
    QVERIFY(LoadedKernels::load(*artifact));
}

void TestCpuCodegen::loopKindsOfOtherDevicesAreRefusedByName()
{
    for (const auto& [kind, name] : {std::pair{LoopKind::BlockX, "blockIdx.x"},
                                     {LoopKind::ThreadY, "threadIdx.y"},
                                     {LoopKind::VThread, "vthread"},
                                     {LoopKind::Tensorized, "tensorized"}}) {
        const schedule::LoweredKernel kernel = withLoop(kind);
        const Result<backend::Artifact> artifact = m_codegen->build({&kernel, 1});
        QVERIFY(!artifact);
        QVERIFY(artifact.error().code == Errc::Unsupported);
        QVERIFY(artifact.error().message.find(name) != std::string::npos);
    }
}

void TestCpuCodegen::tooMuchUnrollingIsRefused()
{
    const ir::Stmt body = loop("i", 100000, LoopKind::Unrolled,
                               [&](Expr i) { return ir::makeStore(1, {i}, ir::load(0, DType::F32, {i})); });
    const schedule::LoweredKernel kernel = kernelOf(
        "huge", {buffer("x", DType::F32, {100000}), buffer("out", DType::F32, {100000})}, {body});
    const Result<backend::Artifact> artifact = m_codegen->build({&kernel, 1});
    QVERIFY(!artifact);
    QVERIFY(artifact.error().code == Errc::BuildFailed);
}

void TestCpuCodegen::registerTilesLeaveNoStackBehind()
{
    const auto codegen = codegenFor("cpu -mtriple=x86_64-linux-gnu -mcpu=znver4");
    QVERIFY(codegen);
    const schedule::LoweredKernel kernel = matmul(28, 64, 64, 14, 32);
    const Result<backend::Listing> ir = codegen->listing(kernel, "ir");
    QVERIFY(ir);
    QVERIFY(ir->text.find("alloca") == std::string::npos);
    const Result<backend::Artifact> artifact = codegen->build({&kernel, 1});
    QVERIFY(artifact);
    QCOMPARE(artifact->kernels[0].info.vectorSpills, std::int64_t{0});
}

void TestCpuCodegen::spillsAreCounted()
{
    // 48 accumulators do not fit 32 registers.
    const auto codegen = codegenFor("cpu -mtriple=x86_64-linux-gnu -mcpu=znver4");
    QVERIFY(codegen);
    const schedule::LoweredKernel kernel = matmul(24, 32, 64, 24, 32);
    const Result<backend::Artifact> artifact = codegen->build({&kernel, 1});
    QVERIFY(artifact);
    QVERIFY(artifact->kernels[0].info.vectorSpills > 16);
}

void TestCpuCodegen::listingsShowVectorsAndAssembly()
{
    const auto codegen = codegenFor("cpu -mtriple=x86_64-linux-gnu -mcpu=haswell");
    QVERIFY(codegen);
    const schedule::LoweredKernel kernel = matmul(8, 32, 8, 4, 16);
    const Result<backend::Listing> ir = codegen->listing(kernel, "ir");
    QVERIFY(ir);
    QVERIFY(ir->text.find("<8 x float>") != std::string::npos);
    const Result<backend::Listing> assembly = codegen->listing(kernel, "assembly");
    QVERIFY(assembly);
    QVERIFY(assembly->text.find("vfmadd231ps") != std::string::npos);
    QVERIFY(assembly->text.find("ymm") != std::string::npos);
    const Result<backend::Listing> source = codegen->listing(kernel, "source");
    QVERIFY(!source);
    QVERIFY(source.error().code == Errc::Unsupported);
}

void TestCpuCodegen::aarch64Compiles()
{
    const auto codegen = codegenFor("cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
    QVERIFY(codegen);
    const schedule::LoweredKernel kernel = matmul(8, 32, 8, 4, 16);
    const Result<backend::Listing> assembly = codegen->listing(kernel, "assembly");
    QVERIFY2(assembly, assembly ? "" : assembly.error().message.c_str());
    QVERIFY(assembly->text.find("fmla") != std::string::npos);
    const Result<backend::Artifact> artifact = codegen->build({&kernel, 1});
    QVERIFY(artifact);
    QVERIFY(dynamicSymbols(artifact->bytes).undefined.empty());
}

void TestCpuCodegen::unknownProcessorsAreRefused()
{
    for (const char* text : {"cpu -mcpu=pentium9", "cpu -mtriple=vax-linux-gnu"}) {
        const Result<std::unique_ptr<backend::Codegen>> codegen = cpu::CpuCodegen::create(*Target::parse(text));
        QVERIFY2(!codegen, text);
        QVERIFY(codegen.error().code == Errc::InvalidArgument);
    }
}

void TestCpuCodegen::emptyLoopsDoNothing()
{
    const ir::Stmt body = loop("i", 0, LoopKind::Serial,
                               [&](Expr i) { return ir::makeStore(1, {i}, ir::load(0, DType::F32, {i})); });
    QCOMPARE(compareWithInterpreter(
                 kernelOf("none", {buffer("x", DType::F32, {4}), buffer("out", DType::F32, {4})}, {body}), *m_codegen),
             std::string());
}

void TestCpuCodegen::halfFloatsNeedTheirConversions()
{
    const auto codegen = codegenFor("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64");
    QVERIFY(codegen);
    const ir::Stmt body = loop("i", 16, LoopKind::Serial,
                               [&](Expr i) { return ir::makeStore(1, {i}, ir::load(0, DType::F16, {i})); });
    const schedule::LoweredKernel kernel = kernelOf(
        "half", {buffer("x", DType::F16, {16}), buffer("out", DType::F16, {16})}, {body});
    const Result<backend::Artifact> artifact = codegen->build({&kernel, 1});
    QVERIFY(!artifact);
    QVERIFY(artifact.error().code == Errc::Unsupported);
    QVERIFY(artifact.error().message.find("float16") != std::string::npos);
}

void TestCpuCodegen::aRegisterBufferThatStaysInMemoryShows()
{
    // A serial loop walks over the tile: it cannot become registers.
    const auto walk = [&](std::int32_t to, std::int32_t from) {
        return loop("i", 64, LoopKind::Serial, [&](Expr i) {
            return loop("l", 16, LoopKind::Vectorized, [&](Expr l) {
                return ir::makeStore(to, {i, l}, ir::load(from, DType::F32, {i, l}));
            });
        });
    };
    const schedule::LoweredKernel kernel = kernelOf("walk",
                                                    {buffer("x", DType::F32, {64, 16}),
                                                     buffer("tile", DType::F32, {64, 16}, ir::Scope::Register),
                                                     buffer("out", DType::F32, {64, 16})},
                                                    {ir::makeBlock({walk(1, 0), walk(2, 1)})});
    const Result<backend::Artifact> artifact = m_codegen->build({&kernel, 1});
    QVERIFY(artifact);
    QVERIFY(artifact->kernels[0].info.vectorSpills > 0);
}

void TestCpuCodegen::sumsKeepTheirOrder()
{
    const schedule::LoweredKernel kernel = matmul(8, 32, 8, 4, 16);
    const Result<backend::Listing> ir = m_codegen->listing(kernel, "ir");
    QVERIFY(ir);
    QVERIFY(ir->text.find("contract") != std::string::npos);
    for (const char* flag : {"reassoc", "fast", "nnan", "ninf", "arcp", "afn"})
        QVERIFY2(ir->text.find(std::string(" ") + flag + " ") == std::string::npos, flag);
}

void TestCpuCodegen::aLibraryHoldsSectionsAndExportsNamesAlone()
{
    const QTemporaryDir directory;
    const schedule::LoweredKernel kernel = matmul(8, 32, 8, 4, 16);
    Result<std::vector<std::byte>> object = m_codegen->compileObject({&kernel, 1}, {});
    QVERIFY(object);
    backend::LibraryRequest request;
    request.name = "sample";
    request.objects.push_back(*object);
    backend::BinarySection section;
    section.symbol = "sample_weights";
    section.bytes.assign(1000, std::byte{7});
    section.alignment = 4096;
    request.sections.push_back(section);
    request.archives = {LATHE_EMPTY_ARCHIVE};
    request.exports = {"matmul_p0", "sample_weights", "sample_weights_end"};
    request.output = directory.filePath("libsample.so").toStdString();
    const Result<> linked = m_codegen->linkLibrary(request);
    QVERIFY2(linked, linked ? "" : linked.error().message.c_str());
    const DynamicSymbols symbols = dynamicSymbols(readFile(request.output.string()));
    for (const std::string& needed : symbols.needed)
        QVERIFY2(needed == "libc.so.6" || needed == "libpthread.so.0" || needed == "libm.so.6", needed.c_str());
    // Sections are hidden: only functions that the script names come out.
    QVERIFY((symbols.defined == std::vector<std::string>{"matmul_p0"}));
    void* handle = dlopen(request.output.c_str(), RTLD_NOW | RTLD_LOCAL);
    QVERIFY2(handle != nullptr, handle != nullptr ? "" : dlerror());
    QVERIFY(dlsym(handle, "matmul_p0") != nullptr);
    dlclose(handle);
    // A linker of this machine's, which links where this back end is not installed, makes the same of it.
    request.output = directory.filePath("libother.so").toStdString();
    const auto program = backend::findLinkerProgram(thisMachine(), request.output);
    if (!program)
        QSKIP(program.error().message.c_str());
    const Result<> again = backend::linkLibrary(request, thisMachine(), **program);
    QVERIFY2(again, again ? "" : again.error().message.c_str());
    const DynamicSymbols other = dynamicSymbols(readFile(request.output.string()));
    QVERIFY(other.defined == symbols.defined && other.undefined == symbols.undefined && other.needed == symbols.needed);
}

void TestCpuCodegen::anUndefinedSymbolIsNamed()
{
    const QTemporaryDir directory;
    backend::LibraryRequest request;
    request.name = "broken";
    request.archives = {LATHE_BROKEN_ARCHIVE};
    request.exports = {"broken_entry"};
    request.output = directory.filePath("libbroken.so").toStdString();
    const Result<> linked = m_codegen->linkLibrary(request);
    QVERIFY(!linked);
    QVERIFY(linked.error().code == Errc::BuildFailed);
    QVERIFY(linked.error().message.find("missing_function") != std::string::npos);
    request.archives = {directory.filePath("absent.a").toStdString()};
    const Result<> absent = m_codegen->linkLibrary(request);
    QVERIFY(!absent);
    QVERIFY(absent.error().code == Errc::NotFound);
}

/// Checks are on in tests (core/support/checks.h): what would crash LLVM is an error that says what is off.
void TestCpuCodegen::malformedCodeIsCaughtBeforeItIsOptimized()
{
    const auto parsed = Target::parse("cpu");
    const auto target = parsed ? cpu::CpuTarget::create(*parsed) : Result<cpu::CpuTarget>(parsed.error());
    QVERIFY2(target, target ? "" : target.error().message.c_str());
    llvm::LLVMContext context;
    llvm::Module module("planted", context);
    module.setTargetTriple(target->triple);
    module.setDataLayout(target->machine->createDataLayout());
    auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
    auto* const function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "planted", module);
    llvm::BasicBlock* const entry = llvm::BasicBlock::Create(context, "entry", function);
    const auto refused = cpu::optimize(module, *target);
    QVERIFY(!refused);
    QVERIFY(refused.error().code == Errc::Internal);
    QVERIFY2(refused.error().message.find("malformed") != std::string::npos, refused.error().message.c_str());
    llvm::ReturnInst::Create(context, entry); // what was missing
    QVERIFY(cpu::optimize(module, *target));
}

LATHE_TEST(TestCpuCodegen)

} // namespace tst_cpu_codegen

#include "tst_cpu_codegen.moc"
