#include "core/support/message.h"
#include "core/support/packages.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QXmlStreamReader>
#include <QtTest>

#include <set>

using namespace lathe;

namespace {

/// Errors made in core and plugins with a text alone. What a person meets in the window has an id; the rest is shown in
/// English until it has one too. The number may only fall: give a new error an id in message_table.inc (or, where no
/// person ever meets it, take another one's place).
constexpr int kWithoutId = 222;

QMap<QString, QString> chinesePatterns()
{
    QFile file(QStringLiteral(LATHE_SOURCE_DIR "/resources/translations/lathe_zh_CN.ts"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QMap<QString, QString> patterns;
    QXmlStreamReader xml(&file);
    QString context, source;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (xml.name() == QLatin1String("name"))
            context = xml.readElementText();
        else if (xml.name() == QLatin1String("source"))
            source = xml.readElementText();
        else if (xml.name() == QLatin1String("translation") && context == QLatin1String("Core"))
            patterns[source] = xml.attributes().hasAttribute(QStringLiteral("type")) ? QString()
                                                                                     : xml.readElementText();
    }
    return patterns;
}

std::set<std::string_view> shownNames(std::string_view pattern)
{
    std::set<std::string_view> names;
    for (std::size_t at = pattern.find('{'); at != std::string_view::npos; at = pattern.find('{', at + 1)) {
        const std::string_view inside = pattern.substr(at + 1, pattern.find('}', at) - at - 1);
        if (!inside.ends_with(":-"))
            names.insert(inside.substr(0, inside.find(':')));
    }
    return names;
}

/// The arguments of each makeError() in the tree's sources, as they are written.
QStringList errorSites(const QString& folder)
{
    QStringList sites;
    QDirIterator it(QStringLiteral(LATHE_SOURCE_DIR "/") + folder, {"*.h", "*.cpp"}, QDir::Files,
                    QDirIterator::Subdirectories);
    static const QRegularExpression call(QStringLiteral("\\bmakeError\\("));
    while (it.hasNext()) {
        QFile file(it.next());
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const QString text = QString::fromUtf8(file.readAll());
        for (auto match = call.globalMatch(text); match.hasNext();) {
            const qsizetype begin = match.next().capturedEnd();
            int depth = 1;
            bool quoted = false;
            qsizetype end = begin;
            for (; end < text.size() && depth > 0; ++end) {
                if (quoted)
                    end += text[end] == '\\' ? 1 : 0;
                else
                    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
                if (text[end] == '"')
                    quoted = !quoted;
            }
            sites << file.fileName().mid(qstrlen(LATHE_SOURCE_DIR) + 1) + ": "
                         + text.mid(begin, end - begin - 1).simplified();
        }
    }
    return sites;
}

} // namespace

class TestMessage : public QObject
{
    Q_OBJECT

private slots:
    void aMessageSaysItsPattern()
    {
        QCOMPARE(textOf(say(Msg::RunTookLong, 10.0, phrase("timing the kernel"))),
                 std::string("the run took longer than 10 s while timing the kernel"));
        QCOMPARE(
            textOf(say(Msg::NeededByNodes, say(Msg::NeedsOperator, "Foo"), std::vector<std::string>{"\"a\"", "\"b\""})),
            std::string("operator Foo (nodes \"a\", \"b\")"));
        // What is for programs alone is not shown.
        const Message tile = say(Msg::TileOverRegisters, 20, 2, 16, "vector_registers");
        QCOMPARE(textOf(tile), std::string("a tile of 20 accumulators and 2 operands does not fit into 16 registers"));
        QCOMPARE(tile.text("limit"), std::string("vector_registers"));
    }

    void oneIsToldFromOtherNumbers()
    {
        QCOMPARE(textOf(say(Msg::FoundFewThreads, 1, 2)),
                 std::string("the target uses 1 thread, and this machine has 2 processors"));
        QCOMPARE(latencyDigits(0.0123456), std::string("0.0123"));
        QCOMPARE(latencyDigits(12345.6789), std::string("12345.679")); // never 1.235e+04
        const std::string above = textOf(say(Msg::FoundAboveSum, 12345.6789, 25.0, 0.0123456));
        QVERIFY2(above.find("12345.679 ms") != std::string::npos && above.find("0.0123 ms") != std::string::npos,
                 above.c_str());
        QCOMPARE(textOf(say(Msg::ImportStopped, 0)), std::string("the import was stopped; 0 records imported so far"));
        QCOMPARE(textOf(say(Msg::FoundHeat, 1.0)),
                 std::string("processors were throttled 1 time because of heat during the measurement"));
        // Where the number is a text, as of a range.
        QCOMPARE(textOf(say(Msg::NodeInputCount, "n", "1", 0)), std::string("n: takes 1 input, but has 0"));
        QCOMPARE(textOf(say(Msg::NodeInputCount, "n", "1 to 3", 0)), std::string("n: takes 1 to 3 inputs, but has 0"));
        const auto chinese = [](std::string_view) -> std::string { return "{count} 条"; };
        QCOMPARE(textOf(say(Msg::ImportStopped, 1), chinese), std::string("1 条"));
    }

    void anErrorCarriesWhatItIsAbout()
    {
        Error error = makeError(Errc::RunTimeout, say(Msg::RunTookLong, 2.5, "x"));
        QCOMPARE(error.message, std::string("the run took longer than 2.5 s while x"));
        error = Error(error).note("device 2").note(say(Msg::NodeAt, "conv1", "Conv"));
        QCOMPARE(error.message, std::string("node \"conv1\" (Conv): device 2: the run took longer than 2.5 s while x"));
        QVERIFY(error.about);
        QCOMPARE(error.about->number("seconds"), 2.5);
        QCOMPARE(error.about->text("nodes"), std::string("conv1"));
        QCOMPARE(textOf(*error.about), error.message);
        QVERIFY(std::isnan(error.about->number("limit")));
        QVERIFY(error.about->text("limit").empty());
        // A text without an id takes a note that has one, and the other way round.
        const Error plain = makeError(Errc::BadFile, std::string("no JSON at all")).note(say(Msg::NodeAt, "a", "B"));
        QCOMPARE(plain.message, std::string("node \"a\" (B): no JSON at all"));
        QCOMPARE(textOf(*plain.about), plain.message);
        QVERIFY(!makeError(Errc::BadFile, std::string("x")).note("y").about);
    }

    void anotherLanguageIsSpokenThroughout()
    {
        const auto shout = [](std::string_view english) -> std::string {
            if (english == "{outer}: {inner}")
                return "{inner} <- {outer}";
            if (english == "the run took longer than {seconds:g} s while {what}")
                return "{what} > {seconds:.1f}";
            return english == "timing the kernel" ? "TIMING" : std::string(english);
        };
        QCOMPARE(textOf(say(Msg::Noted, "outside", say(Msg::RunTookLong, 10, phrase("timing the kernel"))), shout),
                 std::string("TIMING > 10.0 <- outside"));
    }

    void jsonBringsAMessageBack()
    {
        const Message message = say(
            Msg::Noted, say(Msg::NodeAt, "n", "\xff broken"),
            say(Msg::ModelNeeds, std::vector<Message>{say(Msg::NeededByMoreNodes, say(Msg::NeedsOperator, "Foo"),
                                                          std::vector<std::string>{"\"a\""}, 7)}));
        const std::string json = toJsonText(about(message));
        const About back = aboutFromJsonText(json);
        QVERIFY2(back, json.c_str());
        QCOMPARE(toJsonText(back), json);
        QCOMPARE(back->number("more"), 7.0);
        QVERIFY(textOf(*back).find("uses unsupported features: operator Foo (nodes \"a\" and 7 more)")
                != std::string::npos);
        QCOMPARE(aboutFromJsonText(toJsonText(about(say(Msg::RunTookLong, 0.25, "x"))))->number("seconds"), 0.25);
    }

    void whatIsNotKnownIsLeftToTheText_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no JSON") << QByteArray("{\"id\":");
        QTest::newRow("another value") << QByteArray("[1, 2]");
        QTest::newRow("an id of a newer version") << QByteArray(R"({"id": "WarpsMelted", "with": {}})");
        QTest::newRow("an argument is absent") << QByteArray(R"({"id": "RunTookLong", "with": {"seconds": 10}})");
        QTest::newRow("an argument of another kind")
            << QByteArray(R"({"id": "RunTookLong", "with": {"seconds": {}, "what": "x"}})");
        QByteArray deep = R"({"id": "FileEmpty", "with": {}})";
        for (int i = 0; i < 100; ++i)
            deep = R"({"id": "Noted", "with": {"outer": "x", "inner": [)" + deep + "]}}";
        QTest::newRow("deeper than anything that is said") << deep;
    }
    void whatIsNotKnownIsLeftToTheText()
    {
        QFETCH(QByteArray, json);
        QVERIFY(!aboutFromJsonText(json.toStdString()));
    }

    void aSystemsWordsNameThePackage()
    {
        QCOMPARE(packageIn("libnvrtc.so.12: cannot open shared object file"), std::string("nvidia-cuda-toolkit"));
        QCOMPARE(packageIn("/usr/bin/ld.lld-19: No such file or directory"), std::string("lld-19"));
        QVERIFY(packageIn("libnvrtc.so.12 is of version 12").empty());
        QCOMPARE(notLoaded("x.so", "libOpenCL.so.1: cannot open shared object file").text("package"),
                 std::string("ocl-icd-libopencl1"));
    }

    void everyMessageHasItsNamesOnceAndAChinesePattern()
    {
        const QMap<QString, QString> chinese = chinesePatterns();
        QSet<QString> used, ids;
        QStringList wrong;
        for (std::size_t i = 0; i < messageCount(); ++i) {
            const auto id = static_cast<Msg>(i);
            const std::string english(englishOf(id)), name(nameOf(id));
            QVERIFY2(!english.empty() && english.back() != '.', name.c_str());
            const auto names = namesIn(english);
            if (std::set<std::string_view>(names.begin(), names.end()).size() != names.size())
                wrong << QString::fromStdString(name + ": a name stands twice in " + english);
            ids.insert(QString::fromStdString(name));
            const QString source = QString::fromStdString(english);
            used.insert(source);
            const std::string translation = chinese.value(source).toStdString();
            if (translation.empty())
                wrong << QString::fromStdString(name + " has no Chinese pattern");
            else if (shownNames(translation) != shownNames(english))
                wrong << QString::fromStdString(name + ": the Chinese pattern has other names: " + translation);
        }
        for (auto pattern = chinese.keyBegin(); pattern != chinese.keyEnd(); ++pattern)
            if (!used.contains(*pattern))
                wrong << "a Chinese pattern of no message: " + *pattern;
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join('\n')));
        QCOMPARE(ids.size(), static_cast<qsizetype>(messageCount()));
    }

    void errorsWithoutAnIdOnlyBecomeFewer()
    {
        QStringList without;
        int all = 0;
        for (const char* folder : {"core", "plugins"})
            for (const QString& site : errorSites(QString::fromLatin1(folder))) {
                ++all;
                const bool quoted = site.contains('"') && !site.contains("say(Msg::");
                if (quoted)
                    without << site;
            }
        QVERIFY2(all > 500, "the walk must find the tree");
        if (without.size() != kWithoutId) {
            for (const QString& site : without)
                qInfo("%s", qPrintable(site));
            QFAIL(qPrintable(QStringLiteral("%1 errors have a text without an id, not %2: %3")
                                 .arg(without.size())
                                 .arg(kWithoutId)
                                 .arg(without.size() > kWithoutId
                                          ? "give the new ones an id in core/support/message_table.inc"
                                          : "write the smaller number into this test")));
        }
    }
};

LATHE_TEST(TestMessage)
#include "tst_message.moc"
