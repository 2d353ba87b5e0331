#include "core/deploy/library.h"
#include "core/deploy/shared_object.h"
#include "core/deploy/verify.h"
#include "core/support/files.h"
#include "hand_library.h"
#include "tests/support/in_process_library.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <map>
#include <thread>

namespace tst_library {

using namespace lathe;
using namespace lathe::deploy;
using lathe::serve::ChainRow;
using lathe::test::HandCompiler;
using lathe::test::InProcessLibrary;
using lathe::test::must;
using lathe::test::Output;
using lathe::test::runProgram;

class TestLibrary : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        for (const char* const name : {"first", "second"})
            QVERIFY(exportTo(name, "hand_relu", true));
    }

    void exportsItsInterfaceAlone()
    {
        const auto facts = readSharedObject(path("first.so"));
        QVERIFY(facts);
        QCOMPARE(facts->exported.size(), 28U);
        for (const std::string& symbol : facts->exported)
            QVERIFY2(symbol.starts_with("lathe_first_"), symbol.c_str());
        QCOMPARE(facts->soname, std::string("first.so"));
        const auto name = findLibraryName(path("first.so"));
        QVERIFY(name);
        QCOMPARE(*name, std::string("first"));
    }

    void needsOnlyAnOldCLibrary()
    {
        const auto facts = readSharedObject(path("first.so"));
        QVERIFY(facts);
        const QStringList allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0"};
        for (const std::string& needed : facts->needed)
            QVERIFY2(allowed.contains(QString::fromStdString(needed)), needed.c_str());
        QVERIFY(!facts->imported.empty());
        for (const auto& import : facts->imported) {
            if (import.version.empty())
                continue; // weak references of the start-up code
            const QStringList numbers = QString::fromStdString(import.version).mid(6).split('.');
            QVERIFY2(import.version.starts_with("GLIBC_") && numbers.size() >= 2, import.version.c_str());
            QVERIFY2(numbers[0].toInt() == 2 && numbers[1].toInt() <= 28,
                     (import.symbol + "@" + import.version).c_str());
        }
    }

    void computesWhatTheReferenceExecutorComputes()
    {
        HandNetwork network;
        makeHandNetwork(network);
        const auto library = InProcessLibrary::open(path("first.so"), {.threads = 3});
        QVERIFY2(library, library ? "" : library.error().message.c_str());
        QCOMPARE((*library)->library().threads(), 3U);
        QCOMPARE((*library)->inputs()[0].name, std::string("x"));
        QCOMPARE((*library)->inputs()[0].layout, std::string("NCHW"));
        const auto report = verifyLibrary(**library, graph::interpret, network.graph, &network.graph, {});
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QVERIFY2(report->passed, report->text.c_str());
        QVERIFY(report->maxRelError < 1e-6);
        QVERIFY(report->firstDifferent.empty());
    }

    void aWrongKernelIsFoundByItsTensor()
    {
        QVERIFY(exportTo("wrong", "hand_wrong_relu", false));
        HandNetwork network;
        makeHandNetwork(network);
        const auto library = InProcessLibrary::open(path("wrong.so"), {.threads = 2});
        QVERIFY(library);
        const auto report = verifyLibrary(**library, graph::interpret, network.graph, &network.graph, {});
        QVERIFY(report);
        QVERIFY(!report->passed);
        QVERIFY(report->maxRelError > 1);
        QCOMPARE(report->firstDifferent, std::string("positive"));
        QCOMPARE(report->outputs[0].name, std::string("y"));
        // element 5 of the blocked form is channel 5, pixel 0
        QCOMPARE(report->outputs[0].worst, 5 * 16);
    }

    void instancesOfSeveralThreadsAreSafe()
    {
        const auto reference = InProcessLibrary::open(path("first.so"), {.threads = 1});
        QVERIFY(reference);
        std::atomic<int> wrong = 0;
        std::vector<std::thread> users;
        for (std::uint64_t user = 0; user < 4; ++user)
            users.emplace_back([this, &wrong, user] {
                for (int round = 0; round < 5; ++round) {
                    const auto library = InProcessLibrary::open(path(user % 2 == 0 ? "first.so" : "second.so"),
                                                                {.threads = 2, .mapWeights = round % 2 == 0});
                    HandNetwork network;
                    makeHandNetwork(network);
                    VerifyOptions options;
                    options.seed = user + 1;
                    const auto report = library ? verifyLibrary(**library, graph::interpret, network.graph, nullptr,
                                                                options)
                                                : Result<VerifyReport>(library.error());
                    if (!report || !report->passed)
                        ++wrong;
                }
            });
        for (std::thread& user : users)
            user.join();
        QCOMPARE(wrong.load(), 0);
    }

    void timesRunsAndChains()
    {
        const auto library = InProcessLibrary::open(path("first.so"), {.threads = 2});
        QVERIFY(library);
        serve::LoadedLibrary& loaded = (*library)->library();
        QVERIFY(loaded.fillInputs(1));
        const auto times = loaded.time({.number = 5, .repeat = 4});
        QVERIFY(times);
        QCOMPARE(times->size(), 4U);
        std::vector<ChainRow> rows;
        QVERIFY(loaded.timeChain(2, rows));
        QVERIFY(loaded.timeChain(1, rows));
        QCOMPARE(rows.size(), 4U);
        QCOMPARE(rows[0].name, std::string("scale"));
        QCOMPARE(rows[2].kind, std::string("transform"));
        for (const ChainRow& row : rows) {
            QCOMPARE(row.ms.size(), 3U);
            QVERIFY(row.ms[0] > 0);
        }
        // What chains left behind is gone with the next run.
        const auto after = (*library)->run({});
        const auto fresh = InProcessLibrary::open(path("first.so"), {.threads = 2});
        QVERIFY(after && fresh);
        const auto first = (*fresh)->run({});
        QVERIFY(first && after->outputs[0].bytes == first->outputs[0].bytes);
    }

    void wrongInputsAreRefused()
    {
        const auto library = InProcessLibrary::open(path("first.so"), {.threads = 1});
        QVERIFY(library);
        const auto refused = [&](std::vector<graph::HostTensor> inputs) {
            LibraryRunRequest request;
            request.inputs = std::move(inputs);
            const auto run = (*library)->run(request);
            return !run && run.error().code == Errc::InvalidArgument;
        };
        const auto right = graph::HostTensor::zeros({DType::F32, {1, 20, 4, 4}});
        QVERIFY(refused({graph::HostTensor::zeros({DType::F32, {1, 20, 4, 5}})}));
        QVERIFY(refused({right, right}));
        QVERIFY(!refused({right}));
        QVERIFY((*library)->library().setInput(0, std::span(right.bytes).first(8)).error().code
                == Errc::InvalidArgument);
        QVERIFY((*library)->library().setInput(1, right.bytes).error().code == Errc::InvalidArgument);
        const auto absent = InProcessLibrary::open(path("absent.so"), {});
        QVERIFY(!absent);
        QVERIFY(absent.error().code == Errc::NotFound);
        const auto header = InProcessLibrary::open(path("first.h"), {});
        QVERIFY(!header);
        QVERIFY(header.error().code == Errc::BadFile);
    }

    void damagedFilesAreRefusedWithoutACrash()
    {
        const auto whole = readFile(path("first.so"));
        QVERIFY(whole);
        for (std::size_t cut = 0; cut < whole->size(); cut += whole->size() / 97 + 1) {
            QVERIFY(writeFileAtomically(path("cut.so"), std::string_view(*whole).substr(0, cut)));
            QVERIFY(!findLibraryName(path("cut.so")));
        }
        for (std::size_t at = 0; at < 64; ++at) { // the ELF header
            std::string bytes = *whole;
            bytes[at] = static_cast<char>(~bytes[at]);
            QVERIFY(writeFileAtomically(path("cut.so"), bytes));
            const auto name = findLibraryName(path("cut.so"));
            Q_UNUSED(name); // some bytes of it mean nothing to us; none may crash
        }
    }

    void theDescriptionTellsWhatIsKnown()
    {
        QFile file(m_folder.filePath("first.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject json = QJsonDocument::fromJson(file.readAll()).object();
        QCOMPARE(json["name"].toString(), "first");
        QCOMPARE(json["inputs"][0]["dtype"].toString(), "float32");
        QCOMPARE(json["inputs"][0]["shape"][1].toInt(), 20);
        QCOMPARE(json["inputs"][0]["layout"].toString(), "NCHW");
        QCOMPARE(json["verification"]["max_rel_error"].toDouble(), 1.5e-7);
        QCOMPARE(json["benchmark"]["latency_ms"]["median"].toDouble(), 2.5);
        QVERIFY(json["benchmark"]["estimated_ms"]["tasks"].isNull());
        QCOMPARE(json["subgraphs"][0]["record"].toString(), "00ff");
        QCOMPARE(json["subgraphs"][1]["reason"].toString(), "not tuned");
    }

    void theCExampleCompilesAndRuns()
    {
        const Output compiled = runProgram(C_COMPILER,
                                           {"-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "first_example.c",
                                            "./first.so", "-Wl,-rpath,$ORIGIN", "-o", "c_example"},
                                           m_folder.path());
        QVERIFY2(compiled.code == 0, qPrintable(compiled.err));
        const Output result = runProgram(m_folder.filePath("c_example"), {}, m_folder.path());
        QVERIFY2(result.code == 0, qPrintable(result.err));
        QVERIFY2(result.out.startsWith("y float32 20x16:"), qPrintable(result.out));
        std::ofstream(path("short.bin")) << "not a tensor";
        const Output refused = runProgram(m_folder.filePath("c_example"), {"short.bin"}, m_folder.path());
        QCOMPARE(refused.code, 1);
        QVERIFY(refused.err.contains("does not hold"));
    }

    void theCppExampleCompilesAndRuns()
    {
        const Output compiled = runProgram(CXX_COMPILER,
                                           {"-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                            "first_example.cpp", "./first.so", "-Wl,-rpath,$ORIGIN", "-o",
                                            "cpp_example"},
                                           m_folder.path());
        QVERIFY2(compiled.code == 0, qPrintable(compiled.err));
        const Output result = runProgram(m_folder.filePath("cpp_example"), {"2"}, m_folder.path());
        QVERIFY2(result.code == 0 && result.out.startsWith("2 threads"), qPrintable(result.out + result.err));
    }

    void thePythonExampleRuns()
    {
        const Output result = runProgram("python3", {"first_example.py"}, m_folder.path());
        QVERIFY2(result.code == 0, qPrintable(result.err));
        // zeros in: the output is b
        const auto b = seededConstant(320, 12);
        float first = 0;
        std::memcpy(&first, b->data, 4);
        QVERIFY2(result.out.startsWith("y float32 20x16 ["), qPrintable(result.out));
        QVERIFY(qAbs(result.out.section('[', 1).section(',', 0, 0).toDouble() - static_cast<double>(first)) < 1e-7);
    }

    void twoLibrariesLiveInOneProgram()
    {
        QFile source(m_folder.filePath("both.c"));
        QVERIFY(source.open(QIODevice::WriteOnly));
        source.write(
            "#include \"first.h\"\n#include \"second.h\"\n#include <string.h>\n"
            "static void serial(void* u, uint32_t n, void (*body)(void*, uint32_t), void* c) {\n"
            "    ++*(int*)u; for (uint32_t i = 0; i < n; ++i) body(c, i); }\n"
            "int main(void) {\n"
            "    int calls = 0; lathe_options o; memset(&o, 0, sizeof o); o.struct_size = sizeof o; o.threads = 3;\n"
            "    o.parallel_for = serial; o.parallel_for_user = &calls;\n"
            "    lathe_instance* a = lathe_first_create(&o, 0, 0); lathe_instance* b = lathe_second_create(0, 0, 0);\n"
            "    if (!a || !b) return 1;\n"
            "    memset(lathe_first_input_buffer(a, 0), 0, 1280); memset(lathe_second_input_buffer(b, 0), 0, 1280);\n"
            "    if (lathe_first_run(a) || lathe_second_run(b) || calls == 0) return 2;\n"
            "    if (memcmp(lathe_first_output_buffer(a, 0), lathe_second_output_buffer(b, 0), 1280)) return 3;\n"
            "    lathe_first_destroy(a); lathe_second_destroy(b); return 0; }\n");
        source.close();
        const Output compiled = runProgram(C_COMPILER,
                                           {"-std=c99", "-Wall", "-Wextra", "-Werror", "both.c", "./first.so",
                                            "./second.so", "-Wl,-rpath,$ORIGIN", "-o", "both"},
                                           m_folder.path());
        QVERIFY2(compiled.code == 0, qPrintable(compiled.err));
        const Output result = runProgram(m_folder.filePath("both"), {}, m_folder.path());
        QVERIFY2(result.code == 0, qPrintable(QString::number(result.code) + result.err));
    }

    void whatIsNotPublishedLeavesNothingBehind()
    {
        const auto before = QDir(m_folder.path()).entryList(QDir::Files | QDir::Hidden);
        QVERIFY(exportTo("gone", "hand_relu", false, false));
        auto after = QDir(m_folder.path()).entryList(QDir::Files | QDir::Hidden);
        QCOMPARE(after, before);
    }

    void foldersThatAreNotThereAreRefused()
    {
        HandNetwork network;
        makeHandNetwork(network);
        HandCompiler compiler(network.kernels, m_scratch.path());
        LibraryOptions options;
        options.output = path("no/such/folder/x.so");
        const auto staged = buildLibrary(network.graph, network.partition, network.choices, compiler, options);
        QVERIFY(!staged);
        QVERIFY(staged.error().code == Errc::InvalidArgument);
    }

    void whatAnExportDidNotWriteStaysAsItIs_data()
    {
        QTest::addColumn<QString>("file");
        for (const char* file : {"own.so", "own.h", "own.json", "own_example.c", "own_example.cpp", "own_example.py"})
            QTest::newRow(file) << file;
    }
    void whatAnExportDidNotWriteStaysAsItIs()
    {
        QFETCH(QString, file);
        QTemporaryDir folder;
        const std::filesystem::path there = folder.filePath(file).toStdString();
        std::ofstream(there) << "written by hand\n";
        auto staged = stage(folder.filePath("own.so"));
        QVERIFY(!staged);
        QVERIFY(staged.error().code == Errc::InvalidArgument);
        QVERIFY2(staged.error().message.find(there.string()) != std::string::npos, staged.error().message.c_str());
        QVERIFY(staged.error().message.find("--overwrite") != std::string::npos);
        // It may come while the export goes on.
        std::filesystem::remove(there);
        staged = stage(folder.filePath("own.so"));
        QVERIFY2(staged, staged ? "" : staged.error().message.c_str());
        std::ofstream(there) << "written by hand\n";
        QVERIFY(!publishLibrary(*staged, {}));
        QCOMPARE(must(readFile(there)), std::string("written by hand\n"));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList(file)); // and nothing beside it
        QVERIFY(publishLibrary(*staged, {}, true));
        QVERIFY(must(readFile(there)) != "written by hand\n");
    }

    void anExportReplacesItsOwnFilesUntilTheirMarkIsGone()
    {
        QTemporaryDir folder;
        const auto exportAgain = [&]() -> Result<ExportedFiles> {
            LATHE_TRY_ASSIGN(StagedLibrary staged, stage(folder.filePath("own.so")));
            return publishLibrary(staged, {});
        };
        std::ofstream(folder.filePath("own.h").toStdString()); // an empty file is nobody's
        QVERIFY(exportAgain());
        const auto files = exportAgain();
        QVERIFY2(files, files ? "" : files.error().message.c_str());
        for (const std::filesystem::path& file : files->all()) {
            if (file == files->library)
                continue;
            std::string text = must(readFile(file));
            const std::size_t mark = text.find(kOwnMark);
            QVERIFY2(mark != std::string::npos && mark < 100, file.c_str());
            const std::size_t begin = text.rfind('\n', mark) + 1; // of the line; 0 if it is the first
            const std::string without = text.substr(0, begin) + text.substr(text.find('\n', mark) + 1);
            std::ofstream(file) << without;
            QVERIFY(!exportAgain());
            QCOMPARE(must(readFile(file)), without);
            std::ofstream(file) << text;
        }
        QVERIFY(exportAgain());
    }

    void aFullDiskLeavesAllFilesAsTheyWere()
    {
        QTemporaryDir folder;
        auto staged = stage(folder.filePath("own.so"));
        QVERIFY(staged);
        QVERIFY(publishLibrary(*staged, {}));
        std::ofstream(folder.filePath("own.h").toStdString(), std::ios::app) << "/* another version's */\n";
        std::map<std::string, std::string> before;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path().toStdString()))
            before[entry.path().filename()] = must(readFile(entry.path()));
        QCOMPARE(before.size(), std::size_t{6});

        staged = stage(folder.filePath("own.so"));
        QVERIFY(staged);
        LibraryFacts facts; // whose description is larger than files may be, unlike the header
        facts.subgraphs.resize(1000, {"some function", "00ff", "", 1, 1});
        struct rlimit limit = {};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &limit), 0);
        struct rlimit small = limit;
        small.rlim_cur = 32 << 10;
        const auto handler = std::signal(SIGXFSZ, SIG_IGN);
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto files = publishLibrary(*staged, facts);
        ::setrlimit(RLIMIT_FSIZE, &limit);
        std::signal(SIGXFSZ, handler);
        QVERIFY(!files);
        QVERIFY(files.error().code == Errc::StoreFailed);
        *staged = StagedLibrary();
        for (const auto& entry : std::filesystem::directory_iterator(folder.path().toStdString())) {
            QCOMPARE(must(readFile(entry.path())), before[entry.path().filename()]);
            before.erase(entry.path().filename());
        }
        QVERIFY(before.empty());
    }

    void aLibraryIsNotCalledLikeAFileThatGoesWithIt()
    {
        QTemporaryDir folder;
        for (const char* name : {"own.h", "own.json"}) {
            const auto staged = stage(folder.filePath(name));
            QVERIFY(!staged);
            QVERIFY2(staged.error().message.find("cannot be named") != std::string::npos,
                     staged.error().message.c_str());
        }
        QVERIFY(QDir(folder.path()).mkdir("own.json"));
        QVERIFY(!stage(folder.filePath("own.so"), true)); // a folder is in the way, whatever may be overwritten
    }

private:
    Result<StagedLibrary> stage(const QString& file, bool overwrite = false)
    {
        HandNetwork network;
        makeHandNetwork(network);
        HandCompiler compiler(network.kernels, m_scratch.path());
        LibraryOptions options;
        options.output = file.toStdString();
        options.overwrite = overwrite;
        options.runtimeArchive = LATHE_RUNTIME_ARCHIVE;
        return buildLibrary(network.graph, network.partition, network.choices, compiler, options);
    }
    std::filesystem::path path(const char* name) const { return m_folder.filePath(name).toStdString(); }

    bool exportTo(const std::string& name, const char* reluKernel, bool withFacts, bool publish = true)
    {
        auto staged = lathe::test::stageHandLibrary(path((name + ".so").c_str()), reluKernel, m_scratch.path());
        if (!staged) {
            qWarning("%s", staged.error().message.c_str());
            return false;
        }
        if (!publish)
            return true;
        LibraryFacts facts;
        if (withFacts) {
            facts.maxRelError = 1.5e-7;
            facts.medianMs = 2.5;
            facts.subgraphs = {{"scale", "00ff", "", 1, 1}, {"relu", "", "not tuned"}};
        }
        const auto files = publishLibrary(*staged, facts);
        if (!files)
            qWarning("%s", files.error().message.c_str());
        return files.has_value();
    }

    QTemporaryDir m_folder, m_scratch;
};

LATHE_TEST(TestLibrary)

} // namespace tst_library

#include "tst_library.moc"
