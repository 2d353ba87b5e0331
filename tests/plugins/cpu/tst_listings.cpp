#include "core/ir/print.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/support/files.h"
#include "plugins/cpu/codegen/listing_marks.h"
#include "plugins/cpu/codegen/phase_compiler.h"
#include "tests/plugins/cpu/codegen_fixture.h"
#include "tests/plugins/cpu/dag_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace tst_listings {

using namespace lathe;
using namespace lathe::test;
using backend::LineMark;

namespace {

constexpr char kHaswell[] = "cpu -mtriple=x86_64-linux-gnu -mcpu=haswell";
constexpr char kArm[] = "cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";

/// All that runs and all that it reads: the sections that are loaded, but for what unwinders and debuggers read.
std::string loadedBytes(const std::vector<std::byte>& object)
{
    const char* data = reinterpret_cast<const char*>(object.data());
    Elf64_Ehdr header{};
    std::memcpy(&header, data, sizeof header);
    const auto section = [&](std::size_t index) {
        Elf64_Shdr found{};
        std::memcpy(&found, data + header.e_shoff + index * sizeof found, sizeof found);
        return found;
    };
    const char* names = data + section(header.e_shstrndx).sh_offset;
    std::string bytes;
    for (std::size_t s = 0; s < header.e_shnum; ++s) {
        const std::string name = names + section(s).sh_name;
        if (name.starts_with(".text") || name.starts_with(".rodata"))
            bytes += name + ":" + std::string(data + section(s).sh_offset, section(s).sh_size);
    }
    return bytes;
}

QStringList linesOf(const std::string& text)
{
    return QString::fromStdString(text).split(QLatin1Char('\n'));
}

bool has(const backend::Listing& listing, LineMark mark)
{
    return std::ranges::find(listing.marks, mark, &backend::MarkedLines::mark) != listing.marks.end();
}

} // namespace

class TestListings : public QObject
{
    Q_OBJECT
private slots:
    void debugLocationsChangeNoByteOfTheCode_data();
    void debugLocationsChangeNoByteOfTheCode();
    void theCodeShownIsTheCodeMeasured_data() { debugLocationsChangeNoByteOfTheCode_data(); }
    void theCodeShownIsTheCodeMeasured();
    void buildingIsTheSameBeforeAndAfterAListing();
    void linesPointToTheStatementsThatTheyCameFrom_data();
    void linesPointToTheStatementsThatTheyCameFrom();
    void theHotLoopIsTheOneWithMostWork();
    void spillsAreMarked();
    void registersAreCounted();
    void nothingForDebuggersIsLeft();
    void theEstimateIsOfTheHotLoop();
    void withoutTheToolOneSentenceNamesThePackage();
    void listingsSurviveTheWayBetweenProcesses();
};

void TestListings::debugLocationsChangeNoByteOfTheCode_data()
{
    QTest::addColumn<QString>("target");
    QTest::addRow("haswell") << kHaswell;
    QTest::addRow("znver4") << "cpu -mtriple=x86_64-linux-gnu -mcpu=znver4";
    QTest::addRow("cortex-a72") << kArm;
}

void TestListings::debugLocationsChangeNoByteOfTheCode()
{
    QFETCH(QString, target);
    const auto cpu = cpu::CpuTarget::create(*Target::parse(target.toStdString()));
    QVERIFY(cpu);
    std::vector<ir::LoopNest> nests{matmul(8, 32, 8, 4, 16).nest, matmul(24, 32, 64, 24, 32).nest};
    for (const DagCase& example : dagCases()) {
        auto state = schedule::State::replay(example.dag, {});
        QVERIFY(state);
        auto kernel = schedule::lower(*std::move(state), {});
        QVERIFY(kernel);
        nests.push_back(kernel->nest);
    }
    int compared = 0;
    for (const ir::LoopNest& nest : nests) {
        const ir::LoopNest own = ir::withOwnStatements(nest);
        const ir::PrintedNest printed = ir::printWithLines(own);
        for (std::size_t phase = 0; phase < nest.phases.size(); ++phase) {
            const auto plain = cpu::compilePhase(*cpu, nest, phase, "f", cpu::CodeFormat::Object);
            const auto located = cpu::compilePhase(*cpu, own, phase, "f", cpu::CodeFormat::Object, &printed);
            QCOMPARE(plain.has_value(), located.has_value());
            if (!plain)
                continue;
            QVERIFY2(loadedBytes(plain->bytes) == loadedBytes(located->bytes), nest.name.c_str());
            QVERIFY(located->bytes.size() > plain->bytes.size()); // it does have locations
            ++compared;
        }
    }
    QVERIFY(compared > 20);
}

void TestListings::theCodeShownIsTheCodeMeasured()
{
    // Also where LLVM would order instructions another way for a debugger (the in-order Cortex-A53).
    QFETCH(QString, target);
    for (const QString& text : {target, QStringLiteral("cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a53")}) {
        const auto cpu = cpu::CpuTarget::create(*Target::parse(text.toStdString()));
        QVERIFY(cpu);
        for (const DagCase& example : dagCases()) {
            auto state = schedule::State::replay(example.dag, {});
            QVERIFY(state);
            const auto kernel = schedule::lower(*std::move(state), {});
            QVERIFY(kernel);
            const auto listing = codegenFor(text.toStdString())->listing(*kernel, "assembly");
            if (!listing)
                continue;
            std::string measured;
            for (std::size_t phase = 0; phase < kernel->nest.phases.size(); ++phase) {
                const auto code = cpu::compilePhase(*cpu, kernel->nest, phase, cpu::phaseSymbol(kernel->nest, phase),
                                                    cpu::CodeFormat::Assembly);
                QVERIFY(code);
                for (const std::string& line :
                     cpu::readAssembly({reinterpret_cast<const char*>(code->bytes.data()), code->bytes.size()}).lines)
                    measured += line + '\n';
            }
            QCOMPARE(listing->text, measured);
            const auto located = std::ranges::count_if(listing->statements, [](std::int32_t s) { return s >= 0; });
            QVERIFY(located > 0);
        }
    }
}

void TestListings::buildingIsTheSameBeforeAndAfterAListing()
{
    const schedule::LoweredKernel kernel = matmul(24, 32, 64, 24, 32);
    const auto codegen = codegenFor(kHaswell);
    const auto before = codegen->compileObject({&kernel, 1}, {});
    for (const char* name : {"ir", "assembly"})
        QVERIFY(codegen->listing(kernel, name));
    const auto after = codegen->compileObject({&kernel, 1}, {});
    QVERIFY(before && after);
    QVERIFY(*before == *after);
}

void TestListings::linesPointToTheStatementsThatTheyCameFrom_data()
{
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("adds"); // what multiplies and adds up there
    QTest::addRow("LLVM IR") << kHaswell << "ir"
                             << "fmuladd";
    QTest::addRow("x86") << kHaswell << "assembly"
                         << "vfmadd231ps";
    QTest::addRow("Arm") << kArm << "assembly"
                         << "fmla";
}

void TestListings::linesPointToTheStatementsThatTheyCameFrom()
{
    QFETCH(QString, target);
    QFETCH(QString, name);
    QFETCH(QString, adds);
    const schedule::LoweredKernel kernel = matmul(8, 32, 8, 4, 16);
    const auto listing = codegenFor(target.toStdString())->listing(kernel, name.toStdString());
    QVERIFY2(listing, listing ? "" : listing.error().message.c_str());
    QCOMPARE(listing->program, ir::print(kernel.nest));
    const QStringList code = linesOf(listing->text);
    const QStringList program = linesOf(listing->program);
    QCOMPARE(listing->statements.size(), static_cast<std::size_t>(code.size()) - 1);
    int found = 0;
    std::set<std::int32_t> loops;
    for (qsizetype i = 0; i + 1 < code.size(); ++i) {
        const std::int32_t statement = listing->statements[static_cast<std::size_t>(i)];
        QVERIFY(statement < program.size());
        if (statement >= 0 && program[statement].trimmed().startsWith(QLatin1String("for ")))
            loops.insert(statement);
        if (!code[i].contains(adds) || code[i].startsWith(QLatin1String("declare")))
            continue;
        ++found;
        QVERIFY2(statement >= 0 && program[statement].contains(QLatin1String(" = (")), qPrintable(code[i]));
    }
    QVERIFY(found > 0);
    QVERIFY(!loops.empty()); // counting and jumping are of the loop
}

void TestListings::theHotLoopIsTheOneWithMostWork()
{
    const schedule::LoweredKernel kernel = matmul(8, 32, 8, 4, 16);
    for (const char* target : {kHaswell, kArm}) {
        const auto listing = codegenFor(target)->listing(kernel, "assembly");
        QVERIFY(listing);
        const QStringList code = linesOf(listing->text);
        const auto count = std::ranges::count(listing->marks, LineMark::HotLoop, &backend::MarkedLines::mark);
        QCOMPARE(count, 1);
        QVERIFY(has(*listing, LineMark::Loop)); // those around it
        const auto hot = std::ranges::find(listing->marks, LineMark::HotLoop, &backend::MarkedLines::mark);
        QVERIFY(code[hot->first].startsWith(QLatin1String(".LBB")));
        QVERIFY(code[hot->last].contains(code[hot->first].section(QLatin1Char(':'), 0, 0)));
        const QString body = code.mid(hot->first, hot->last - hot->first).join(QLatin1Char('\n'));
        QVERIFY(body.contains(QLatin1String("vfmadd")) || body.contains(QLatin1String("fmla")));
    }
}

void TestListings::spillsAreMarked()
{
    const auto codegen = codegenFor("cpu -mtriple=x86_64-linux-gnu -mcpu=znver4");
    const auto many = codegen->listing(matmul(24, 32, 64, 24, 32), "assembly"); // 48 accumulators, 32 registers
    QVERIFY(many);
    QVERIFY(has(*many, LineMark::Spill));
    QVERIFY(has(*many, LineMark::Reload));
    const auto few = codegen->listing(matmul(28, 64, 64, 14, 32), "assembly");
    QVERIFY(few);
    QVERIFY(!has(*few, LineMark::Spill));
}

void TestListings::registersAreCounted()
{
    using cpu::countRegisters;
    const auto x86 = countRegisters({"\tvaddps\t(%rax,%r10,4), %ymm3, %ymm12", "\tmovl\t%eax, %r10d # %xmm9",
                                     "\tmovb\t%sil, %al", "f: # %xmm1", "\t.quad\t%xmm2"},
                                    true);
    QCOMPARE(x86.vector, 2);
    QCOMPARE(x86.general, 3); // rax, r10, rsi
    const auto arm = countRegisters({"\tfmla\tv3.4s, v4.4s, v5.s[0]", "\tldr\tq3, [x0, #-16]", "\tmov\tw0, w9"}, false);
    QCOMPARE(arm.vector, 3);
    QCOMPARE(arm.general, 2);
    const auto listing = codegenFor(kHaswell)->listing(matmul(8, 32, 8, 4, 16), "assembly");
    QVERIFY(listing);
    QVERIFY(listing->vectorRegisters >= 9 && listing->vectorRegisters <= 16); // 8 sums and what they are made of
    QCOMPARE(listing->vectorRegistersOf, 16);
    QVERIFY(listing->generalRegisters > 3 && listing->generalRegisters <= 16);
}

void TestListings::nothingForDebuggersIsLeft()
{
    for (const char* target : {kHaswell, kArm})
        for (const char* name : {"ir", "assembly"}) {
            const auto listing = codegenFor(target)->listing(matmul(8, 32, 8, 4, 16), name);
            QVERIFY(listing);
            for (const char* word : {".loc", ".debug", ".cfi_", ".Ltmp", "!dbg", "DILocation", "#APP"})
                QVERIFY2(listing->text.find(word) == std::string::npos, word);
        }
}

void TestListings::theEstimateIsOfTheHotLoop()
{
    if (qEnvironmentVariable("PATH").isEmpty())
        QSKIP("there is no search path");
    const auto codegen = codegenFor(kHaswell);
    const auto listing = codegen->listing(matmul(8, 32, 8, 4, 16), "mca");
    if (!listing && listing.error().code == Errc::NotFound)
        QSKIP("llvm-mca is not installed");
    QVERIFY2(listing, listing ? "" : listing.error().message.c_str());
    QVERIFY(listing->text.starts_with("Lines "));
    QVERIFY(listing->text.find("Block RThroughput:") != std::string::npos);
    QVERIFY(listing->text.find("vfmadd") != std::string::npos);
}

void TestListings::withoutTheToolOneSentenceNamesThePackage()
{
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", "/nowhere");
    const auto listing = codegenFor(kHaswell)->listing(matmul(8, 32, 8, 4, 16), "mca");
    qputenv("PATH", path);
    QVERIFY(!listing);
    QVERIFY(listing.error().code == Errc::NotFound);
    const QString sentence = QString::fromStdString(listing.error().message);
    QVERIFY2(sentence.contains(QLatin1String("llvm-19")) && !sentence.contains(QLatin1Char('\n')),
             qPrintable(sentence));
}

void TestListings::listingsSurviveTheWayBetweenProcesses()
{
    const auto listing = codegenFor(kHaswell)->listing(matmul(8, 32, 8, 4, 16), "assembly");
    QVERIFY(listing);
    const std::string sent = backend::encode(*listing);
    QVERIFY(sent.find('\n') == std::string::npos);
    const auto back = backend::decodeListing(sent);
    QVERIFY(back);
    QCOMPARE(back->text, listing->text);
    QVERIFY(back->statements == listing->statements);
    QCOMPARE(back->marks.size(), listing->marks.size());
    QCOMPARE(back->vectorRegisters, listing->vectorRegisters);
    for (const char* broken : {"", "{}", "[1]", "{\"name\":1}"})
        QVERIFY(!backend::decodeListing(broken));
}

LATHE_TEST(TestListings)

} // namespace tst_listings

#include "tst_listings.moc"
