#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

/// Nothing above plugins/ asks for a kind of target, or its family, by name: BackendTraits say what it is like. Apart
/// from where kinds are described, and from what follows the reference compiler's own families.
class TestKindsStayBelow : public QObject
{
    Q_OBJECT

    static bool mayName(const QString& file)
    {
        // Templates and their logs are the reference's, with its families. In the last two "cpu" is a word of Linux, whose control groups and files of state have that name.
        static const QStringList allowed = {"core/target/", "core/graph/reference_rules.cpp", "core/search/reference/",
                                            "core/templates/",
                                            "core/runtime/processors.cpp", "core/measure/machine_state.cpp"};
        return std::any_of(allowed.begin(), allowed.end(),
                           [&file](const QString& place) { return file.startsWith(place); });
    }
    /// Lines of code that hold a text which is a target, "cpu" or "sim -like=cuda", or a family.
    static QStringList namesIn(const QString& text)
    {
        static const QRegularExpression comment(QStringLiteral("//.*$|/\\*.*\\*/"));
        static const QRegularExpression name(
            QStringLiteral("(?<!\\\\)\"(cpu|cuda|opencl|vta|sim|llvm|gpu|mali)(\"| -)"));
        QStringList found;
        const QStringList lines = text.split('\n');
        for (qsizetype i = 0; i < lines.size(); ++i) {
            QString code = lines[i];
            if (code.remove(comment).contains(name))
                found << QStringLiteral("%1: %2").arg(i + 1).arg(lines[i].trimmed());
        }
        return found;
    }

private slots:
    void namesAreFound()
    {
        QCOMPARE(namesIn("if (target.kind() == \"cpu\")\n// \"sim\"\nx(\"sim -like=cuda\"); y(\"simple\");").size(),
                 qsizetype{2});
    }

    void onlyDescriptionsNameKinds()
    {
        const QDir root(LATHE_SOURCE_DIR);
        QStringList wrong;
        int files = 0;
        for (const char* top : {"app", "core", "ui"}) {
            QDirIterator it(root.filePath(QString::fromLatin1(top)), {"*.h", "*.cpp"}, QDir::Files,
                            QDirIterator::Subdirectories);
            while (it.hasNext()) {
                QFile file(it.next());
                QVERIFY(file.open(QIODevice::ReadOnly));
                const QString name = root.relativeFilePath(file.fileName());
                ++files;
                if (!mayName(name))
                    for (const QString& line : namesIn(QString::fromUtf8(file.readAll())))
                        wrong << name + ':' + line;
            }
        }
        QVERIFY2(files > 300, "the walk must find the tree");
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join('\n')));
    }
};

LATHE_TEST(TestKindsStayBelow)
#include "tst_kinds_stay_below.moc"
