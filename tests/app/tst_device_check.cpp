#include "tests/support/test_program.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_device_check {

/// packaging/device_check beside a command line of the tests' own: what it tells where steps fail or take too long. A
/// machine with a GPU may be there for minutes only.
class TestDeviceCheck : public QObject
{
    Q_OBJECT

    struct Output
    {
        int code;
        QString out, err;
    };

    QTemporaryDir m_dir;
    QString path(const QString& name) const { return m_dir.filePath(name); }

    static bool write(const QString& path, const QByteArray& text)
    {
        QFile file(path);
        return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
    }
    QString read(const QString& name) const
    {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

    /// `tune` and `compile` are what the command line does for these words, in the shell's words; $project is the file.
    Output check(const QByteArray& tune, const QByteArray& compile, const QStringList& words = {})
    {
        const QByteArray devices =
            R"([{"kind": "cpu", "key": "cpu"}, {"kind": "cuda", "key": "cuda0", "state": "ready",)"
            R"( "name": "H200", "hardware": {"compute_capability": {"value": 90}}}])";
        const QByteArray cli = "#!/bin/sh\n"
                               "command=$1\n"
                               "while [ $# -gt 1 ]; do [ \"$1\" = --project ] && project=$2; shift; done\n"
                               "case $command in\n"
                               "devices) echo '"
                               + devices + "' ;;\ntune) " + tune + " ;;\ncompile) " + compile + " ;;\nesac\n";
        if (!write(path("bin/lathe-cli"), cli)
            || !QFile::setPermissions(path("bin/lathe-cli"), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner))
            qFatal("no command line could be written");
        QDir(path("kept")).removeRecursively();
        QProcess process;
        process.start("python3", QStringList{path("device_check"), "--skip", "torch", "--keep", path("kept")} + words);
        if (!process.waitForFinished(300000))
            qFatal("device_check did not end");
        return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
                QString::fromUtf8(process.readAllStandardError())};
    }

    static void has(const QString& text, const char* pattern)
    {
        QVERIFY2(QRegularExpression(pattern, QRegularExpression::MultilineOption).match(text).hasMatch(),
                 qPrintable(QString(pattern) + " is not in:\n" + text));
    }

    static constexpr const char* kTuned = R"(touch "$project"; echo '{"event": "trial"}'; echo '{"event": "done", )"
                                          R"("trials": 120, "trials_per_s": 31.5, "errors": {"BuildFailed": 2}, )"
                                          R"("estimated_ms": 0.5}')";
    static constexpr const char* kExported = R"(echo '{"latency_ms": 0.4, "max_rel_error": 3e-7,'; )"
                                             R"(echo ' "estimated_ms": {"with_overheads": 0.42}}')";

private slots:
    void initTestCase()
    {
        QVERIFY(QDir(m_dir.path()).mkdir("bin"));
        QVERIFY(QFile::copy(LATHE_SOURCE_DIR "/packaging/device_check", path("device_check")));
    }

    void whatWasMeasuredIsTold()
    {
        const Output done = check(kTuned, kExported);
        QVERIFY2(done.code == 0, qPrintable(done.out + done.err));
        for (const char* line :
             {"^device +H200$", "^target +cuda -arch=sm_90$", "^trials +120, 31.5 a second$",
              "^trials that failed +2 BuildFailed$", "^estimated +0.5 ms$",
              R"(^whole network +0.4 ms, 0.42 ms estimated \(\+5.0 %\)$)", "^largest relative error +3.00e-07$"})
            has(done.out, line);
        QCOMPARE(read("kept/check.txt"), done.out);
        QCOMPARE(read("kept/check.events").count("event"), 2);
    }

    /// A line is cut, figures are missing: what was measured so far is exported all the same.
    void whatFailsEndsNothingElse()
    {
        const Output cut = check(
            R"(touch "$project"; echo '{"event": "trial"}'; printf '{"event": '; echo 'the disk is full' >&2; exit 1)",
            kExported);
        QCOMPARE(cut.code, 1);
        has(cut.out, R"(^tuning +failed: the disk is full \(trials so far: 1\)$)");
        has(cut.out, "^whole network +0.4 ms, 0.42 ms estimated");

        const Output bare = check(R"(touch "$project"; echo '{"event": "done", "trials": 3}')",
                                  "echo 'no linker is here' >&2; exit 1");
        QCOMPARE(bare.code, 1);
        has(bare.out, "^trials +3, -$");
        has(bare.out, "^estimated +-$");
        has(bare.out, "^whole network +not exported: no linker is here$");
    }

    void allEndsWithinTheLimit()
    {
        const Output late = check(R"(touch "$project"; echo '{"event": "trial"}'; exec sleep 100)", kExported,
                                  {"--limit", "8"});
        QCOMPARE(late.code, 1);
        has(late.out, "^device +H200$");
        has(late.out, R"(^tuning +failed: not done within \d+ s \(trials so far: 1\)$)");
        has(late.out, "^whole network +not exported: no time was left for it$");
        QCOMPARE(read("kept/check.txt"), late.out);
    }

    void withoutADeviceNothingIsBegun()
    {
        QVERIFY(QFile::remove(path("bin/lathe-cli")));
        QVERIFY(write(path("bin/lathe-cli"), "#!/bin/sh\necho '[{\"kind\": \"cuda\", \"state\": \"no driver\"}]'\n"));
        QVERIFY(QFile::setPermissions(path("bin/lathe-cli"), QFile::ReadOwner | QFile::ExeOwner));
        QProcess process;
        process.start("python3", {path("device_check")});
        QVERIFY(process.waitForFinished(300000));
        QCOMPARE(process.exitCode(), 1);
        QCOMPARE(process.readAllStandardError(), QByteArray("nothing can be measured: no driver\n"));
    }
};

LATHE_TEST(TestDeviceCheck)

} // namespace tst_device_check

#include "tst_device_check.moc"
