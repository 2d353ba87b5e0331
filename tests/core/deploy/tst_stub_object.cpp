#include "core/deploy/names.h"
#include "core/deploy/stub_object.h"
#include "core/deploy/templates.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <elf.h>

#include <cstring>

namespace tst_stub_object {

using namespace lathe;
using namespace lathe::deploy;

class TestStubObject : public QObject
{
    Q_OBJECT
private slots:
    void isARelocatableObjectOfItsMachine_data()
    {
        QTest::addColumn<QString>("machine");
        QTest::addColumn<int>("elf");
        QTest::newRow("x86_64") << "x86_64" << EM_X86_64;
        QTest::newRow("aarch64") << "aarch64" << EM_AARCH64;
    }
    void isARelocatableObjectOfItsMachine()
    {
        QFETCH(QString, machine);
        QFETCH(int, elf);
        const auto object = makeStubObject(
            {machine.toStdString(), {{"lathe_a_run", "lathe_0_run"}}, {"k0_p0", "k0_p1", "k0_p0"}, {"lathe_driver_cl"}});
        QVERIFY(object);
        Elf64_Ehdr header;
        QVERIFY(object->size() > sizeof header);
        std::memcpy(&header, object->data(), sizeof header);
        QCOMPARE(header.e_type, ET_REL);
        QCOMPARE(header.e_machine, elf);
        QCOMPARE(header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr), object->size());
    }
    void otherMachinesAreRefused()
    {
        const auto object = makeStubObject({"armv7l", {}, {}, {}});
        QVERIFY(!object);
        QVERIFY(object.error().code == Errc::Unsupported);
    }
    void namesBecomeIdentifiers()
    {
        QCOMPARE(cIdentifier("conv2d 3x3/2 64->128 @28 +add"), std::string("conv2d_3x3_2_64_128_28_add"));
        QCOMPARE(cIdentifier("18-layers"), std::string("_18_layers"));
        QCOMPARE(cIdentifier("..."), std::string("model"));
        QCOMPARE(libraryName("", "/some/where/libresnet-18.so"), std::string("resnet_18"));
        QCOMPARE(libraryName("my net", "x.so"), std::string("my_net"));
        QCOMPARE(libraryName("", "lib.so"), std::string("model"));
    }
    void theHeaderNamesTheInterface()
    {
        const std::vector<std::string> functions = interfaceFunctions();
        QCOMPARE(functions.size(), 28U);
        for (const char* const name : {"api_version", "create", "run", "destroy", "set_observer"})
            QVERIFY(std::find(functions.begin(), functions.end(), name) != functions.end());
        const std::string header = fillTemplate(kHeaderTemplate, "net");
        QVERIFY(header.find('@') == std::string::npos);
        QVERIFY(header.find("int32_t lathe_net_run(lathe_instance* instance);") != std::string::npos);
    }
};

LATHE_TEST(TestStubObject)

} // namespace tst_stub_object

#include "tst_stub_object.moc"
