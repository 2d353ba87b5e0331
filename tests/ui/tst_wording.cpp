#include "core/session/options/option_table.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QRegularExpression>
#include <QXmlStreamReader>
#include <QtTest>

namespace tst_wording {

/// A text that people see, and where it stands.
struct Text
{
    QString where, english;
    bool numerus = false; ///< has forms for one and for more
    QStringList forms; ///< the translation's
};

/// The messages of a file of translations: their sources are all texts of the window and of core.
QVector<Text> messagesOf(const QString& file)
{
    QFile ts(QStringLiteral(LATHE_SOURCE_DIR "/resources/translations/") + file);
    QVector<Text> texts;
    if (!ts.open(QIODevice::ReadOnly))
        return texts;
    QXmlStreamReader xml(&ts);
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (xml.name() == QLatin1String("name"))
            context = xml.readElementText();
        else if (xml.name() == QLatin1String("message"))
            texts << Text{context, {}, xml.attributes().hasAttribute(QStringLiteral("numerus")), {}};
        else if (xml.name() == QLatin1String("source"))
            texts.back().english = xml.readElementText();
        else if (xml.name() == QLatin1String("numerusform"))
            texts.back().forms << xml.readElementText();
    }
    return texts;
}

/// How texts read that people see: what a machine can tell of it.
class TestWording : public QObject
{
    Q_OBJECT

    QVector<Text> m_texts; ///< of the window, core, the option tables' help, the manual and the README

    template<typename Options>
    void takeHelp(const Options& options)
    {
        for (const lathe::session::SetOption& option : lathe::session::valuesOf(options))
            m_texts << Text{
                QStringLiteral("options"), QString::fromStdString(lathe::session::helpText(option)), false, {}};
    }

private slots:
    void initTestCase()
    {
        m_texts = messagesOf(QStringLiteral("lathe_zh_CN.ts"));
        QVERIFY2(m_texts.size() > 1500, "the texts must be found");
        takeHelp(lathe::session::TuneOptions());
        takeHelp(lathe::session::CompileOptions());
        takeHelp(lathe::session::ModelSpec());
        takeHelp(lathe::session::OpenOptions());
        for (const char* name : {"resources/manual/en.md", "README.md"}) {
            QFile file(QStringLiteral(LATHE_SOURCE_DIR "/") + QLatin1String(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            for (const QString& line : QString::fromUtf8(file.readAll()).split('\n'))
                if (!line.startsWith(QStringLiteral("    ")) && !line.startsWith(QStringLiteral("lathe-cli")))
                    m_texts << Text{QLatin1String(name), line, false, {}};
        }
    }

    void textsAvoid_data()
    {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QString>("allowed"); // before or in it
        QTest::newRow("'is no' for 'is not a'") << R"(\b(is|are|was|were) no (?!longer|more\b|valid))"
                                                << R"(\b[Tt]here (is|are|was|were) no )";
        QTest::newRow("two spaces") << R"([a-z]  +[a-z])"
                                    << "";
        QTest::newRow("a per cent sign without a space") << R"((\}|%L?\d|\d)%(?!\d|L|n|,))"
                                                         << "";
        QTest::newRow("'that one', 'such a'")
            << R"(\b(that one|such an?)\b(?! \w+ (computes|device|function|model|plugin)))"
            << R"(such a (device|function|model|plugin)|that one candidate)";
        QTest::newRow("'goes on'") << R"(\b(run|replay|search) goes on\b)"
                                   << "";
        QTest::newRow("three dots for an ellipsis") << R"(\w \.\.\.$|\w …$)"
                                                    << R"(^ +…)";
    }
    void textsAvoid()
    {
        QFETCH(QString, pattern);
        QFETCH(QString, allowed);
        const QRegularExpression bad(pattern), good(allowed);
        QStringList wrong;
        for (const Text& text : m_texts)
            if (bad.match(text.english).hasMatch() && (allowed.isEmpty() || !good.match(text.english).hasMatch()))
                wrong << text.where + ": " + text.english;
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join('\n')));
    }

    /// "1 tasks" is read by somebody some day: a number before a plural has a form for one, in core's table
    /// ("{tasks:task|tasks}") and in the window (%n).
    void numbersHaveAFormForOne()
    {
        // Always more than one there, or a choice that the code makes.
        const QSet<QString> kept = {
            "%1 tasks",
            "%1 trials",
            "%1 records",
            "%1 trials failed.",
            "Export %1 trials",
            "Measuring %1 trials again…",
            "Importing %1 tuning logs…",
            "%1 causes: select one to see its message and what helps.",
            "tensor '{tensor}' has {count} dimensions; at most {most} are supported",
            "From %1 to %2: %3, %4, through %5 nodes",
            "a block has at most {most} threads",
        };
        const QRegularExpression counted(
            R"((\{[a-z]+\}|%L?\d) (tasks|trials|functions|records|threads|processors|pairs|candidates|rounds|causes|conditions|lines|nodes|dimensions|entries)\b(?! (threads|causes)))");
        QStringList wrong;
        for (const Text& text : m_texts)
            if (!text.numerus && !kept.contains(text.english) && counted.match(text.english).hasMatch()
                && !QRegularExpression(R"((of|from|exceed|in) (\{[a-z]+\}|%L?\d) )").match(text.english).hasMatch())
                wrong << text.where + ": " + text.english;
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join("\n")));
    }

    /// English has two forms of each, and no message that the window does not have.
    void englishHasThePlurals()
    {
        const auto named = [](const QVector<Text>& texts) {
            QMap<QString, QStringList> forms;
            for (const Text& text : texts)
                if (text.numerus)
                    forms[text.where + ": " + text.english] = text.forms;
            return forms;
        };
        const auto window = named(messagesOf(QStringLiteral("lathe_zh_CN.ts")));
        const auto english = named(messagesOf(QStringLiteral("lathe_en.ts")));
        QCOMPARE(english.keys(), window.keys());
        for (auto message = english.begin(); message != english.end(); ++message) {
            QCOMPARE(message.value().size(), 2);
            for (const QString& form : message.value())
                QVERIFY2(form.contains("%n") || form.contains("%Ln"), qPrintable(message.key()));
        }
    }
};

LATHE_TEST(TestWording)

} // namespace tst_wording

#include "tst_wording.moc"
