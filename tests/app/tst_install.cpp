#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

namespace tst_install {

/// What `cmake --install` leaves works by itself, from a folder of any name.
class TestInstall : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString prefix() const { return m_dir.filePath("a prefix"); }

    struct Output
    {
        int code;
        QByteArray out, err;
    };
    Output run(const QString& program, const QStringList& words) const
    {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"LD_LIBRARY_PATH"})
            environment.remove(name);
        environment.insert("HOME", m_dir.path());
        environment.insert("QT_QPA_PLATFORM", "offscreen");
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_dir.path());
        process.start(program, words);
        if (!process.waitForFinished(300000))
            qFatal("%s did not end", qPrintable(program));
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    Output cli(const QStringList& words) const { return run(prefix() + "/bin/lathe-cli", words); }
    QStringList runtimes() const
    {
        return QDir(prefix() + "/lib/lathe/runtime").entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    }
    QByteArray read(const QString& file) const
    {
        QFile in(prefix() + '/' + file);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }

private slots:
    void initTestCase()
    {
        const Output installed = run(
            LATHE_CMAKE, {"--install", QCoreApplication::applicationDirPath() + "/..", "--prefix", prefix()});
        QVERIFY2(installed.code == 0, installed.err);
    }

    void programsPluginsAndRuntimeAreThere()
    {
        for (const char* program : {"lathe-cli", "lathe-builder", "lathe-runner"})
            QVERIFY2(QFileInfo(prefix() + "/bin/" + QLatin1String(program)).isExecutable(), program);
        for (const char* plugin : {"cpu_device.so", "sim_codegen.so", "sim_device.so"})
            QVERIFY2(QFile::exists(prefix() + "/lib/lathe/plugins/" + QLatin1String(plugin)), plugin);
        for (const QString& machine : runtimes())
            for (const char* archive : {"/liblathe_runtime.a", "/liblathe_cuda.a", "/liblathe_opencl.a"})
                QVERIFY2(QFile::exists(prefix() + "/lib/lathe/runtime/" + machine + QLatin1String(archive)),
                         qPrintable(machine));
        QVERIFY(!runtimes().isEmpty());
    }

    void theManPageIsThere()
    {
        const QByteArray page = read("share/man/man1/lathe-cli.1");
        QVERIFY(page.startsWith(".TH LATHE"));
        for (const char* flag :
             {"\\-\\-trials\\-per\\-round", "\\-\\-scheduler", "\\-\\-allow\\-default", "\\-\\-weight\\-seed"})
            QVERIFY2(page.contains(flag), flag);
    }

    void nothingRemembersTheBuildFolder()
    {
        for (const char* program : {"bin/lathe-cli", "bin/lathe-runner", "lib/lathe/plugins/sim_codegen.so"}) {
            const QByteArray bytes = read(program);
            QVERIFY2(!bytes.isEmpty()
                         && !bytes.contains(
                             (QDir::cleanPath(QCoreApplication::applicationDirPath() + "/..") + "/lib").toUtf8()),
                     program);
        }
    }

    /// What the environment can ask of programs is what README.md lists, and nothing of it plants faults.
    void noTestHookIsInstalled()
    {
        QVERIFY2(QFile::exists(QCoreApplication::applicationDirPath() + "/lathe-test-builder"),
                 "the builder of tests lies beside the tests");
        QFile readme(QStringLiteral(LATHE_SOURCE_DIR) + "/README.md");
        QVERIFY(readme.open(QIODevice::ReadOnly));
        const QByteArray documented = readme.readAll();
        const QRegularExpression name(QStringLiteral("^LATHE_[A-Z_]+$"));
        QSet<QString> asked;
        int programs = 0;
        QDirIterator it(prefix(), QDir::Files, QDirIterator::Subdirectories);
        while (it.hasNext()) {
            QFile file(it.next());
            QVERIFY2(!QFileInfo(file).fileName().contains("test"), qPrintable(file.fileName()));
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray bytes = file.readAll();
            if (!bytes.startsWith("\x7f"
                                  "ELF"))
                continue;
            ++programs;
            for (const char* hook : {"LATHE_PLANT", "LATHE_PLUGIN_PATH"})
                QVERIFY2(!bytes.contains(hook), qPrintable(file.fileName()));
            // Scripts of faults are options of the simulated device's targets, and of nothing else.
            QVERIFY2(!bytes.contains("build-crash") || file.fileName().contains("/sim_"), qPrintable(file.fileName()));
            for (const QByteArray& text : bytes.split('\0')) // names stand alone, as getenv() takes them
                if (text.startsWith("LATHE_") && name.match(QString::fromLatin1(text)).hasMatch())
                    asked << QString::fromLatin1(text);
        }
        QVERIFY(programs >= 5);
        QVERIFY2(asked.contains("LATHE_LOG") && asked.contains("LATHE_CHECKS"),
                 qPrintable(QStringList(asked.values()).join(' ')));
        for (const QString& variable : asked)
            QVERIFY2(documented.contains("`" + variable.toUtf8()), qPrintable(variable + " is not in README.md"));
    }

    void pluginsComeFromTheInstallationAloneAndNotIfOthersMayChangeThem()
    {
        const QString device = prefix() + "/lib/lathe/plugins/sim_device.so";
        qputenv("LATHE_PLUGIN_PATH", m_dir.path().toUtf8());
        const Output listed = cli({"devices"});
        qunsetenv("LATHE_PLUGIN_PATH");
        QVERIFY2(listed.code == 0 && listed.out.contains("Simulated"), listed.out + listed.err);
        const QFile::Permissions usual = QFile::permissions(device);
        QVERIFY(QFile::setPermissions(device, usual | QFile::WriteOther));
        const Output refused = cli({"devices"});
        QVERIFY(QFile::setPermissions(device, usual));
        QVERIFY2(!refused.out.contains("Simulated") && refused.out.contains("sim_device.so is not loaded"),
                 refused.out + refused.err);
    }

    void theInstalledBuilderPlantsNothing()
    {
        if (!QFile::exists(prefix() + "/lib/lathe/plugins/cpu_codegen.so"))
            QSKIP("this build has no code generation for CPUs (LATHE_LLVM is off)");
        QFile script(m_dir.filePath("faults.json"));
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write(R"({"rules": [{"fault": "build-failed", "every": 1}]})");
        script.close();
        qputenv("LATHE_PLANT_FAULTS", m_dir.filePath("faults.json").toUtf8());
        qputenv("LATHE_PLANT_MALFORMED", "1");
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "cpu", "--trials", "4", "--project", "sound.lathe",
                                  "--head-start", "none", "--json"});
        qunsetenv("LATHE_PLANT_FAULTS");
        qunsetenv("LATHE_PLANT_MALFORMED");
        QVERIFY2(tuned.code == 0, tuned.err);
        QVERIFY(tuned.out.contains("\"cost_ms\""));
        QVERIFY2(!tuned.out.contains("\"BuildFailed\"") && !tuned.out.contains("\"Internal\""), tuned.out);
    }

    void theInstalledProgramsTune()
    {
        const Output tuned = cli({"tune", "zoo:mlp", "--target", "sim", "--trials", "16", "--project", "p.lathe"});
        QVERIFY2(tuned.code == 0, tuned.err);
        const Output best = cli({"records", "best", "p.lathe", "--json"});
        QVERIFY2(best.code == 0 && best.out.contains("task"), best.err);
    }

    void theInstalledProgramsExport()
    {
        if (!QFile::exists(prefix() + "/lib/lathe/plugins/cpu_codegen.so"))
            QSKIP("this build has no code generation for CPUs (LATHE_LLVM is off)");
        const Output compiled = cli({"compile", "zoo:mlp", "--allow-default", "-o", "libmlp.so"});
        QVERIFY2(compiled.code == 0, compiled.err);
        const Output verified = cli({"verify", "libmlp.so"});
        QVERIFY2(verified.code == 0, verified.err);
    }

    /// Each is of this build's features, and the figures of networks tuned without it stay comparable with those with
    /// it.
    void theHeadStartsThatShipHoldNothingOfTheBenchmark()
    {
        const QDir folder(prefix() + "/share/lathe/head_start");
        const QStringList files = folder.entryList({"*.headstart"});
        QVERIFY(files.contains("cpu-x86_64.headstart"));
        for (const QString& file : files) {
            const Output show = cli({"head-start", "show", folder.filePath(file), "--json"});
            QVERIFY2(show.code == 0, show.err);
            const QJsonObject shown = QJsonDocument::fromJson(show.out).object();
            QVERIFY2(shown["usable"].toBool(),
                     "of other features than this build's: tests/bench/head_start makes it anew");
            QMap<QString, QSet<QString>> keys; // by target
            for (const QJsonValue& task : shown["tasks"].toArray())
                keys[task["target"].toString()] << task["key"].toString();
            QVERIFY(!keys.isEmpty());
            for (const char* network : {"resnet-18", "resnet-50", "mobilenet-v2", "squeezenet-1.1", "inception-v3",
                                        "vgg-16", "densenet-121", "efficientnet-b0", "shufflenet-v2", "vit-b16"}) {
                const QString model = QString("zoo:") + network;
                QVERIFY2(shown["without"].toArray().contains(model), network);
                for (auto of = keys.begin(); of != keys.end(); ++of) {
                    const Output tasks = cli({"tasks", model, "--target", of.key(), "--json"});
                    QVERIFY2(tasks.code == 0, tasks.err);
                    const QJsonArray list = QJsonDocument::fromJson(tasks.out).object()["tasks"].toArray();
                    QVERIFY(!list.isEmpty());
                    for (const QJsonValue& task : list) {
                        QVERIFY(!task["key"].toString().isEmpty());
                        QVERIFY2(!of.value().contains(task["key"].toString()),
                                 qPrintable(file + " holds a task of " + network));
                    }
                }
            }
        }
    }

    void aRunBeginsWithTheHeadStartThatShips()
    {
        if (!QFile::exists(prefix() + "/lib/lathe/plugins/cpu_codegen.so"))
            QSKIP("this build has no code generation for CPUs (LATHE_LLVM is off)");
        if (QSysInfo::currentCpuArchitecture() != "x86_64")
            QSKIP("no head start ships for this machine");
        // As installed, and in the build folder.
        for (const QString& place : {prefix(), QDir::cleanPath(QCoreApplication::applicationDirPath() + "/..")}) {
            QFile::remove(m_dir.filePath("begun.lathe"));
            const Output tuned = run(place + "/bin/lathe-cli", {"tune", "zoo:mlp", "--target", "cpu", "--trials", "8",
                                                                "--project", "begun.lathe"});
            QVERIFY2(tuned.code == 0, tuned.err);
            QVERIFY2((tuned.out + tuned.err)
                         .contains("head start " + place.toUtf8() + "/share/lathe/head_start/cpu-x86_64.headstart: "),
                     tuned.out + tuned.err);
        }
        const Output without = cli({"tune", "zoo:mlp", "--target", "cpu", "--trials", "8", "--project", "empty.lathe",
                                    "--head-start", "none"});
        QVERIFY2(without.code == 0, without.err);
        QVERIFY2(!(without.out + without.err).contains("head start "), without.out + without.err);
    }

    void aProcessorWithoutARuntimeIsRefusedByThePackageThatWasMissing()
    {
        const bool isArm = QSysInfo::currentCpuArchitecture() == "arm64";
        const QString other = isArm ? "x86_64" : "aarch64";
        QDir(prefix() + "/lib/lathe/runtime/" + other + "-linux-gnu").removeRecursively();
        const Output refused = cli({"compile", "zoo:mlp", "--target", "cpu -mtriple=" + other + "-linux-gnu",
                                    "--allow-default", "--no-verify", "--no-bench", "-o", "libother.so"});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains(isArm ? "install the package g++-x86-64-linux-gnu"
                                            : "install the package g++-aarch64-linux-gnu"),
                 refused.err);
        QCOMPARE(refused.err.count('\n'), 1);
    }

    void theDesktopFindsTheWindow()
    {
        if (!QFile::exists(prefix() + "/bin/lathe"))
            QSKIP("this build has no window (LATHE_BUILD_UI is off)");
        const QString entry = QString::fromUtf8(read("share/applications/lathe.desktop"));
        const auto value = [&entry](const QString& key) {
            return QRegularExpression("^" + QRegularExpression::escape(key) + "=(.*)$",
                                      QRegularExpression::MultilineOption)
                .match(entry)
                .captured(1);
        };
        QVERIFY(entry.startsWith("[Desktop Entry]\n"));
        QVERIFY(QFileInfo(prefix() + "/bin/" + value("Exec").section(' ', 0, 0)).isExecutable());
        QVERIFY(!value("Name").isEmpty() && !value("Comment[zh_CN]").isEmpty());
        QVERIFY(QFile::exists(prefix() + "/share/icons/hicolor/scalable/apps/" + value("Icon") + ".svg"));
        // What it opens is described, and no more.
        QStringList types;
        QXmlStreamReader mime(read("share/mime/packages/lathe.xml"));
        while (!mime.atEnd())
            if (mime.readNext() == QXmlStreamReader::StartElement && mime.name() == QLatin1String("mime-type"))
                types << mime.attributes().value("type").toString();
        QVERIFY2(!mime.hasError(), qPrintable(mime.errorString()));
        QStringList opened = value("MimeType").split(';', Qt::SkipEmptyParts);
        QCOMPARE(opened, types);
        QXmlStreamReader info(read("share/metainfo/org.lathe.Lathe.metainfo.xml"));
        QStringList provided;
        while (!info.atEnd())
            if (info.readNext() == QXmlStreamReader::StartElement && info.name() == QLatin1String("mediatype"))
                provided << info.readElementText();
        QVERIFY2(!info.hasError(), qPrintable(info.errorString()));
        QCOMPARE(provided, types);
        const Output version = run(prefix() + "/bin/lathe", {"--version"});
        QVERIFY2(version.code == 0 && version.out.contains("Lathe"), version.err);
    }
};

LATHE_TEST_GUILESS(TestInstall)

} // namespace tst_install

#include "tst_install.moc"
