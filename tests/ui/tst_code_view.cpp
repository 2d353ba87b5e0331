#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"
#include "ui/pages/listing_panel.h"
#include "ui/views/code_syntax.h"
#include "ui/views/code_view.h"

#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTextBlock>
#include <QToolButton>
#include <QtTest>

namespace tst_code_view {

using namespace lathe;
using lathe::test::find;
using ui::CodeView;
using ui::CodeWord;

namespace {

/// "mov:Keyword %rax:Register" of a line.
QString wordsOf(const char* language, const QString& line)
{
    bool inComment = false;
    QStringList words;
    static const char* const kNames[] = {"Plain",  "Keyword", "Type",      "Register", "Number",
                                         "String", "Comment", "Directive", "Label"};
    for (const auto& [kind, range] : ui::codeWords(ui::codeSyntax(QLatin1String(language)), line, inComment))
        words << line.mid(range.start, range.length) + QLatin1Char(':') + QLatin1String(kNames[static_cast<int>(kind)]);
    return words.join(QLatin1Char('|'));
}

/// Two nested loops: lines 1 to 3 are the outer one, 2 and 3 the inner one, 4 is a store beside them.
session::Listing listing()
{
    session::Listing made;
    made.name = "assembly";
    made.language = "x86";
    made.program = "kernel k\nphase 0\n  for i (0, 8)\n    for j (0, 4)\n      out[i] = x[j]\n  out[0] = 1\n";
    made.text = "f:\n.LBB0_1:\n\tmovl %eax, %ebx\n\tvmovups (%rsp), %ymm0 # 32-byte Reload\n\tjne .LBB0_1\n\tret\n";
    made.statements = {-1, -1, 3, 4, 2, 5};
    made.marks = {{session::LineMark::HotLoop, 1, 4}, {session::LineMark::Reload, 3, 3}};
    made.vectorRegisters = 7;
    made.vectorRegistersOf = 16;
    made.generalRegisters = 3;
    made.generalRegistersOf = 16;
    return made;
}

void clickLine(CodeView* view, int line)
{
    const QTextCursor cursor(view->document()->findBlockByNumber(line));
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->cursorRect(cursor).center() + QPoint(2, 0));
}

} // namespace

class TestCodeView : public QObject
{
    Q_OBJECT
private slots:
    void wordsAreToldApartByLanguage_data()
    {
        QTest::addColumn<QByteArray>("language");
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* language, const char* line, const char* words) {
            QTest::addRow("%s: %s", language, line) << QByteArray(language) << QString(line) << QString(words);
        };
        row("x86", "\tvaddps\t32(%rdi), %ymm1 # 4-byte Spill",
            "vaddps:Keyword|32:Number|%rdi:Register|%ymm1:Register|# 4-byte Spill:Comment");
        row("x86", ".LBB0_1:", ".LBB0_1:Label");
        row("x86", "\t.p2align\t4", ".p2align:Directive|4:Number");
        row("arm", "\tfmla\tv3.4s, v4.4s // 16-byte Folded Reload",
            "fmla:Keyword|v3.4s:Register|v4.4s:Register|// 16-byte Folded Reload:Comment");
        row("ir", "  %3 = load float, ptr %x, align 4",
            "%3:Register|load:Keyword|float:Type|ptr:Type|%x:Register|align:Keyword|4:Number");
        row("c", "__kernel void f(int n) { /* one */ x = \"a\"; // end",
            "__kernel:Keyword|void:Type|int:Type|/* one */:Comment|\"a\":String|// end:Comment");
        row("nest", "  parallel i (0, 8)", "parallel:Keyword|0:Number|8:Number");
        row("none", "for 1", "1:Number");
    }

    void wordsAreToldApartByLanguage()
    {
        QFETCH(QByteArray, language);
        QFETCH(QString, line);
        QFETCH(QString, words);
        QCOMPARE(wordsOf(language.constData(), line), words);
    }

    void commentsGoOverLines()
    {
        CodeView view;
        QString code = QStringLiteral("/* begins\n");
        for (int i = 0; i < 300; ++i)
            code += QStringLiteral("int x;\n");
        view.setCode(code + QStringLiteral("ends */ int y;"), QStringLiteral("c"));
        view.resize(300, 200);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum());
        view.grab();
        const auto formats = view.document()->findBlockByNumber(301).layout()->formats();
        QCOMPARE(formats.size(), 2);
        QCOMPARE(formats[0].length, 7); // "ends */"
        QCOMPARE(formats[1].length, 3); // "int"
    }

    void coloursCanBeReadInLightAndDark()
    {
        const auto luminance = [](const QColor& color) {
            const auto part = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
            return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
        };
        for (const char* base : {"#ffffff", "#1e1e1e"}) {
            QPalette palette;
            palette.setColor(QPalette::Base, QColor(QLatin1String(base)));
            const ui::CodeFormats formats = ui::codeFormats(palette);
            for (std::size_t kind = 1; kind < formats.size(); ++kind) {
                const double a = luminance(formats[kind].foreground().color()) + 0.05;
                const double b = luminance(QColor(QLatin1String(base))) + 0.05;
                QVERIFY2(std::max(a, b) / std::min(a, b) >= 4.5,
                         qPrintable(QStringLiteral("%1 on %2").arg(kind).arg(base)));
            }
        }
    }

    void ctrlFFindsForwardAndBackward()
    {
        CodeView view;
        view.setCode(QStringLiteral("one two\ntwo\nTWO three"), QStringLiteral("text"));
        view.resize(500, 300);
        view.show();
        view.activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.setFocus();
        QTest::keyClick(&view, Qt::Key_F, Qt::ControlModifier);
        auto* field = find<QLineEdit>(&view, "codeFind");
        QVERIFY(field->isVisible());
        QTest::keyClicks(field, "two");
        QCOMPARE(view.matches(), 3);
        auto* found = find<QLabel>(&view, "codeFound");
        QCOMPARE(found->text(), QStringLiteral("3 found"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(found->text(), QStringLiteral("1 of 3"));
        QCOMPARE(view.textCursor().selectedText(), QStringLiteral("two"));
        QTest::keyClick(field, Qt::Key_F3);
        QCOMPARE(view.currentLine(), 1);
        QTest::keyClick(field, Qt::Key_F3, Qt::ShiftModifier);
        QCOMPARE(view.currentLine(), 0);
        QTest::mouseClick(find<QToolButton>(&view, "codePrevious"), Qt::LeftButton); // around the beginning
        QCOMPARE(view.currentLine(), 2);
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(!field->isVisible());
        QCOMPARE(view.matches(), 0);
    }

    void linesAreNumbered()
    {
        CodeView view;
        view.setCode(QStringLiteral("a\nb"), QStringLiteral("text"));
        view.resize(300, 200);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const QImage image = find<QWidget>(&view, "codeNumbers")->grab().toImage();
        bool drawn = false;
        for (int y = 0; y < 20; ++y)
            for (int x = 0; x < image.width(); ++x)
                drawn = drawn || image.pixelColor(x, y) != image.pixelColor(image.width() - 1, image.height() - 1);
        QVERIFY(drawn);
    }

    void aHundredThousandLinesAreThereAtOnce()
    {
        QString code;
        for (int i = 0; i < 100000; ++i)
            code += QStringLiteral("\tvfmadd231ps\t%1(%rdi,%rax), %ymm1, %ymm2\n").arg(i);
        CodeView view;
        view.resize(600, 400);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QElapsedTimer timer;
        timer.start();
        view.setCode(code, QStringLiteral("x86"));
        view.grab();
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum());
        view.grab();
        QVERIFY(!view.document()->findBlockByNumber(99995).layout()->formats().isEmpty());
        QVERIFY(view.document()->findBlockByNumber(50000).layout()->formats().isEmpty()); // nobody has looked there
        QVERIFY2(timer.elapsed() < 5000,
                 qPrintable(QString::number(timer.elapsed()))); // half a second where it is quiet
    }

    void aLoopMarksTheInstructionsThatItBecame()
    {
        ui::ListingPanel panel({"assembly", "Assembly", "x86"});
        panel.resize(700, 700);
        panel.setListing(listing());
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        clickLine(panel.program(), 2); // the outer loop, and all in it
        QCOMPARE(panel.code()->marked(), (QSet<int>{2, 3, 4}));
        QCOMPARE(panel.program()->marked(), (QSet<int>{2, 3, 4}));
        clickLine(panel.program(), 4); // the store alone
        QCOMPARE(panel.code()->marked(), (QSet<int>{3}));
        clickLine(panel.code(), 4); // and the other way round
        QCOMPARE(panel.program()->marked(), (QSet<int>{2}));
        clickLine(panel.code(), 0); // a label came from nothing
        QVERIFY(panel.program()->marked().isEmpty());
        QTest::keyClick(panel.program(), Qt::Key_Down); // by the keyboard
        QVERIFY(!panel.program()->marked().isEmpty());
    }

    void registersSpillsAndTheHotLoopAreTold()
    {
        ui::ListingPanel panel({"assembly", "Assembly", "x86"});
        panel.resize(700, 700);
        panel.setListing(listing());
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        const QString facts = find<QLabel>(&panel, "listingFacts")->text();
        for (const char* part : {"Vector registers: 7 of 16", "General registers: 3 of 16", "Spills: 0, reloads: 1",
                                 "Hot loop: lines 2 to 5, 1 of these in it"})
            QVERIFY2(facts.contains(QLatin1String(part)), qPrintable(facts));
        QVERIFY(find<QToolButton>(&panel, "listingHot")->isVisible());
        auto* larger = find<QToolButton>(&panel, "listingLarger");
        QVERIFY(larger->isEnabled());
        QTest::mouseClick(larger, Qt::LeftButton);
        QPointer<ui::ListingPanel> window = panel.findChild<ui::ListingPanel*>(QStringLiteral("listingWindow"));
        QVERIFY(window != nullptr && window->isWindow() && window->isVisible());
        QCOMPARE(window->code()->toPlainText(), panel.code()->toPlainText());
        QVERIFY(!find<QToolButton>(window, "listingLarger")->isVisible());
        window->close();
        QTRY_VERIFY(window.isNull());
        panel.setMessage(QStringLiteral("Compiling…"));
        QVERIFY(!larger->isEnabled());
        QVERIFY(!find<QToolButton>(&panel, "listingHot")->isVisible());
        QVERIFY(!panel.program()->isVisible());
    }
};

LATHE_TEST_GUI(TestCodeView)

} // namespace tst_code_view

#include "tst_code_view.moc"
