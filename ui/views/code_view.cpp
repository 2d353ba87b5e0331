#include "ui/views/code_view.h"

#include "ui/models/language.h"
#include "ui/views/graph_looks.h"
#include "ui/views/spacing.h"

#include <QContextMenuEvent>
#include <QFileDialog>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QSaveFile>
#include <QScrollBar>
#include <QTextBlock>
#include <QToolButton>
#include <QToolTip>

#include <algorithm>

namespace lathe::ui {

namespace {
constexpr int kSideWidth = 4;
constexpr int kMostMatches = 100000;
} // namespace

CodeView::CodeView(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setLineWrapMode(NoWrap);
    setTabChangesFocus(true);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setTabStopDistance(fontMetrics().horizontalAdvance(QLatin1Char(' ')) * 8);
    m_numbers = new QWidget(this);
    m_numbers->setObjectName(QStringLiteral("codeNumbers"));
    m_numbers->installEventFilter(this);
    makeFindBar();
    m_formats = codeFormats(palette());
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& part, int scrolled) {
        if (scrolled != 0)
            m_numbers->scroll(0, scrolled);
        else
            m_numbers->update(0, part.y(), m_numbers->width(), part.height());
    });
    connect(this, &QPlainTextEdit::blockCountChanged, this, &CodeView::placeChildren);
    retranslated(this, [this] { retranslate(); });
    placeChildren();
}

void CodeView::makeFindBar()
{
    m_findBar = new QWidget(this);
    m_findBar->setAutoFillBackground(true);
    m_find = new QLineEdit(m_findBar);
    m_find->setObjectName(QStringLiteral("codeFind"));
    m_find->setClearButtonEnabled(true);
    m_find->setMinimumWidth(120);
    m_find->installEventFilter(this);
    m_found = new QLabel(m_findBar);
    m_found->setObjectName(QStringLiteral("codeFound"));
    auto* layout = new QHBoxLayout(m_findBar);
    layout->setContentsMargins(spacing::kSmall, spacing::kHair, spacing::kSmall, spacing::kHair);
    layout->addWidget(m_find);
    layout->addWidget(m_found);
    const auto button = [this, layout](const char* name, const QString& text) {
        auto* made = new QToolButton(m_findBar);
        made->setObjectName(QLatin1String(name));
        made->setText(text);
        made->setAutoRaise(true);
        layout->addWidget(made);
        return made;
    };
    connect(button("codePrevious", QStringLiteral("↑")), &QToolButton::clicked, this, [this] { findNext(-1); });
    connect(button("codeNext", QStringLiteral("↓")), &QToolButton::clicked, this, [this] { findNext(1); });
    connect(button("codeFindClose", QStringLiteral("✕")), &QToolButton::clicked, this, &CodeView::endFind);
    connect(m_find, &QLineEdit::textChanged, this, &CodeView::find);
    m_findBar->hide();
}

void CodeView::retranslate()
{
    m_find->setPlaceholderText(tr("Find"));
    m_find->setAccessibleName(tr("Find in the code"));
    const std::pair<const char*, QString> names[] = {{"codePrevious", tr("Previous (Shift+F3)")},
                                                     {"codeNext", tr("Next (F3)")},
                                                     {"codeFindClose", tr("Close (Esc)")}};
    for (const auto& [name, text] : names) {
        auto* button = m_findBar->findChild<QToolButton*>(QLatin1String(name));
        button->setToolTip(text);
        button->setAccessibleName(text);
    }
    find(m_find->text());
}

void CodeView::setCode(const QString& text, const QString& language)
{
    m_language = language;
    m_sides.clear();
    m_marked.clear();
    setPlainText(text);
    recolour();
    find(m_find->text());
}

void CodeView::recolour()
{
    m_formats = codeFormats(palette());
    ++m_colours;
    m_inComment.clear();
    viewport()->update();
}

/// Only lines that are seen get colours: the document lays a line out anew for each.
void CodeView::colour(int first, int last)
{
    const CodeSyntax& syntax = codeSyntax(m_language);
    if (hasLongComments(syntax)) { // whether a line begins in one is known of all before it
        if (m_inComment.empty())
            m_inComment.push_back(false);
        for (int line = static_cast<int>(m_inComment.size()) - 1; line < last; ++line) {
            bool inComment = m_inComment.back();
            codeWords(syntax, document()->findBlockByNumber(line).text(), inComment);
            m_inComment.push_back(inComment);
        }
    }
    for (QTextBlock block = document()->findBlockByNumber(std::max(0, first));
         block.isValid() && block.blockNumber() <= last; block = block.next()) {
        if (block.userState() == m_colours)
            continue;
        const auto line = static_cast<std::size_t>(block.blockNumber());
        bool inComment = line < m_inComment.size() && m_inComment[line];
        QList<QTextLayout::FormatRange> ranges;
        for (auto& [kind, range] : codeWords(syntax, block.text(), inComment)) {
            range.format = m_formats[static_cast<std::size_t>(kind)];
            ranges.append(range);
        }
        block.layout()->setFormats(ranges);
        block.setUserState(m_colours);
    }
}

template<typename Each>
void CodeView::eachSeen(Each each) const
{
    QTextBlock block = firstVisibleBlock();
    double top = blockBoundingGeometry(block).translated(contentOffset()).top();
    while (block.isValid() && top <= viewport()->height()) {
        const double height = blockBoundingRect(block).height();
        each(block.blockNumber(), QRectF(0, top, viewport()->width(), height));
        top += height;
        block = block.next();
    }
}

void CodeView::paintEvent(QPaintEvent* event)
{
    int first = -1;
    int last = -1;
    {
        QPainter painter(viewport());
        const QColor base = palette().color(QPalette::Base);
        const QColor marked = mix(base, palette().color(QPalette::Highlight), 0.28);
        eachSeen([&](int line, const QRectF& rect) {
            first = first < 0 ? line : first;
            last = line;
            if (m_marked.contains(line))
                painter.fillRect(rect, marked);
            else if (line == currentLine())
                painter.fillRect(rect, mix(base, palette().color(QPalette::Text), 0.06));
        });
    }
    colour(first, last);
    QPlainTextEdit::paintEvent(event);
}

int CodeView::numberWidth() const
{
    return fontMetrics().horizontalAdvance(QString::number(std::max(99, blockCount()))) + 12 + kSideWidth;
}

void CodeView::placeChildren()
{
    setViewportMargins(numberWidth(), 0, 0, 0);
    const QRect inside = contentsRect();
    m_numbers->setGeometry(inside.left(), inside.top(), numberWidth(), inside.height());
    const QSize size = m_findBar->sizeHint().boundedTo(inside.size());
    const int bar = verticalScrollBar()->isVisible() ? verticalScrollBar()->width() : 0;
    m_findBar->setGeometry(inside.right() - size.width() - bar, inside.top(), size.width(), size.height());
}

void CodeView::resizeEvent(QResizeEvent* event)
{
    QPlainTextEdit::resizeEvent(event);
    placeChildren();
}

void CodeView::paintNumbers(QPaintEvent* event)
{
    QPainter painter(m_numbers);
    painter.fillRect(event->rect(), palette().color(QPalette::Window));
    painter.setFont(font());
    const int width = m_numbers->width();
    eachSeen([&](int line, const QRectF& rect) {
        painter.setPen(palette().color(line == currentLine() ? QPalette::Text : QPalette::PlaceholderText));
        painter.drawText(QRectF(0, rect.top(), width - kSideWidth - 4, rect.height()), Qt::AlignRight,
                         QString::number(line + 1));
        for (const Side& side : m_sides)
            if (side.first <= line && line <= side.last)
                painter.fillRect(QRectF(width - kSideWidth, rect.top(), kSideWidth, rect.height()), side.color);
    });
}

void CodeView::setSides(std::vector<Side> sides)
{
    m_sides = std::move(sides);
    m_numbers->update();
}

void CodeView::setMarked(const QSet<int>& lines, bool shows)
{
    m_marked = lines;
    viewport()->update();
    if (!shows || lines.isEmpty())
        return;
    bool seen = false;
    eachSeen([&](int line, const QRectF&) { seen = seen || m_marked.contains(line); });
    if (!seen)
        showLine(*std::min_element(lines.begin(), lines.end()));
}

void CodeView::showLine(int line)
{
    // A third of the view above it.
    const int above = viewport()->height() / std::max(1, fontMetrics().lineSpacing()) / 3;
    verticalScrollBar()->setValue(std::max(0, line - above));
}

int CodeView::lineAt(int y) const
{
    int found = -1;
    eachSeen([&](int line, const QRectF& rect) {
        if (rect.top() <= y && y < rect.bottom())
            found = line;
    });
    return found;
}

QString CodeView::hintAt(int y) const
{
    QStringList hints;
    const int line = lineAt(y);
    for (const Side& side : m_sides)
        if (side.first <= line && line <= side.last && !hints.contains(side.hint))
            hints << side.hint;
    return hints.join(QLatin1Char('\n'));
}

bool CodeView::event(QEvent* event)
{
    // Before the window's actions of the same keys.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool searching = m_findBar->isVisible() && (key->key() == Qt::Key_F3 || key->key() == Qt::Key_Escape);
        if (key->matches(QKeySequence::Find) || searching) {
            event->accept();
            return true;
        }
    }
    return QPlainTextEdit::event(event);
}

void CodeView::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Find)) {
        startFind();
    } else if (event->key() == Qt::Key_F3 && m_findBar->isVisible()) {
        findNext(event->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
    } else if (event->key() == Qt::Key_Escape && m_findBar->isVisible()) {
        endFind();
    } else {
        const int before = currentLine();
        QPlainTextEdit::keyPressEvent(event);
        if (currentLine() != before)
            emit lineChosen(currentLine());
    }
}

void CodeView::mouseReleaseEvent(QMouseEvent* event)
{
    QPlainTextEdit::mouseReleaseEvent(event);
    viewport()->update(); // the line that the cursor is on
    m_numbers->update();
    if (event->button() == Qt::LeftButton && !textCursor().hasSelection() && !document()->isEmpty())
        emit lineChosen(currentLine());
}

bool CodeView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_numbers && event->type() == QEvent::Paint) {
        paintNumbers(static_cast<QPaintEvent*>(event));
        return true;
    }
    if (watched == m_numbers && event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), hintAt(help->pos().y()), m_numbers);
        return true;
    }
    if (watched == m_find && (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride)) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool next = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter || key->key() == Qt::Key_F3;
        if (next || key->key() == Qt::Key_Escape) {
            event->accept();
            if (event->type() == QEvent::KeyPress && next)
                findNext(key->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
            else if (event->type() == QEvent::KeyPress)
                endFind();
            return true;
        }
    }
    return QPlainTextEdit::eventFilter(watched, event);
}

void CodeView::startFind()
{
    m_findBar->show();
    placeChildren();
    if (const QString chosen = textCursor().selectedText(); !chosen.isEmpty() && !chosen.contains(QChar(0x2029)))
        m_find->setText(chosen);
    m_find->setFocus(Qt::ShortcutFocusReason);
    m_find->selectAll();
    find(m_find->text());
}

void CodeView::endFind()
{
    m_findBar->hide();
    m_find->clear();
    setFocus();
}

void CodeView::find(const QString& text)
{
    m_matches.clear();
    m_match = -1;
    const QString code = text.isEmpty() ? QString() : toPlainText();
    for (qsizetype at = code.indexOf(text, 0, Qt::CaseInsensitive);
         at >= 0 && !text.isEmpty() && m_matches.size() < kMostMatches;
         at = code.indexOf(text, at + text.size(), Qt::CaseInsensitive))
        m_matches.push_back(static_cast<int>(at));
    m_found->setText(text.isEmpty()      ? QString()
                     : m_matches.empty() ? tr("none")
                                         : tr("%n found", nullptr, static_cast<int>(m_matches.size())));
    placeChildren();
}

void CodeView::findNext(int direction)
{
    if (m_matches.empty())
        return;
    const int count = static_cast<int>(m_matches.size());
    if (m_match < 0) { // from the cursor on
        const auto next = std::lower_bound(m_matches.begin(), m_matches.end(), textCursor().selectionStart());
        m_match = static_cast<int>(next - m_matches.begin()) - (direction < 0 ? 1 : 0);
    } else {
        m_match += direction;
    }
    m_match = (m_match + count) % count;
    QTextCursor cursor = textCursor();
    cursor.setPosition(m_matches[static_cast<std::size_t>(m_match)]);
    cursor.setPosition(m_matches[static_cast<std::size_t>(m_match)] + static_cast<int>(m_find->text().size()),
                       QTextCursor::KeepAnchor);
    setTextCursor(cursor);
    m_found->setText(tr("%1 of %2").arg(m_match + 1).arg(count));
    placeChildren();
}

void CodeView::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    QAction* const copy = menu.addAction(tr("&Copy"), this, &QPlainTextEdit::copy);
    copy->setShortcut(QKeySequence::Copy);
    copy->setEnabled(textCursor().hasSelection());
    menu.addAction(tr("Select &all"), this, &QPlainTextEdit::selectAll)->setShortcut(QKeySequence::SelectAll);
    menu.addSeparator();
    menu.addAction(tr("&Find"), this, &CodeView::startFind)->setShortcut(QKeySequence::Find);
    menu.addAction(tr("&Save as…"), this, &CodeView::browseAndSave)->setEnabled(!document()->isEmpty());
    menu.exec(event->globalPos());
}

void CodeView::browseAndSave()
{
    const QString name = QFileDialog::getSaveFileName(this, tr("Save the code"), m_fileName);
    if (name.isEmpty())
        return;
    QSaveFile file(name);
    const QByteArray text = toPlainText().toUtf8() + '\n';
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
        QToolTip::showText(mapToGlobal(QPoint(8, 8)), tr("Cannot write %1: %2").arg(name, file.errorString()), this);
}

void CodeView::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (m_numbers != nullptr && (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)) {
        recolour();
        placeChildren();
    }
}

} // namespace lathe::ui
