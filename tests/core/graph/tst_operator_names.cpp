#include "core/graph/operator.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

namespace tst_operator_names {

using namespace lathe;

/// Operators describe themselves: outside of their registry nobody asks for one by name. The reference's rules, and the
/// tables of importers, exporters and the zoo, speak other people's languages and are apart.
class TestOperatorNames : public QObject
{
    Q_OBJECT

    static bool isApart(const QString& file)
    {
        return file.startsWith("core/graph/operators/") || file.startsWith("core/graph/reference_rules.")
               || file.startsWith("core/frontend/");
    }

    /// Names that functions in expressions, combiners or words of an option have as well.
    static bool isCommon(const QString& name)
    {
        static const QStringList common = {"abs",   "acos", "acosh", "argmax", "argmin", "asin",  "asinh", "atan",
                                           "atanh", "ceil", "cos",   "cosh",   "erf",    "exp",   "floor", "log",
                                           "max",   "min",  "mod",   "pow",    "prod",   "round", "rsqrt", "sigmoid",
                                           "sign",  "sin",  "sinh",  "sqrt",   "sum",    "tan",   "tanh"};
        return common.contains(name);
    }

    /// What compares an operator's name: "file:line: text".
    static QStringList comparisonsIn(const QString& file, const QString& text)
    {
        QStringList names, telling;
        for (const graph::OpDef* entry : graph::allOperators()) {
            names << QString::fromUtf8(entry->name.data(), static_cast<qsizetype>(entry->name.size()));
            if (!isCommon(names.back()))
                telling << names.back();
        }
        const QString any = "\"(?:" + names.join('|') + ")\"";
        const QString one = "\"(?:" + telling.join('|') + ")\"";
        const QRegularExpression compared(
            "(?:[=!]=\\s*" + one + ")|(?:" + one
            + "\\s*[=!]=)|(?:\\bop\\b\\.(?:starts|ends)_with\\()|(?:\\bop\\s*[=!]=\\s*\")");
        const QRegularExpression listed("\\{\\s*" + any + "\\s*(?:,\\s*" + any + "\\s*)+,?\\s*\\}");
        QStringList found;
        for (const QRegularExpression* pattern : {&compared, &listed}) {
            auto match = pattern->globalMatch(text);
            while (match.hasNext()) {
                const auto m = match.next();
                if (pattern == &listed && !m.captured().contains(QRegularExpression(one)))
                    continue; // combiners
                found << QStringLiteral("%1:%2: %3")
                             .arg(file)
                             .arg(text.left(m.capturedStart()).count('\n') + 1)
                             .arg(m.captured());
            }
        }
        return found;
    }

private slots:
    void nobodyComparesThem()
    {
        const QDir root(QStringLiteral(LATHE_SOURCE_DIR));
        QStringList found;
        int files = 0;
        for (const char* top : {"app", "core", "plugins", "ui"}) {
            QDirIterator it(root.filePath(QString::fromLatin1(top)), {"*.h", "*.cpp"}, QDir::Files,
                            QDirIterator::Subdirectories);
            while (it.hasNext()) {
                QFile file(it.next());
                const QString name = root.relativeFilePath(file.fileName());
                if (isApart(name))
                    continue;
                QVERIFY(file.open(QIODevice::ReadOnly));
                found << comparisonsIn(name, QString::fromUtf8(file.readAll()));
                ++files;
            }
        }
        QVERIFY2(files > 300, "the walk must find the tree");
        QVERIFY2(found.isEmpty(), qPrintable("\n" + found.join('\n')));
    }

    void theTestKnowsAComparisonWhenItSeesOne()
    {
        for (const char* text :
             {"node.op == \"conv2d\"", "if (\"relu\" != op)", "node.op.starts_with(\"arg\")",
              "isOneOf(op, {\"mean\", \"sum\"})", "constexpr std::array kOps = {\"add\",\n \"pow\"};",
              "node.op == \"not_yet_an_operator\""})
            QCOMPARE(comparisonsIn("x.cpp", QString::fromUtf8(text)).size(), 1);
        for (const char* text :
             {"append(g, name, \"reshape\", {x})", "node.op = \"add\";", "a.op == b.op", "{\"mean\", 1}"})
            QVERIFY(comparisonsIn("x.cpp", QString::fromUtf8(text)).isEmpty());
    }
};

LATHE_TEST(TestOperatorNames)

} // namespace tst_operator_names

#include "tst_operator_names.moc"
