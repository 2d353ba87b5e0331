#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

namespace tst_ui_rules {

/// What ui/README.md asks of the window's sources, and no compiler sees.
class TestUiRules : public QObject
{
    Q_OBJECT

    struct Source
    {
        QString name; ///< relative to the root
        QString text; ///< as it is
        QStringList code; ///< its lines without comments
    };
    QVector<Source> m_sources;

    /// Fails with every line of these sources that the expression is found in.
    template<typename Wanted>
    void refuse(const QRegularExpression& what, Wanted wanted)
    {
        QVERIFY2(what.isValid(), qPrintable(what.errorString()));
        QStringList wrong;
        int looked = 0;
        for (const Source& source : m_sources) {
            if (!wanted(source.name))
                continue;
            ++looked;
            for (qsizetype i = 0; i < source.code.size(); ++i)
                if (what.match(source.code[i]).hasMatch())
                    wrong << QStringLiteral("%1:%2: %3").arg(source.name).arg(i + 1).arg(source.code[i].trimmed());
        }
        QVERIFY(looked > 0);
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join('\n')));
    }
    static bool isOfShell(const QString& name)
    {
        return name.startsWith("ui/shell/") && !name.startsWith("ui/shell/page_registry");
    }
    QString registry() const
    {
        for (const Source& source : m_sources)
            if (source.name == "ui/shell/page_registry.cpp")
                return source.text;
        return {};
    }

private slots:
    void initTestCase()
    {
        const QDir root(LATHE_SOURCE_DIR);
        static const QRegularExpression comment(QStringLiteral("(^|\\s)//.*"));
        for (const char* top : {"ui", "app/workbench"}) {
            QDirIterator it(root.filePath(QString::fromLatin1(top)), {"*.h", "*.cpp"}, QDir::Files,
                            QDirIterator::Subdirectories);
            while (it.hasNext()) {
                QFile file(it.next());
                QVERIFY(file.open(QIODevice::ReadOnly));
                Source source{root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()), {}};
                for (QString line : source.text.split('\n'))
                    source.code << line.remove(comment);
                m_sources << source;
            }
        }
        QVERIFY2(m_sources.size() > 100, "the walk must find the tree");
    }

    /// What blocks is a job (ui/bridge/jobs.h).
    void threadsAreStartedBehindTheBridgeAlone()
    {
        const QString ofStd = R"(std::j?thread\b|std::async\b|pthread_create)";
        const QString ofQt =
            R"(QThreadPool|QRunnable|QtConcurrent|\bQThread\b(?!>|::(idealThreadCount|currentThread)))";
        refuse(QRegularExpression(ofStd + '|' + ofQt),
               [](const QString& name) { return !name.startsWith("ui/bridge/"); });
    }

    void theShellIncludesNoPageOfTheTable()
    {
        QStringList pages;
        static const QRegularExpression include(QStringLiteral("#include \"(ui/pages/(\\w+)\\.h)\""));
        for (auto match = include.globalMatch(registry()); match.hasNext();)
            if (const QString page = match.next().captured(1); page != "ui/pages/page.h")
                pages << QRegularExpression::escape(page);
        QVERIFY2(pages.size() >= 12, "the table must be found");
        refuse(QRegularExpression("#include \"(" + pages.join('|') + ")\""), isOfShell);
    }

    void theShellAsksNoPageByItsId()
    {
        QStringList ids;
        static const QRegularExpression entry(QStringLiteral("\\{\"(\\w+)\", QT_TRANSLATE_NOOP\\(\"Pages\""));
        for (auto match = entry.globalMatch(registry()); match.hasNext();)
            ids << match.next().captured(1);
        QVERIFY2(ids.size() >= 12, "the table must be found");
        refuse(QRegularExpression("\"((page|dock)\\.)?(" + ids.join('|') + ")(Dock|Page)?\""), isOfShell);
    }

    void theShellCastsNoPage()
    {
        const QString casts = R"((static|dynamic|qobject|reinterpret)_cast<[^<>]*Page\b)";
        const QString searches = R"(findChild(ren)?<[^<>]*Page\b|inherits\(|metaObject\(\))";
        refuse(QRegularExpression(casts + '|' + searches), isOfShell);
    }

    /// One table of distances (ui/views/spacing.h), so that all pages stand on one grid.
    void distancesComeFromTheTable()
    {
        refuse(QRegularExpression(R"((setContentsMargins|set(Horizontal|Vertical)?Spacing|addSpacing)\([^)]*\b\d)"),
               [](const QString&) { return true; });
    }

    /// A function that does not fit on a screen and a half is two.
    void functionsHaveAtMostAHundredLines()
    {
        constexpr int kMost = 100;
        QStringList wrong;
        int functions = 0;
        for (const Source& source : m_sources) {
            qsizetype begin = -1;
            for (qsizetype i = 0; i < source.code.size(); ++i) {
                const QString line = source.code[i].trimmed().isEmpty() ? QString() : source.code[i];
                if (line == "{") {
                    begin = i;
                } else if (begin >= 0 && line.startsWith('}')) {
                    if (!line.startsWith("};")) { // a class
                        ++functions;
                        if (i - begin - 1 > kMost)
                            wrong << QStringLiteral("%1:%2: %3 lines: %4")
                                         .arg(source.name)
                                         .arg(begin + 1)
                                         .arg(i - begin - 1)
                                         .arg(source.code[begin - 1].trimmed());
                    }
                    begin = -1;
                }
            }
        }
        QVERIFY2(functions > 800, qPrintable(QString::number(functions)));
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join('\n')));
    }
};

LATHE_TEST(TestUiRules)

} // namespace tst_ui_rules

#include "tst_ui_rules.moc"
