#include "core/runtime/package.h"
#include "core/runtime/package_index.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

namespace tst_package_index {

using namespace lathe;
using namespace lathe::runtime;

namespace {

/// Bytes whose beginning is aligned as a library's code is.
std::string packageOf(const std::vector<PackedProgram>& programs)
{
    const std::vector<std::byte> bytes = pack(programs);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

class TestPackageIndex : public QObject
{
    Q_OBJECT

private slots:
    void eachLaunchIsFoundInItsProgram()
    {
        const std::string code = packageOf(
                                     {{"first", {}, {}, "k_1\nk_0\n"}, {"second", "b", "sm_80", "conv\nconv_2\n"}})
                                 + packageOf({{"third", {}, {}, "a\n"}});
        PackageIndex index;
        ErrorText error;
        QVERIFY2(index.load(code, "CUDA", error) == Status::Ok, error.text);
        QCOMPARE(index.programs(), std::size_t{3});
        QCOMPARE(index.launches(), std::size_t{5});
        const std::pair<const char*, const char*> wanted[] = {
            {"k_0", "first"}, {"k_1", "first"}, {"conv", "second"}, {"conv_2", "second"}, {"a", "third"}};
        for (const auto& [symbol, source] : wanted) {
            const std::size_t launch = index.find(symbol);
            QVERIFY2(launch < index.launches() && index.symbol(launch) == symbol, symbol);
            QCOMPARE(std::string(index.program(index.programOf(launch)).source), std::string(source));
        }
        for (const char* none : {"", "conv_", "conv_22", "z", "A"})
            QCOMPARE(index.find(none), index.launches());
    }

    void codeOfNothingHasNoLaunch()
    {
        PackageIndex index;
        ErrorText error;
        QVERIFY(index.load({}, "CUDA", error) == Status::Ok);
        QCOMPARE(index.programs() + index.launches(), std::size_t{0});
        QCOMPARE(index.find("k_0"), std::size_t{0});
    }

    /// Packages of candidates have many launches in common.
    void equalProgramsMayHaveOneLaunch()
    {
        const std::string one = packageOf({{"text", {}, {}, "k\n"}});
        PackageIndex index;
        ErrorText error;
        QVERIFY2(index.load(one + one, "CUDA", error) == Status::Ok, error.text);
        QVERIFY(index.find("k") < index.launches());
    }

    void damagedCodeIsRefused_data()
    {
        QTest::addColumn<std::string>("code");
        QTest::addColumn<QString>("says");
        const std::string whole = packageOf({{"text", {}, {}, "k\n"}});
        QTest::newRow("cut") << whole.substr(0, whole.size() - 8) << "its packages do not hold together";
        QTest::newRow("more behind") << whole + "01234567"
                                     << "its packages do not hold together";
        QTest::newRow("no name") << packageOf({{"text", {}, {}, "k\n\nl\n"}})
                                 << "it names a launch as no function can be named";
        QTest::newRow("a zero") << packageOf({{"text", {}, {}, std::string("k\0l\n", 4)}})
                                << "it names a launch as no function can be named";
        QTest::newRow("too long") << packageOf({{"text", {}, {}, std::string(1024, 'k') + "\n"}})
                                  << "it names a launch as no function can be named";
        QTest::newRow("one name, two texts")
            << whole + packageOf({{"other", {}, {}, "k\n"}}) << "two of its programs have a launch of the same name";
    }
    void damagedCodeIsRefused()
    {
        QFETCH(std::string, code);
        QFETCH(QString, says);
        PackageIndex index;
        ErrorText error;
        QVERIFY(index.load(code, "OpenCL", error) == Status::InvalidArgument);
        QCOMPARE(QString(error.text), "the library's OpenCL code is damaged: " + says);
    }
};

LATHE_TEST(TestPackageIndex)

} // namespace tst_package_index

#include "tst_package_index.moc"
