#include "core/runtime/cpu_features.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

namespace tst_variants {

using namespace lathe;

namespace {

const QString kWide = QStringLiteral("cpu -mcpu=skylake-avx512"), kNarrow = QStringLiteral("cpu -mcpu=haswell");

struct Output
{
    int code; ///< -1: ended by a signal
    QByteArray out, err;
};

/// Runs the network once and prints the variant and the sum of its outputs. [VARIANT]
const char* const kProgram = R"(
#define CALL2(name, function) lathe_##name##_##function
#define CALL1(name, function) CALL2(name, function)
#define CALL(function) CALL1(NETWORK, function)
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv)
{
    char error[512];
    lathe_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.variant = argc > 1 ? argv[1] : NULL;
    lathe_instance* network = CALL(create)(&options, error, sizeof error);
    if (network == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    lathe_tensor_info in, out;
    CALL(input_info)(0, &in);
    CALL(output_info)(0, &out);
    float* x = CALL(input_buffer)(network, 0);
    for (size_t i = 0; i < in.bytes / 4; ++i)
        x[i] = (float)(i % 7) / 7;
    if (CALL(run)(network) != LATHE_OK)
        return 2;
    const float* y = CALL(output_buffer)(network, 0);
    double sum = 0;
    for (size_t i = 0; i < out.bytes / 4; ++i)
        sum += (double)y[i] * (double)(i + 1);
    printf("%s\n%.6g\n%u\n", CALL(variant)(network), sum, CALL(variant_count)());
    for (unsigned i = 0; i < CALL(variant_count)(); ++i)
        printf("%s: %d\n", CALL(variant_target)(i), CALL(variant_runs_here)(i));
    CALL(destroy)(network);
    return 0;
}
)";

} // namespace

/// Libraries with code for several kinds of processors, and on processors that lack what they were made for: these are
/// an emulator's, which has AVX2 but no AVX-512. LATHE_TEST_AARCH64=1 makes a failure of its absence.
class TestVariants : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString m_emulator;

    Output run(const QString& program, const QStringList& words) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.start(program, words);
        if (!process.waitForFinished(120000))
            qFatal("%s did not end: %s", qPrintable(program), qPrintable(process.errorString()));
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
                process.readAllStandardError()};
    }
    Output compile(const QString& name, const QStringList& targets, const QStringList& more = {}) const
    {
        QStringList words = {"compile", "zoo:mlp", "--allow-default", "-o", name + ".so", "--json"};
        for (const QString& target : targets)
            words << "--target" << target;
        return run(QCoreApplication::applicationDirPath() + "/../bin/lathe-cli", words + more);
    }
    /// A program that runs NAME.so; false with a warning if it does not compile.
    bool program(const QString& name) const
    {
        QFile source(m_dir.filePath("run.c"));
        if (!source.open(QIODevice::WriteOnly) || source.write(kProgram) < 0)
            return false;
        source.close();
        const Output made = run(C_COMPILER,
                                {"-std=c99", "-Wall", "-Werror", "-include", name + ".h", "-DNETWORK=" + name, "run.c",
                                 "./" + name + ".so", "-Wl,-rpath,$ORIGIN", "-o", name});
        if (made.code != 0)
            qWarning("%s", made.err.constData());
        return made.code == 0;
    }
    Output emulated(const QString& processor, const QString& name, const QStringList& words = {}) const
    {
        return run(m_emulator, QStringList{"-cpu", processor, m_dir.filePath(name)} + words);
    }
    static QJsonObject object(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }
    static bool features(const QJsonValue& variant, const char* feature)
    {
        return variant.toObject()["features"].toArray().contains(QLatin1String(feature));
    }

private slots:
    void initTestCase()
    {
        QString missing;
        if (QSysInfo::currentCpuArchitecture() != "x86_64")
            QSKIP("these variants are for x86-64");
        m_emulator = QStandardPaths::findExecutable("qemu-x86_64");
        if (m_emulator.isEmpty())
            m_emulator = QStandardPaths::findExecutable("qemu-x86_64-static");
        if (m_emulator.isEmpty()) {
            if (qEnvironmentVariableIntValue("LATHE_TEST_AARCH64") != 0)
                QFAIL("no qemu-x86_64 (the package qemu-user)");
            QSKIP("no qemu-x86_64 (the package qemu-user)");
        }
        // The lesser one is given first: the best stands first all the same.
        const Output both = compile("both", {kNarrow, kWide}, {"--no-verify", "--no-bench"});
        QVERIFY2(both.code == 0, both.err);
        const Output wide = compile("wide", {kWide}, {"--no-verify", "--no-bench"});
        QVERIFY2(wide.code == 0, wide.err);
        QVERIFY(program("both") && program("wide"));
    }

    void whatALibraryHasIsDescribed()
    {
        QFile file(m_dir.filePath("both.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject description = object(file.readAll());
        const QJsonArray variants = description["variants"].toArray();
        QCOMPARE(variants.size(), 2);
        QCOMPARE(variants[0]["target"].toString(), kWide);
        QCOMPARE(variants[1]["target"].toString(), kNarrow);
        QVERIFY(features(variants[0], "avx512vl") && features(variants[0], "fma"));
        QVERIFY(!features(variants[1], "avx512vl") && features(variants[1], "avx2"));
        for (const QJsonValue& variant : variants) {
            QVERIFY(variant["memory"]["code_bytes"].toDouble() > 1000);
            QVERIFY(variant["memory"]["weights_bytes"].toDouble() > 1e5);
            QVERIFY(!variant["subgraphs"].toArray().isEmpty());
        }
        const double together = description["memory"]["weights_bytes"].toDouble();
        QVERIFY(together >= variants[0]["memory"]["weights_bytes"].toDouble());
    }

    void aProcessorWithoutAvx512TakesTheVariantForIt()
    {
        for (const char* processor : {"Haswell", "max"}) {
            const Output ran = emulated(processor, "both");
            QVERIFY2(ran.code == 0, ran.err);
            const QList<QByteArray> lines = ran.out.split('\n');
            QCOMPARE(QString::fromUtf8(lines[0]), kNarrow);
            QCOMPARE(lines[2], QByteArray("2"));
            QCOMPARE(QString::fromUtf8(lines[3]), kWide + ": 0");
            QCOMPARE(QString::fromUtf8(lines[4]), kNarrow + ": 1");
        }
    }

    void allVariantsComputeTheSame()
    {
        if (!runtime::processorHas("avx2") || !runtime::processorHas("fma"))
            QSKIP("this machine's processor has no AVX2");
        const double sum = emulated("Haswell", "both").out.split('\n').value(1).toDouble();
        QVERIFY(sum != 0);
        for (const QString& variant : {kNarrow, kWide}) {
            if (variant == kWide && !runtime::processorHas("avx512vl"))
                continue;
            const Output ran = run(m_dir.filePath("both"), {variant});
            QVERIFY2(ran.code == 0, ran.err);
            QCOMPARE(QString::fromUtf8(ran.out.split('\n')[0]), variant);
            QVERIFY2(std::abs(ran.out.split('\n')[1].toDouble() - sum) < 1e-4 * std::abs(sum), ran.out);
        }
        const Output best = run(m_dir.filePath("both"), {});
        QCOMPARE(QString::fromUtf8(best.out.split('\n')[0]), runtime::processorHas("avx512vl") ? kWide : kNarrow);
    }

    void whatAProcessorLacksIsSaidInOneSentence()
    {
        const Output refused = emulated("Haswell", "wide");
        QCOMPARE(refused.code, 1); // no illegal instruction
        QVERIFY2(refused.err.contains("this processor lacks") && refused.err.contains("avx512f")
                     && refused.err.contains(kWide.toUtf8()),
                 refused.err);
        QVERIFY2(!refused.err.contains("avx2,"), refused.err); // which it has
        const Output forced = emulated("Haswell", "both", {kWide});
        QCOMPARE(forced.code, 1);
        QVERIFY2(forced.err.contains("avx512bw"), forced.err);
        const Output old = emulated("qemu64", "both"); // neither
        QCOMPARE(old.code, 1);
        QVERIFY2(old.err.contains("avx2") && old.err.contains(kNarrow.toUtf8()), old.err);
        const Output unknown = emulated("Haswell", "both", {"cpu -mcpu=znver9"});
        QCOMPARE(unknown.code, 1);
        QVERIFY2(unknown.err.contains("no variant"), unknown.err);
    }

    void featuresThatAreSwitchedOffAreNotAskedFor()
    {
        const Output made = compile("off", {kWide + " -mattr=-avx512f,-prfchw"}, {"--no-verify", "--no-bench"});
        QVERIFY2(made.code == 0, made.err);
        QVERIFY(!features(object(made.out)["variants"][0], "avx512f"));
        QVERIFY(program("off")); // the emulator has no prfchw either
        QCOMPARE(emulated("max", "off").code, 0);
    }

    void weightsThatArePackedAlikeAreThereOnce()
    {
        const Output made = compile("alike", {kNarrow, QStringLiteral("cpu -mcpu=haswell -mattr=+sse4a")},
                                    {"--no-verify", "--no-bench"});
        QVERIFY2(made.code == 0, made.err);
        const QJsonObject report = object(made.out);
        const double together = report["weights_bytes"].toDouble();
        for (const QJsonValue& variant : report["variants"].toArray())
            QVERIFY(variant["weights_bytes"].toDouble() > 0.9 * together);
        QVERIFY(report["library_bytes"].toDouble() > together);
    }

    void everyVariantThatRunsHereIsVerifiedAndTheBestIsTimed()
    {
        if (!runtime::processorHas("avx2") || !runtime::processorHas("fma"))
            QSKIP("this machine's processor has no AVX2");
        const Output made = compile("checked", {kNarrow, kWide});
        QVERIFY2(made.code == 0, made.err);
        const QJsonObject report = object(made.out);
        const bool wide = runtime::processorHas("avx512vl");
        QCOMPARE(report["variant"].toString(), wide ? kWide : kNarrow);
        for (const QJsonValue& variant : report["variants"].toArray()) {
            const bool here = variant["runs_here"].toBool();
            QCOMPARE(here, wide || variant["target"].toString() == kNarrow);
            QCOMPARE(variant["max_rel_error"].toDouble(1) < 1e-4, here);
            QCOMPARE(variant["not_verified"].toString().isEmpty(), here);
        }
        const QString cli = QCoreApplication::applicationDirPath() + "/../bin/lathe-cli";
        const Output timed = run(cli, {"bench", "checked.so", "--repeat", "3", "--json"});
        QVERIFY2(timed.code == 0, timed.err);
        QCOMPARE(object(timed.out)["variant"].toString(), wide ? kWide : kNarrow);
        const Output verified = run(cli, {"verify", "checked.so"});
        QVERIFY2(verified.code == 0 && verified.out.contains("one of 2"), verified.out + verified.err);
    }

    void targetsThatDoNotGoTogetherAreRefused()
    {
        const Output twice = compile("x", {kNarrow, "cpu  -mcpu=haswell"});
        QVERIFY2(twice.code == 1 && twice.err.contains("given twice"), twice.err);
        const Output machines = compile("x", {kNarrow, "cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"},
                                        {"--no-verify", "--no-bench"});
        QVERIFY2(machines.code == 1 && !machines.err.isEmpty(), machines.err);
        const Output tasks = run(QCoreApplication::applicationDirPath() + "/../bin/lathe-cli",
                                 {"tasks", "zoo:mlp", "--target", kNarrow, "--target", kWide});
        QVERIFY2(tasks.code == 1 && tasks.err.contains("only compile"), tasks.err);
        QVERIFY(!QFile::exists(m_dir.filePath("x.so")));
    }
};

LATHE_TEST_GUILESS(TestVariants)

} // namespace tst_variants

#include "tst_variants.moc"
