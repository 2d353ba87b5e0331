#include "core/deploy/library.h"
#include "core/deploy/shared_object.h"
#include "core/deploy/verify.h"
#include "core/measure/builder_client.h"
#include "core/support/files.h"
#include "hand_library.h"
#include "tests/support/in_process_library.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

namespace tst_link_by_program {

using namespace lathe;
using namespace lathe::deploy;
using lathe::test::HandCompiler;
using lathe::test::InProcessLibrary;
using lathe::test::must;

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Links by the lathe-builder of another installation.
class OtherCompiler : public HandCompiler
{
public:
    OtherCompiler(std::vector<KernelInfo> kernels, measure::WorkerPrograms programs)
        : HandCompiler(std::move(kernels), {})
        , m_programs(std::move(programs))
    {
    }

    Result<> link(const backend::LibraryRequest& request) override
    {
        LATHE_TRY_ASSIGN(const auto client, measure::BuilderClient::start("cpu", m_programs));
        return client->link(request, Deadline::inSeconds(100));
    }

private:
    measure::WorkerPrograms m_programs;
};

} // namespace

/// An installation that has a builder and not one back end.
class TestLinkByProgram : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_installation.isValid() && m_folder.isValid());
        for (const char* folder : {"bin", "lib/lathe/linker", "lib/lathe/plugins"})
            QVERIFY(QDir(m_installation.path()).mkpath(folder));
        std::filesystem::copy_file(must(findProgram("lathe-builder")), place("bin/lathe-builder"));
    }
    void cleanup()
    {
        std::filesystem::remove(place("lib/lathe/linker/ld"));
        std::filesystem::remove(place("lib/lathe/plugins/cpu_codegen.so"));
    }

    void aLibraryIsLinkedAndRuns_data()
    {
        QTest::addColumn<QString>("linker");
        QTest::addColumn<bool>("inFile"); ///< weights
        for (const char* linker : {"", "ld", "ld.lld-19"})
            for (const bool inFile : {false, true})
                QTest::addRow("%s, weights in %s", *linker != '\0' ? linker : "what is found",
                              inFile ? "a file" : "memory")
                    << linker << inFile;
    }
    void aLibraryIsLinkedAndRuns()
    {
        QFETCH(QString, linker);
        QFETCH(bool, inFile);
        if (!linker.isEmpty() && QStandardPaths::findExecutable(linker).isEmpty())
            QSKIP("not installed");
        const auto staged = stage({{"LATHE_LINKER", linker.toStdString()}}, inFile ? 0 : UINT64_MAX);
        QVERIFY2(staged, staged ? "" : staged.error().message.c_str());
        HandNetwork network;
        makeHandNetwork(network);
        for (const bool mapped : {false, true}) {
            const auto library = InProcessLibrary::open(staged->file, {.threads = 2, .mapWeights = mapped});
            QVERIFY2(library, library ? "" : library.error().message.c_str());
            const auto report = verifyLibrary(**library, graph::interpret, network.graph, &network.graph, {});
            QVERIFY2(report, report ? "" : report.error().message.c_str());
            QVERIFY2(report->passed, report->text.c_str());
        }
        const auto facts = must(readSharedObject(staged->file));
        QCOMPARE(facts.soname, std::string("small.so"));
        QCOMPARE(facts.exported.size(), 28U);
        for (const std::string& symbol : facts.exported)
            QVERIFY2(symbol.starts_with("lathe_small_"), symbol.c_str());
        QVERIFY(std::ranges::find(facts.needed, "libpthread.so.0") != facts.needed.end());
        for (const std::string& needed : facts.needed)
            QVERIFY2(needed == "libc.so.6" || needed == "libpthread.so.0" || needed == "libm.so.6", needed.c_str());
        QVERIFY(!facts.imported.empty());
        for (const auto& import : facts.imported) {
            const QStringList numbers = QString::fromStdString(import.version).mid(6).split('.');
            QVERIFY2(import.version.starts_with("GLIBC_") && numbers[0].toInt() == 2 && numbers.value(1).toInt() <= 28,
                     (import.symbol + "@" + import.version).c_str());
        }
        QCOMPARE(files(), QStringList(QString::fromStdString(staged->file.filename().string())));
    }

    void withoutALinkerASentenceSaysWhatToInstall()
    {
        const auto staged = stage({{"LATHE_LINKER", ""}, {"PATH", "/nowhere"}});
        QVERIFY(!staged);
        QCOMPARE(staged.error().message, std::string("no linker was found: install the package binutils or lld-19, or "
                                                     "set LATHE_LINKER to the file of a linker"));
        QVERIFY(staged.error().code == Errc::NotFound);
        QCOMPARE(files(), QStringList());
    }

    void theLinkerThatIsNamedIsTheOnlyOne()
    {
        const auto absent = stage({{"LATHE_LINKER", "/nowhere/ld"}});
        QVERIFY(!absent);
        QCOMPARE(absent.error().message, std::string("cannot start /nowhere/ld: No such file or directory"));
        const auto unknown = stage({{"LATHE_LINKER", "no-such-ld"}});
        QVERIFY(!unknown);
        QVERIFY2(unknown.error().message.starts_with("no linker was found: "), unknown.error().message.c_str());
    }

    void whatTheLinkerSaysIsTold()
    {
        writeLinker("bin/own-ld", "echo 'it cannot be done' >&2; exit 3");
        const auto refused = stage({{"LATHE_LINKER", place("bin/own-ld").string()}});
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::BuildFailed);
        QCOMPARE(refused.error().message, std::string("linking failed: it cannot be done\n"));
        writeLinker("bin/own-ld", "kill -KILL $$");
        const auto killed = stage({{"LATHE_LINKER", place("bin/own-ld").string()}});
        QVERIFY(!killed);
        QCOMPARE(killed.error().message, std::string("linking failed: signal 9 (SIGKILL, killed)"));
        QCOMPARE(files(), QStringList());
    }

    void whatTheInstallationBringsComesFirst()
    {
        writeLinker("lib/lathe/linker/ld", "echo \"brought along for $*\" >&2; exit 1");
        const auto staged = stage({{"LATHE_LINKER", ""}});
        QVERIFY(!staged);
        QVERIFY2(staged.error().message.starts_with("linking failed: brought along for -shared "),
                 staged.error().message.c_str());
    }

    void aLinkerThatOthersMayChangeIsNotRun()
    {
        writeLinker("lib/lathe/linker/ld", "exit 0");
        using std::filesystem::perms;
        std::filesystem::permissions(place("lib/lathe/linker/ld"), perms::others_write,
                                     std::filesystem::perm_options::add);
        const auto staged = stage({{"LATHE_LINKER", ""}, {"PATH", "/nowhere"}});
        QVERIFY(!staged);
        QVERIFY(staged.error().code == Errc::Incompatible);
        QVERIFY2(staged.error().message.find("lib/lathe/linker/ld is not loaded because any user can modify ")
                     != std::string::npos,
                 staged.error().message.c_str());
    }

    /// A back end that is there and does not load is to be heard of.
    void aBackEndThatIsInstalledIsNotPassedOver()
    {
        QFile broken(QString::fromStdString(place("lib/lathe/plugins/cpu_codegen.so").string()));
        QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("no plugin") > 0);
        broken.close();
        const auto staged = stage({{"LATHE_LINKER", ""}});
        QVERIFY(!staged);
        QVERIFY(staged.error().code == Errc::Incompatible);
    }

private:
    std::filesystem::path place(const char* name) const { return m_installation.filePath(name).toStdString(); }
    QStringList files() const { return QDir(m_folder.path()).entryList(QDir::Files | QDir::Hidden); }

    void writeLinker(const char* name, const std::string& commands) const
    {
        must(writeFileAtomically(place(name), "#!/bin/sh\n" + commands + "\n"));
        std::filesystem::permissions(place(name), std::filesystem::perms::owner_all);
    }

    Result<StagedLibrary> stage(Environment environment, std::uint64_t weightsInMemory = UINT64_MAX) const
    {
        HandNetwork network;
        makeHandNetwork(network);
        OtherCompiler compiler(network.kernels, {place("bin/lathe-builder"), {}, std::move(environment)});
        LibraryOptions options;
        options.output = m_folder.filePath("small.so").toStdString();
        options.runtimeArchive = LATHE_RUNTIME_ARCHIVE;
        options.inputLayouts = {"NCHW"};
        options.weightsInMemory = weightsInMemory;
        return buildLibrary(network.graph, network.partition, network.choices, compiler, options);
    }

    QTemporaryDir m_installation, m_folder;
};

LATHE_TEST(TestLinkByProgram)

} // namespace tst_link_by_program

#include "tst_link_by_program.moc"
