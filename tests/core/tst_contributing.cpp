#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

namespace tst_contributing {

/// What CONTRIBUTING.md quotes stands in the files that it names.
class TestContributing : public QObject
{
    Q_OBJECT

    const QDir m_top{QStringLiteral(LATHE_SOURCE_DIR)};

    QString text(const QString& file) const
    {
        QFile opened(m_top.filePath(file));
        return opened.open(QIODevice::ReadOnly) ? QString::fromUtf8(opened.readAll()) : QString();
    }

    struct Quote
    {
        QString file, code;
    };
    /// Fenced blocks whose first line names a file behind the language.
    QVector<Quote> quotes() const
    {
        static const QRegularExpression fence(QStringLiteral("^```cpp ([^\\n]*)\\n(.*?)^```$"),
                                              QRegularExpression::MultilineOption
                                                  | QRegularExpression::DotMatchesEverythingOption);
        QVector<Quote> found;
        for (auto match = fence.globalMatch(text(QStringLiteral("CONTRIBUTING.md"))); match.hasNext();) {
            const QRegularExpressionMatch block = match.next();
            found.push_back({block.captured(1), block.captured(2)});
        }
        return found;
    }

private slots:
    void quotesStandInTheirFiles()
    {
        QVERIFY(!quotes().isEmpty());
        for (const Quote& quote : quotes()) {
            const QString file = text(quote.file);
            QVERIFY2(!file.isEmpty(), qPrintable(quote.file + " is not there"));
            QVERIFY2(file.contains('\n' + quote.code), qPrintable(quote.file + " has no such lines:\n" + quote.code));
        }
    }

    void codeIsNeverShownWithoutItsFile()
    {
        QCOMPARE(text(QStringLiteral("CONTRIBUTING.md"))
                     .count(QRegularExpression(QStringLiteral("^```."), QRegularExpression::MultilineOption)),
                 quotes().size());
    }

    void everyExampleIsQuoted()
    {
        const QStringList examples =
            QDir(m_top.filePath(QStringLiteral("tests/examples"))).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
        QCOMPARE(examples, QStringList({"back_end", "event", "operator", "option", "page", "policy"}));
        const QVector<Quote> all = quotes();
        for (const QString& example : examples)
            QVERIFY2(std::any_of(all.begin(), all.end(),
                                 [&example](const Quote& quote) {
                                     return quote.file.startsWith("tests/examples/" + example + '/');
                                 }),
                     qPrintable(example));
    }

    void whatItNamesIsThere()
    {
        static const QRegularExpression path(
            QStringLiteral("`((?:app|core|packaging|plugins|resources|tests|ui)/[^`*\\s]*)`|\\]\\(([^)#]+)\\)"));
        static const QRegularExpression fenced(QStringLiteral("^```.*?^```$"),
                                               QRegularExpression::MultilineOption
                                                   | QRegularExpression::DotMatchesEverythingOption);
        int names = 0;
        for (auto match = path.globalMatch(text(QStringLiteral("CONTRIBUTING.md")).remove(fenced)); match.hasNext();
             ++names) {
            const QRegularExpressionMatch found = match.next();
            QString name = found.captured(1).isEmpty() ? found.captured(2) : found.captured(1);
            if (!m_top.exists(name))
                name += ".cpp"; // test classes go by their file's stem
            QVERIFY2(m_top.exists(name), qPrintable(name));
        }
        QVERIFY(names > 20);
    }
};

LATHE_TEST(TestContributing)

} // namespace tst_contributing

#include "tst_contributing.moc"
