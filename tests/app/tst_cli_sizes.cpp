#include "core/store/project.h"
#include "tests/support/command_line.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_cli_sizes {

/// Models that leave sizes of their inputs open, on the command line, and what a project remembers of them.
class TestCliSizes : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    using Output = lathe::test::CliOutput;
    Output cli(const QStringList& words) const { return lathe::test::runCli(m_dir.path(), words); }
    /// "batch = 1, height = 32", of --json.
    static QString sizesIn(const Output& output)
    {
        QStringList sizes;
        for (const QJsonValue& size : QJsonDocument::fromJson(output.out).object()["input_sizes"].toArray())
            sizes << QString("%1 = %2").arg(size["name"].toString()).arg(size["size"].toInt());
        return output.code == 0 ? sizes.join(", ") : QString::fromUtf8(output.err);
    }
    QString tasksSay(const QStringList& more) const { return sizesIn(cli(QStringList{"tasks", "--json"} + more)); }
    Output tune(const QStringList& more) const
    {
        return cli(QStringList{"tune", "--project", "p.lathe", "--trials", "4", "--trials-per-round", "4"} + more);
    }

private slots:
    void initTestCase()
    {
        for (const char* name : {"images_by_name", "images_by_number", "images_batch", "texts"}) {
            const QString file = QString("%1.onnx").arg(name);
            QVERIFY(QFile::copy(LATHE_SOURCE_DIR "/tests/data/kinds/" + file, m_dir.filePath(file)));
        }
    }

    void whatIsStillOpenIsNamedAtOnce()
    {
        const Output refused = cli({"tasks", "images_by_name.onnx"});
        QVERIFY(refused.code != 0 && refused.out.isEmpty());
        for (const char* part : {"height", "width", "--dim NAME=N"})
            QVERIFY2(refused.err.contains(part), refused.err);
        QCOMPARE(refused.err.count('\n'), 1);
        const Output unknown = cli({"tasks", "images_by_name.onnx", "--dim", "hight=3", "--dim", "width=3"});
        QVERIFY2(unknown.code != 0 && unknown.err.contains("hight") && unknown.err.contains("\"height\""), unknown.err);
        const Output odd = cli({"tasks", "images_by_name.onnx", "--dim", "height"});
        QVERIFY2(odd.code != 0 && odd.err.contains("--dim height is not of the form NAME=N"), odd.err);
        const Output zoo = cli({"tasks", "zoo:mlp", "--dim", "height=3"});
        QVERIFY2(zoo.code != 0 && zoo.err.contains("--dim"), zoo.err);
    }

    void sizesAreSetByNameOrPlaceAndNamed()
    {
        QCOMPARE(tasksSay({"images_by_name.onnx", "--dim", "height=32", "--dim", "width=48"}),
                 "batch = 1, height = 32, width = 48");
        QCOMPARE(tasksSay({"images_by_number.onnx", "--dim", "images:2=32", "--dim", "images:3=48", "--batch", "2"}),
                 "images:0 = 2, images:2 = 32, images:3 = 48");
        QCOMPARE(tasksSay({"texts.onnx", "--dim", "sequence_length=8"}), "batch_size = 1, sequence_length = 8");
        QCOMPARE(tasksSay({"images_by_name.onnx", "--shape", "images=2,3,32,48"}),
                 "batch = 2, height = 32, width = 48");
        const Output table = cli({"tasks", "texts.onnx", "--dim", "sequence_length=8"});
        QVERIFY2(table.out.startsWith("input sizes  batch_size = 1, sequence_length = 8\n"), table.out);
        QVERIFY(!cli({"tasks", "zoo:mlp"}).out.contains("input sizes"));
    }

    void whatIsMissingIsNamedWithUsualSizes()
    {
        const Output missing = cli({"tasks", "images_by_name.onnx"});
        QCOMPARE(missing.code, 1);
        QVERIFY2(missing.err.contains("set each with --dim NAME=N, for example --dim height=224 --dim width=224"),
                 missing.err);
    }

    void aModelIsTheSameByWhateverPath()
    {
        const auto models = [this] {
            using lathe::store::Project;
            const auto project = Project::open(m_dir.filePath("paths.lathe").toStdString(), Project::Access::Read);
            return project ? std::ssize(*project->models()) : -1;
        };
        QVERIFY(QFile::link("texts.onnx", m_dir.path() + "/linked.onnx"));
        for (const QString& path : {QStringLiteral("texts.onnx"), QStringLiteral("./texts.onnx"),
                                    m_dir.path() + "/texts.onnx", QStringLiteral("linked.onnx")}) {
            const Output tuned = cli({"tune", path, "--dim", "sequence_length=8", "--target", "sim", "--project",
                                      "paths.lathe", "--trials", "2", "--trials-per-round", "2"});
            QVERIFY2(tuned.code == 0, tuned.err);
            QCOMPARE(models(), std::ptrdiff_t{1});
        }
        // Moved, it is still the same, and the project finds it where it is now.
        QVERIFY(QDir(m_dir.path()).mkdir("elsewhere"));
        QVERIFY(QFile::copy(m_dir.path() + "/texts.onnx", m_dir.path() + "/elsewhere/texts.onnx"));
        QCOMPARE(
            cli({"tune", "elsewhere/texts.onnx", "--target", "sim", "--project", "paths.lathe", "--trials", "2"}).code,
            0);
        QCOMPARE(models(), std::ptrdiff_t{1});
        QVERIFY(QFile::remove(m_dir.path() + "/linked.onnx"));
        const Output dry = cli({"compile", "--project", "paths.lathe", "--dry-run", "--json", "--allow-default"});
        QCOMPARE(sizesIn({dry.code == 1 ? 0 : dry.code, dry.out, dry.err}), "batch_size = 1, sequence_length = 8");
    }

    void aProjectRemembersTheSizes()
    {
        const QStringList model = {"images_by_name.onnx", "--project", "p.lathe"};
        const QStringList small = {"images_by_name.onnx", "--target", "sim", "--dim", "height=32", "--dim", "width=32"};
        const Output begun = tune(small);
        QVERIFY2(begun.code == 0, begun.err);
        QCOMPARE(tasksSay(model), "batch = 1, height = 32, width = 32");
        QVERIFY2(
            cli(QStringList{"tasks"} + model).err.contains("as last time in this project: height = 32, width = 32"),
            "the remark is missing");
        // Only what is said otherwise is otherwise; a command that reads changes nothing.
        QCOMPARE(tasksSay(model + QStringList{"--dim", "width=64"}), "batch = 1, height = 32, width = 64");
        QCOMPARE(tasksSay(model), "batch = 1, height = 32, width = 32");
        // Another variant, which shares records; then the first one again, said in another way.
        const Output larger = tune({"--dim", "height=64", "--dim", "width=64"}); // the project names the model
        QVERIFY2(larger.code == 0, larger.err);
        QCOMPARE(tasksSay(model), "batch = 1, height = 64, width = 64");
        const Output again = tune({"images_by_name.onnx", "--shape", "images=1,3,32,32"});
        QVERIFY2(again.code == 0, again.err);
        QCOMPARE(tasksSay(model), "batch = 1, height = 32, width = 32");
        const Output dry = cli({"compile", "--project", "p.lathe", "--dry-run", "--json", "--allow-default"});
        QCOMPARE(sizesIn({0, dry.out, {}}), "batch = 1, height = 32, width = 32"); // no library is made for simulators
    }

    void theClassifierSharesItsRecordsAmongSizes()
    {
        // Its shape does not depend on the image's.
        const auto covered = [this](const QStringList& sizes) {
            const Output dry = cli(QStringList{"compile", "images_by_name.onnx", "--project", "p.lathe", "--dry-run",
                                               "--json", "--allow-default"}
                                   + sizes);
            return QJsonDocument::fromJson(dry.out).object()["records"].toInt();
        };
        QVERIFY(covered({"--dim", "height=32", "--dim", "width=32"}) >= 1);
        const int unseen = covered({"--dim", "height=48", "--dim", "width=48"});
        QVERIFY2(unseen >= 1, "no record is shared");
    }

    void aLibraryIsForTheSizesThatItWasCompiledFor()
    {
#ifdef LATHE_TEST_CPU
        const Output compiled = cli({"compile", "texts.onnx", "--dim", "sequence_length=8", "--dim", "batch_size=2",
                                     "--allow-default", "--no-bench", "-o", "libtexts.so", "--json"});
        QVERIFY2(compiled.code == 0, compiled.err);
        QCOMPARE(sizesIn(compiled), "batch_size = 2, sequence_length = 8");
        const Output verified = cli({"verify", "libtexts.so"}); // it describes its model, sizes included
        QVERIFY2(verified.code == 0, verified.err);
#else
        QSKIP("built without the CPU's back end");
#endif
    }
};

LATHE_TEST_GUILESS(TestCliSizes)

} // namespace tst_cli_sizes

#include "tst_cli_sizes.moc"
