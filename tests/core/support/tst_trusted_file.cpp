#include "core/support/trusted_file.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace tst_trusted_file {

using namespace lathe;

/// Who may have put code into what an installation loads.
class TestTrustedFile : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::filesystem::path path(const char* name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }
    std::filesystem::path make(const char* name, mode_t mode) const
    {
        std::filesystem::create_directories(path(name).parent_path());
        std::ofstream(path(name)) << "code";
        ::chmod(path(name).c_str(), mode);
        return path(name);
    }

private slots:
    void whoMayChangeIt_data()
    {
        QTest::addColumn<unsigned>("file"); // permissions
        QTest::addColumn<unsigned>("folder");
        QTest::addColumn<unsigned>("program");
        QTest::addColumn<QByteArray>("refusal");
        QTest::newRow("the owner") << 0755U << 0755U << 0755U << QByteArray();
        QTest::newRow("a group, as those who install together are") << 0775U << 0775U << 0755U << QByteArray();
        QTest::newRow("everybody") << 0757U << 0755U << 0755U << QByteArray("plugin.so is not loaded");
        QTest::newRow("everybody may replace it") << 0755U << 0757U << 0755U << QByteArray("can modify");
        QTest::newRow("in a folder for everybody's own files") << 0755U << 01777U << 0755U << QByteArray();
        QTest::newRow("everybody can modify the program too") << 0777U << 0777U << 0777U << QByteArray();
    }
    void whoMayChangeIt()
    {
        QFETCH(unsigned, file);
        QFETCH(unsigned, folder);
        QFETCH(unsigned, program);
        QFETCH(QByteArray, refusal);
        const auto ours = make("bin/program", program), theirs = make("plugins/plugin.so", file);
        ::chmod(path("plugins").c_str(), folder);
        const auto checked = checkTrusted(theirs, ours);
        QCOMPARE(checked.has_value(), refusal.isEmpty());
        if (!checked) {
            QVERIFY(checked.error().code == Errc::Incompatible);
            QVERIFY2(checked.error().message.find(refusal.toStdString()) != std::string::npos,
                     checked.error().message.c_str());
        }
    }

    void itBelongsToNoStranger()
    {
        if (::geteuid() != 0)
            QSKIP("only root can give files away");
        const auto ours = make("bin/program", 0755), theirs = make("own/plugin.so", 0755);
        QCOMPARE(::chown(theirs.c_str(), 12345, 12345), 0);
        const auto refused = checkTrusted(theirs, ours);
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("another user") != std::string::npos, refused.error().message.c_str());
        QCOMPARE(::chown(ours.c_str(), 12345, 12345), 0); // whose program it is
        QVERIFY(checkTrusted(theirs, ours));
    }

    void whatIsNotThereIsAnotherMatter() { QVERIFY(checkTrusted(path("nothing.so"), path("no program"))); }
};

LATHE_TEST(TestTrustedFile)

} // namespace tst_trusted_file

#include "tst_trusted_file.moc"
