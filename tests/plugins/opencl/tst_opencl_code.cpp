#include "plugins/opencl/device/program.h"
#include "tests/plugins/opencl/library_fixture.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <cstring>
#include <random>
#include <thread>

namespace tst_opencl_code {

using namespace lathe;
using namespace lathe::test;
using runtime::Status;

namespace {

/// One launch that leaves a number.
std::string sourceOf(int number)
{
    return "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void number(__global int *restrict x) { x[0] = "
           + std::to_string(number) + "; }\n";
}

std::vector<std::byte> codeOf(const std::string& source, const std::string& binary = {},
                              const std::string& madeFor = {})
{
    const opencl::PackedProgram kernel = {source, binary, madeFor, "number\n"};
    return opencl::pack({&kernel, 1});
}

/// Bytes of a file in the cache, as device/cache.cpp has them.
QByteArray fileOf(const std::string& source, const std::string& binary, const std::string& identity)
{
    const opencl::PackedProgram kernel = {source, binary, identity, {}};
    const std::vector<std::byte> package = opencl::pack({&kernel, 1});
    std::uint64_t checksum = 0;
    for (const std::byte byte : package)
        checksum = (checksum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ull;
    QByteArray bytes(reinterpret_cast<const char*>(package.data()), static_cast<int>(package.size()));
    return bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

} // namespace

/// The code section of exported libraries: hostile bytes, binaries, and what is kept of programs in the user's cache.
class TestOpenClCode : public QObject
{
    Q_OBJECT

    QTemporaryDir m_home;
    int m_folders = 0;
    QString m_folder; ///< of this test
    QString m_name; ///< of the file of sourceOf(8)
    qint64 m_bytes = 0; ///< of that
    BuildCounter::Binaries m_binaries;

    QString cache() const { return m_folder + QStringLiteral("/lathe/opencl"); }
    QStringList files() const { return QDir(cache()).entryList(QDir::Files | QDir::Hidden, QDir::Name); }
    QString only() const { return cache() + '/' + files().value(0); }
    static QByteArray read(const QString& path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static void write(const QString& path, const QByteArray& bytes)
    {
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("%s cannot be written", qPrintable(path));
    }
    /// What the driver of this device makes of a source.
    const std::string& binaryOf(const std::string& source)
    {
        std::string& binary = m_binaries[source];
        if (!binary.empty())
            return binary;
        std::string problem;
        const opencl::Driver& driver = *opencl::findDriver(problem);
        const opencl::DeviceFacts device = firstDevice();
        cl_int code = CL_SUCCESS;
        cl_context const context = driver.createContext(nullptr, 1, &device.id, nullptr, nullptr, &code);
        binary = opencl::Program::fromSource(driver, context, device.id, source, problem).binary();
        driver.releaseContext(context);
        return binary;
    }

    struct Ran
    {
        int number = -1;
        std::string says;
        int sources = 0, binaries = 0; ///< programs that were built
    };
    Ran runNumber(const std::vector<std::byte>& code) const
    {
        const BuildCounter counter(m_binaries);
        Ran ran;
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        const Memory memory = must(allocate(context, 4));
        const auto launch = prepare(queue, {"number", {}, {1, 1, 1}, {1, 1, 1}, 0}, {memory.get()});
        ran.says = launch.says;
        if (launch.it != nullptr)
            ran.says = problemOf(kLibrary.launch, queue.get(), launch.it.get());
        if (ran.says.empty())
            ran.says = problemOf(kLibrary.read, queue.get(), static_cast<void*>(&ran.number), memory.get(),
                                 std::size_t{4}, true);
        ran.sources = counter.sources();
        ran.binaries = counter.binaries();
        return ran;
    }

    static std::vector<std::byte> bothNamedNumber(const std::string& one, const std::string& other)
    {
        const opencl::PackedProgram programs[] = {{one, {}, {}, "number\n"}, {other, {}, {}, "number\n"}};
        return opencl::pack(programs);
    }

private slots:
    void initTestCase()
    {
        if (const std::string problem = noDevice(); !problem.empty())
            QSKIP(problem.c_str());
        qunsetenv("LATHE_OPENCL_DEVICE");
    }
    void init()
    {
        m_folder = m_home.filePath(QString::number(++m_folders));
        qputenv("XDG_CACHE_HOME", m_folder.toUtf8()); // it is not there yet
    }

    void hostileBytesAreRefused_data()
    {
        QTest::addColumn<QString>("what");
        for (const char* what : {"cut", "magic", "size", "huge size", "odd size", "kernels", "no kernels",
                                 "fewer kernels", "text", "behind", "no symbol", "same symbol", "long symbol"})
            QTest::newRow(what) << what;
    }
    void hostileBytesAreRefused()
    {
        QFETCH(QString, what);
        std::vector<std::byte> code = codeOf(sourceOf(1));
        const auto put = [&](std::size_t offset, std::uint64_t number) {
            std::memcpy(code.data() + offset, &number, sizeof number);
        };
        const auto named = [](const std::string& symbols) {
            const opencl::PackedProgram kernel = {sourceOf(1), {}, {}, symbols};
            return opencl::pack({&kernel, 1});
        };
        if (what == "fewer kernels") {
            const opencl::PackedProgram kernels[] = {{sourceOf(1), {}, {}, "number\n"}, {sourceOf(2), {}, {}, "n\n"}};
            code = opencl::pack(kernels);
            put(16, 1);
        } else if (what == "cut")
            code.resize(code.size() - 8);
        else if (what == "magic")
            code[7] = std::byte{'1'};
        else if (what == "size")
            put(8, code.size() - 8);
        else if (what == "huge size")
            put(8, ~std::uint64_t{7});
        else if (what == "odd size")
            put(8, code.size() - 1);
        else if (what == "kernels")
            put(16, ~std::uint64_t{0});
        else if (what == "no kernels")
            put(16, 0);
        else if (what == "text")
            put(24, ~std::uint64_t{0});
        else if (what == "behind")
            code.insert(code.end(), 8, std::byte{0});
        else if (what == "no symbol")
            code = named("number\n\nother\n");
        else if (what == "same symbol")
            code = bothNamedNumber(sourceOf(1), sourceOf(2));
        else
            code = named(std::string(2000, 'x'));
        const auto opened = openLibrary(code);
        QVERIFY(opened.status == Status::InvalidArgument);
        QVERIFY2(opened.says.starts_with("the library's OpenCL code is damaged: "), opened.says.c_str());
        QVERIFY(opened.it == nullptr);
    }

    /// Whatever stands in them: with a sanitizer this says more.
    void noBytesAreReadBeyondTheCode()
    {
        const char* const seed = std::getenv("LATHE_TEST_SEED");
        std::mt19937_64 random(seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1);
        const std::vector<std::byte> whole = codeOf(sourceOf(1), "binary", "device");
        int refused = 0;
        for (int round = 0; round < 2000; ++round) {
            // An allocation of its own, at whose end the code ends.
            std::vector<std::byte> code(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(random() % 3 * 8));
            code.shrink_to_fit();
            for (std::uint64_t change = random() % 4; change > 0; --change)
                code[random() % code.size()] = static_cast<std::byte>(random() % 256);
            runtime::PackageReader reader({reinterpret_cast<const char*>(code.data()), code.size()});
            runtime::ProgramView kernel;
            std::size_t sum = 0;
            while (reader.next(kernel))
                for (const std::string_view text : {kernel.source, kernel.binary, kernel.madeFor, kernel.symbols})
                    for (const char byte : text)
                        sum += static_cast<unsigned char>(byte);
            refused += reader.isGood() ? 0 : 1;
            QVERIFY(!reader.isGood() || sum > 0);
        }
        QVERIFY(refused > 200 && refused < 1990);
    }

    void codeOfNothingIsFine()
    {
        const Context context = must(openLibrary({}));
        const Queue queue = must(start(context));
        const auto refused = prepare(queue, {"number", {}, {1, 1, 1}, {1, 1, 1}, 0}, {});
        QVERIFY(refused.status == Status::InvalidArgument);
    }

    void packagesStandOneBehindTheOther()
    {
        std::vector<std::byte> code;
        for (int p = 0; p < 3; ++p) {
            const std::string name = "p" + std::to_string(p);
            const opencl::PackedProgram kernels[] = {
                {"__kernel void " + name + "_a(__global int *x) { x[0] = 1; }", {}, {}, name + "_a\n"},
                {"__kernel void " + name + "_b(__global int *x) { x[0] = 2; }", {}, {}, name + "_b\n"}};
            const std::vector<std::byte> package = opencl::pack(kernels);
            QCOMPARE(package.size() % 8, std::size_t{0});
            code.insert(code.end(), package.begin(), package.end());
        }
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        const Memory memory = must(allocate(context, 4));
        const BuildCounter counter;
        for (const char* symbol : {"p2_a", "p0_b", "p1_a"})
            must(prepare(queue, {symbol, {}, {1, 1, 1}, {1, 1, 1}, 0}, {memory.get()}));
        QCOMPARE(counter.sources(), 3); // nothing else was built
    }

    /// Two builders made it, for two kernels that have a launch in common.
    void aProgramThatIsThereTwiceIsBuiltOnce()
    {
        const Ran ran = runNumber(bothNamedNumber(sourceOf(3), sourceOf(3)));
        QCOMPARE(ran.says, std::string());
        QCOMPARE(ran.number, 3);
        QCOMPARE(ran.sources, 1);
    }

    void aBinaryOfThisDeviceIsRun()
    {
        const std::string identity = firstDevice().identity;
        const Ran ran = runNumber(codeOf("nonsense", binaryOf(sourceOf(5)), identity));
        QCOMPARE(ran.says, std::string());
        QCOMPARE(ran.number, 5);
        QCOMPARE(ran.sources, 0);
        QCOMPARE(files(), QStringList()); // the library has it
    }

    void anotherBinaryIsBuiltFromSourceAndKept_data()
    {
        QTest::addColumn<QString>("binary");
        QTest::newRow("of another device") << "elsewhere";
        QTest::newRow("refused") << "refused";
        QTest::newRow("of another source") << "other";
        QTest::newRow("none") << "none";
    }
    void anotherBinaryIsBuiltFromSourceAndKept()
    {
        QFETCH(QString, binary);
        const std::string identity = firstDevice().identity;
        binaryOf(sourceOf(7));
        std::string other = sourceOf(6);
        other.replace(other.find("number"), 6, "nobody");
        const std::vector<std::byte> code = binary == "elsewhere"
                                                ? codeOf(sourceOf(7), binaryOf(sourceOf(6)), identity + " of yore")
                                            : binary == "refused" ? codeOf(sourceOf(7), "of yesterday", identity)
                                            : binary == "other"   ? codeOf(sourceOf(7), binaryOf(other), identity)
                                                                  : codeOf(sourceOf(7));
        const Ran first = runNumber(code);
        QCOMPARE(first.says, std::string());
        QCOMPARE(first.number, 7);
        QCOMPARE(first.sources, 1);
        QCOMPARE(files().size(), 1);
        const Ran second = runNumber(code);
        QCOMPARE(second.number, 7);
        QCOMPARE(second.sources, 0);
        QCOMPARE(second.binaries, binary == "refused" || binary == "other" ? 2 : 1);
        QCOMPARE(files().size(), 1);
    }

    void aSourceThatCannotBeBuiltIsRefusedInTheCompilersWords()
    {
        const std::vector<std::byte> code = codeOf("void f() { nonsense; }");
        const BuildCounter counter;
        const Context context = must(openLibrary(code));
        const Queue queue = must(start(context));
        for (int i = 0; i < 2; ++i) {
            const auto refused = prepare(queue, {"number", {}, {1, 1, 1}, {1, 1, 1}, 0}, {});
            QVERIFY(refused.status == Status::KernelFailed);
            QVERIFY2(refused.says.starts_with("the OpenCL compiler refuses the source of kernel number: "
                                              "CL_BUILD_PROGRAM_FAILURE (-11): ")
                         && refused.says.find("nonsense") != std::string::npos,
                     refused.says.c_str());
        }
        QCOMPARE(counter.sources(), 1);
        QCOMPARE(files(), QStringList());
    }

    /// What cannot be told from the right file is run: so it must be told.
    void aCacheFileIsBelievedIfAllOfItIsRight_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<int>("number");
        QTest::newRow("right") << "right" << 9;
        for (const char* what :
             {"flipped", "cut", "longer", "empty", "other source", "other device", "writable by others", "folder"})
            QTest::newRow(what) << what << 8;
    }
    void aCacheFileIsBelievedIfAllOfItIsRight()
    {
        QFETCH(QString, what);
        QFETCH(int, number);
        const std::string identity = firstDevice().identity, forged = binaryOf(sourceOf(9));
        const std::vector<std::byte> code = codeOf(sourceOf(8));
        binaryOf(sourceOf(8));
        if (m_name.isEmpty()) {
            QCOMPARE(runNumber(code).number, 8);
            m_name = files().value(0);
            m_bytes = read(only()).size();
        }
        QVERIFY(QDir().mkpath(cache()));
        QByteArray bytes = fileOf(sourceOf(8), forged, identity);
        if (what == "flipped")
            bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        else if (what == "cut")
            bytes.chop(8);
        else if (what == "longer")
            bytes.append(8, '\0');
        else if (what == "empty")
            bytes.clear();
        else if (what == "other source")
            bytes = fileOf(sourceOf(9), forged, identity);
        else if (what == "other device")
            bytes = fileOf(sourceOf(8), forged, identity + " of yore");
        const QString path = cache() + '/' + m_name;
        if (what == "folder") {
            QFile::remove(path);
            QVERIFY(QDir().mkpath(path));
        } else {
            write(path, bytes);
            const auto others = what == "writable by others" ? QFile::WriteOther : QFile::Permissions();
            QVERIFY(QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner | others));
        }
        const Ran ran = runNumber(code);
        QCOMPARE(ran.says, std::string());
        QCOMPARE(ran.number, number);
        if (what != "right" && what != "folder")
            QCOMPARE(read(path).size(), m_bytes); // written anew
        QCOMPARE(files().size(), what == "folder" ? 0 : 1); // and nothing is left beside it
    }

    void aFolderThatCannotBeWrittenIsNoError_data()
    {
        QTest::addColumn<QString>("what");
        for (const char* what : {"a file in its place", "nowhere", "relative", "too long", "read-only"})
            QTest::newRow(what) << what;
    }
    void aFolderThatCannotBeWrittenIsNoError()
    {
        QFETCH(QString, what);
        const QByteArray home = qgetenv("HOME");
        binaryOf(sourceOf(4));
        if (what == "a file in its place") {
            write(m_folder, "a file");
        } else if (what == "read-only") {
            qputenv("XDG_CACHE_HOME", "/proc/self");
        } else {
            qputenv("HOME", what == "nowhere" ? "" : "home");
            if (what == "nowhere")
                qunsetenv("XDG_CACHE_HOME");
            else if (what == "too long")
                qputenv("XDG_CACHE_HOME", '/' + QByteArray(5000, 'x'));
            else
                qputenv("XDG_CACHE_HOME", "cache");
        }
        const Ran ran = runNumber(codeOf(sourceOf(4)));
        QCOMPARE(ran.says, std::string());
        QCOMPARE(ran.number, 4);
        QCOMPARE(ran.sources, 1);
        qputenv("HOME", home);
        QVERIFY(!QFile::exists(QStringLiteral("cache")) && !QFile::exists(QStringLiteral("home")));
    }

    void theOldestGoWhenTheCacheIsLarge()
    {
        QCOMPARE(runNumber(codeOf(sourceOf(1))).number, 1);
        const QString first = only();
        const QString old = cache() + '/' + QString(32, 'a') + ".bin", foreign = cache() + "/notes.txt";
        for (const QString& path : {old, foreign}) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly) && file.resize(qint64{300} << 20)); // it takes no room
            QVERIFY(file.setFileTime(QDateTime::currentDateTime().addDays(-1), QFileDevice::FileModificationTime));
        }
        QCOMPARE(runNumber(codeOf(sourceOf(2))).number, 2);
        QVERIFY(!QFile::exists(old));
        QVERIFY(QFile::exists(first));
        QVERIFY2(QFile::exists(foreign), "what is not ours stays");
        QCOMPARE(files().size(), 3);
    }

    void instancesBuildAProgramOnce()
    {
        const std::vector<std::byte> code = codeOf(sourceOf(3));
        const BuildCounter counter;
        const Context context = must(openLibrary(code));
        std::vector<std::thread> threads;
        std::atomic<int> right = 0;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                const Queue queue = must(start(context));
                const Memory memory = must(allocate(context, 4));
                const Launch launch = must(prepare(queue, {"number", {}, {1, 1, 1}, {1, 1, 1}, 0}, {memory.get()}));
                int number = 0;
                if (problemOf(kLibrary.launch, queue.get(), launch.get()).empty()
                    && problemOf(kLibrary.read, queue.get(), static_cast<void*>(&number), memory.get(), std::size_t{4},
                                 true)
                           .empty()
                    && number == 3)
                    ++right;
            });
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(right.load(), 4);
        QCOMPARE(counter.sources(), 1);
    }
};

LATHE_TEST_GUILESS(TestOpenClCode)

} // namespace tst_opencl_code

#include "tst_opencl_code.moc"
