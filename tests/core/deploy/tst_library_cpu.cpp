#include "core/deploy/library.h"
#include "core/deploy/shared_object.h"
#include "core/deploy/verify.h"
#include "hand_network.h"
#include "tests/support/in_process_library.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace tst_library_cpu {

using namespace lathe;
using namespace lathe::deploy;
using lathe::test::InProcessLibrary;
using lathe::test::must;

class TestLibraryCpu : public QObject
{
    Q_OBJECT
private slots:
    void aNetworkIsCompiledLinkedVerifiedAndPublished()
    {
        HandNetwork network;
        makeHandNetwork(network);
        const auto compiler = must(makeBuilderCompiler("cpu", 2, std::chrono::minutes(1)));
        LibraryOptions options;
        options.output = file("tiny.so");
        auto staged = buildLibrary(network.graph, network.partition, network.choices, *compiler, options);
        QVERIFY2(staged, staged ? "" : staged.error().message.c_str());
        {
            const auto library = InProcessLibrary::open(staged->file, {.threads = 2});
            QVERIFY2(library, library ? "" : library.error().message.c_str());
            const auto report = verifyLibrary(**library, graph::interpret, network.graph, &network.graph, {});
            QVERIFY2(report, report ? "" : report.error().message.c_str());
            QVERIFY2(report->passed, report->text.c_str());
        }
        const auto files = publishLibrary(*staged, {});
        QVERIFY2(files, files ? "" : files.error().message.c_str());
    }

    void oneBuilderMakesOneLibraryAfterAnother()
    {
        const auto compiler = must(makeBuilderCompiler("cpu", 1, std::chrono::minutes(1)));
        for (const char* name : {"first.so", "second.so", "third.so"}) {
            HandNetwork network;
            makeHandNetwork(network);
            LibraryOptions options;
            options.output = file(name);
            const auto staged = buildLibrary(network.graph, network.partition, network.choices, *compiler, options);
            QVERIFY2(staged, staged ? "" : staged.error().message.c_str());
        }
    }

    void weightsThatAreLargeAreLinkedFromAFile()
    {
        HandNetwork network;
        makeHandNetwork(network);
        const auto compiler = must(makeBuilderCompiler("cpu", 2, std::chrono::minutes(1)));
        LibraryOptions options;
        const QTemporaryDir folder;
        options.output = folder.filePath("large.so").toStdString();
        options.weightsInMemory = 0;
        auto staged = buildLibrary(network.graph, network.partition, network.choices, *compiler, options);
        QVERIFY2(staged, staged ? "" : staged.error().message.c_str());
        QVERIFY(staged->variants[0].image.weights.empty() && staged->weightsBytes > 0);
        for (const bool mapped : {false, true}) {
            const auto library = InProcessLibrary::open(staged->file, {.threads = 2, .mapWeights = mapped});
            QVERIFY2(library, library ? "" : library.error().message.c_str());
            const auto report = verifyLibrary(**library, graph::interpret, network.graph, &network.graph, {});
            QVERIFY2(report, report ? "" : report.error().message.c_str());
            QVERIFY2(report->passed, report->text.c_str());
        }
        const QStringList files = QDir(folder.path()).entryList(QDir::Files | QDir::Hidden);
        QVERIFY2(files.size() == 1 && files[0].endsWith(".so"),
                 qPrintable(files.join(' '))); // not yet at its place; nothing else
        options.output = folder.filePath("far.so").toStdString();
        options.runtimeArchive = folder.filePath("none.a").toStdString();
        QVERIFY(!buildLibrary(network.graph, network.partition, network.choices, *compiler, options));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), files); // what was begun is gone
    }

    void itNeedsOnlyAnOldCLibraryAndExportsItsInterfaceAlone()
    {
        const auto facts = readSharedObject(file("tiny.so"));
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        QCOMPARE(facts->soname, std::string("tiny.so"));
        for (const std::string& symbol : facts->exported)
            QVERIFY2(symbol.starts_with("lathe_tiny_"), symbol.c_str());
        QCOMPARE(facts->exported.size(), 28U);
        const QStringList allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0"};
        QVERIFY(std::find(facts->needed.begin(), facts->needed.end(), "libpthread.so.0") != facts->needed.end());
        for (const std::string& needed : facts->needed)
            QVERIFY2(allowed.contains(QString::fromStdString(needed)), needed.c_str());
        for (const auto& import : facts->imported) {
            const QStringList numbers = QString::fromStdString(import.version).mid(6).split('.');
            QVERIFY2(import.version.starts_with("GLIBC_") && numbers[0].toInt() == 2 && numbers.value(1).toInt() <= 28,
                     (import.symbol + "@" + import.version).c_str());
        }
    }

    void theCExampleRunsOnIt()
    {
        QProcess compile;
        compile.setWorkingDirectory(m_folder.path());
        compile.start(C_COMPILER, {"tiny_example.c", "./tiny.so", "-Wl,-rpath,$ORIGIN", "-o", "example"});
        QVERIFY(compile.waitForFinished());
        QVERIFY2(compile.exitCode() == 0, compile.readAllStandardError().constData());
        QProcess run;
        run.start(m_folder.filePath("example"), {});
        QVERIFY(run.waitForFinished());
        QVERIFY2(run.exitCode() == 0, run.readAllStandardError().constData());
        QVERIFY(run.readAllStandardOutput().startsWith("y float32 20x16:"));
    }

    void aScheduleThatDoesNotApplyNamesItsKernel()
    {
        HandNetwork network;
        makeHandNetwork(network);
        network.choices[1].steps = "[[\"SP\", 77, 0, 16, [4], 1]]";
        const auto compiler = must(makeBuilderCompiler("cpu", 2, std::chrono::minutes(1)));
        LibraryOptions options;
        options.output = file("bad.so");
        const auto staged = buildLibrary(network.graph, network.partition, network.choices, *compiler, options);
        QVERIFY(!staged);
        QVERIFY2(staged.error().code == Errc::IllegalSchedule, staged.error().message.c_str());
        QVERIFY2(staged.error().message.find("k1_relu") != std::string::npos, staged.error().message.c_str());
    }

private:
    std::filesystem::path file(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
};

LATHE_TEST_GUILESS(TestLibraryCpu)

} // namespace tst_library_cpu

#include "tst_library_cpu.moc"
