#include "core/session/session.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

namespace tst_hardware {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

/// Hardware parameters of a session: edited, given by a file, kept with the project.
class TestHardware : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

    std::unique_ptr<TuningSession> open(const char* project, const std::string& hardware = {}) const
    {
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.model.hardware = hardware;
        options.target = "sim";
        if (*project != '\0')
            options.project = m_dir.filePath(QLatin1String(project)).toStdString();
        return must(TuningSession::open(options));
    }
    static DeviceView::Limit limit(const TuningSession& session, const char* name)
    {
        for (const DeviceView::Limit& each : session.hardware())
            if (each.name == name)
                return each;
        return {};
    }

private slots:
    void whatIsEditedIsKeptWithTheProject()
    {
        std::int64_t own = 0;
        {
            const auto session = open("edited.lathe");
            own = limit(*session, "l2_bytes").value;
            must(session->project()->setHardware("l2_bytes", 4096));
            QCOMPARE(limit(*session, "l2_bytes").value, std::int64_t{4096});
            QCOMPARE(limit(*session, "l2_bytes").origin, std::string("edited"));
        }
        {
            const auto session = open("edited.lathe");
            QCOMPARE(limit(*session, "l2_bytes").value, std::int64_t{4096});
            QCOMPARE(limit(*session, "l2_bytes").origin, std::string("edited"));
            must(session->project()->setHardware("l2_bytes", std::nullopt));
            QCOMPARE(limit(*session, "l2_bytes").value, own);
        }
        const auto session = open("edited.lathe");
        QCOMPARE(limit(*session, "l2_bytes").value, own);
        QVERIFY(limit(*session, "l2_bytes").origin != "edited");
    }

    void aFileIsTakenAndStored()
    {
        const std::string file = m_dir.filePath(QStringLiteral("board.txt")).toStdString();
        std::ofstream(file) << "l1d_bytes = 16384\nnum_cores = 3\n";
        {
            const auto session = open("file.lathe", file);
            QCOMPARE(limit(*session, "num_cores").value, std::int64_t{3});
        }
        std::filesystem::remove(file); // the project has it
        const auto session = open("file.lathe");
        QCOMPARE(limit(*session, "num_cores").value, std::int64_t{3});
        QCOMPARE(limit(*session, "l1d_bytes").origin, std::string("file board.txt"));
    }

    void whatMakesNoSenseIsRefused()
    {
        const auto session = open("");
        QVERIFY(session->project()->setHardware("wings", 2).error().code == Errc::InvalidArgument);
        QVERIFY(!session->project()->setHardware("num_cores", -4));
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.model.hardware = "abacus";
        QVERIFY(TuningSession::open(options).error().code == Errc::NotFound);
    }
};

LATHE_TEST_GUILESS(TestHardware)

} // namespace tst_hardware

#include "tst_hardware.moc"
