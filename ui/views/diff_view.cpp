#include "ui/views/diff_view.h"

#include "ui/models/language.h"
#include "ui/views/spacing.h"

#include <QEvent>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextCursor>

#include <algorithm>

namespace lathe::ui {

namespace {

using session::DiffLine;

constexpr std::size_t kContext = 3;
constexpr std::size_t kMaxLines = 20000; // of a text edit that stays quick

/// A row of the view; a missing side is empty.
struct Row
{
    const DiffLine *left = nullptr, *right = nullptr;
    std::size_t skipped = 0; ///< equal lines that are left out here
};

/// What was removed stands beside what was added in its place.
std::vector<Row> paired(const std::vector<DiffLine>& lines)
{
    std::vector<Row> rows;
    for (std::size_t i = 0; i < lines.size();) {
        if (lines[i].kind == DiffLine::Kind::Same) {
            rows.push_back({&lines[i], &lines[i]});
            ++i;
            continue;
        }
        std::vector<const DiffLine*> left, right;
        for (; i < lines.size() && lines[i].kind != DiffLine::Kind::Same; ++i)
            (lines[i].kind == DiffLine::Kind::Removed ? left : right).push_back(&lines[i]);
        for (std::size_t j = 0; j < std::max(left.size(), right.size()); ++j)
            rows.push_back({j < left.size() ? left[j] : nullptr, j < right.size() ? right[j] : nullptr});
    }
    return rows;
}

bool isSame(const Row& row)
{
    return row.left != nullptr && row.left == row.right && row.left->kind == DiffLine::Kind::Same;
}

std::vector<Row> nearChanges(const std::vector<Row>& rows)
{
    std::vector<Row> kept;
    std::size_t skipped = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        bool near = false;
        for (std::size_t j = i > kContext ? i - kContext : 0; j <= std::min(rows.size() - 1, i + kContext); ++j)
            near = near || !isSame(rows[j]);
        if (!near) {
            ++skipped;
            continue;
        }
        if (skipped > 0)
            kept.push_back({nullptr, nullptr, skipped});
        skipped = 0;
        kept.push_back(rows[i]);
    }
    if (skipped > 0)
        kept.push_back({nullptr, nullptr, skipped});
    return kept;
}

/// Lines with a background each, put into a text edit in one go.
class Writer
{
public:
    explicit Writer(QPlainTextEdit* edit)
        : m_edit(edit)
        , m_cursor(edit->document())
    {
        m_edit->setUpdatesEnabled(false);
        m_edit->clear();
        m_cursor.beginEditBlock();
    }
    ~Writer()
    {
        m_cursor.endEditBlock();
        m_edit->moveCursor(QTextCursor::Start);
        m_edit->setUpdatesEnabled(true);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void line(const QString& text, const QBrush& background = {})
    {
        QTextBlockFormat format;
        if (background.style() != Qt::NoBrush)
            format.setBackground(background);
        if (m_first)
            m_cursor.setBlockFormat(format);
        else
            m_cursor.insertBlock(format);
        m_first = false;
        m_cursor.insertText(text);
    }

private:
    QPlainTextEdit* m_edit;
    QTextCursor m_cursor;
    bool m_first = true;
};

QString numberText(std::int32_t line)
{
    return line > 0 ? QStringLiteral("%1").arg(line, 5) : QStringLiteral("     ");
}

QColor over(QColor base, QColor color, double part)
{
    const auto mix = [part](int a, int b) { return static_cast<int>(a + (b - a) * part); };
    return {mix(base.red(), color.red()), mix(base.green(), color.green()), mix(base.blue(), color.blue())};
}

} // namespace

DiffView::DiffView(QWidget* parent)
    : QWidget(parent)
{
    m_left = makeText("diffLeft");
    m_right = makeText("diffRight");
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kHair);
    layout->addWidget(m_left);
    layout->addWidget(m_right);
    const auto tie = [](QScrollBar* a, QScrollBar* b) {
        connect(a, &QScrollBar::valueChanged, b, &QScrollBar::setValue);
        connect(b, &QScrollBar::valueChanged, a, &QScrollBar::setValue);
    };
    tie(m_left->verticalScrollBar(), m_right->verticalScrollBar());
    tie(m_left->horizontalScrollBar(), m_right->horizontalScrollBar());
    retranslated(this, [this] {
        m_left->setAccessibleName(tr("Program on the left"));
        m_right->setAccessibleName(tr("Program on the right"));
        fill();
    });
}

QPlainTextEdit* DiffView::makeText(const char* name)
{
    auto* text = new QPlainTextEdit(this);
    text->setObjectName(QLatin1String(name));
    text->setReadOnly(true);
    text->setLineWrapMode(QPlainTextEdit::NoWrap);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text->setTabChangesFocus(true);
    text->setUndoRedoEnabled(false);
    return text;
}

void DiffView::setLines(std::vector<DiffLine> lines)
{
    m_lines = std::move(lines);
    m_message.clear();
    fill();
}

void DiffView::setMessage(const QString& text)
{
    m_lines.clear();
    m_message = text;
    fill();
}

void DiffView::setSideBySide(bool on)
{
    m_sideBySide = on;
    fill();
}

void DiffView::setOnlyChanges(bool on)
{
    m_onlyChanges = on;
    fill();
}

int DiffView::removed() const
{
    return static_cast<int>(std::count_if(m_lines.begin(), m_lines.end(),
                                          [](const DiffLine& line) { return line.kind == DiffLine::Kind::Removed; }));
}

int DiffView::added() const
{
    return static_cast<int>(std::count_if(m_lines.begin(), m_lines.end(),
                                          [](const DiffLine& line) { return line.kind == DiffLine::Kind::Added; }));
}

void DiffView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && !m_lines.empty())
        fill();
    QWidget::changeEvent(event);
}

void DiffView::fill()
{
    m_right->setVisible(m_sideBySide && m_message.isEmpty());
    m_left->setLineWrapMode(m_message.isEmpty() ? QPlainTextEdit::NoWrap : QPlainTextEdit::WidgetWidth);
    if (!m_message.isEmpty()) {
        m_left->setPlainText(m_message);
        return;
    }
    const QColor base = palette().color(QPalette::Base);
    const QBrush less = over(base, QColor(0xd5, 0x5e, 0x00), 0.3), more = over(base, QColor(0x00, 0x72, 0xb2), 0.35),
                 none = over(base, QColor(0x80, 0x80, 0x80), 0.15);
    std::vector<Row> rows = paired(m_lines);
    if (m_onlyChanges && removed() + added() > 0)
        rows = nearChanges(rows);
    std::size_t left = 0;
    if (rows.size() > kMaxLines) {
        left = rows.size() - kMaxLines;
        rows.resize(kMaxLines);
    }
    const auto text = [](const DiffLine& line, std::int32_t number, char sign) {
        return numberText(number) + QLatin1Char(' ') + QLatin1Char(sign) + QLatin1Char(' ')
               + QString::fromStdString(line.text);
    };
    const auto gap = [](std::size_t lines) { return tr("      … %1 equal lines …").arg(lines); };
    Writer a(m_left);
    Writer b(m_right);
    for (std::size_t i = 0; i < rows.size();) {
        const Row& row = rows[i];
        if (row.skipped > 0 || isSame(row)) {
            ++i;
            a.line(row.skipped > 0 ? gap(row.skipped)
                   : m_sideBySide  ? text(*row.left, row.left->left, ' ')
                                   : text(*row.left, row.left->right, ' '),
                   row.skipped > 0 ? none : QBrush());
            b.line(row.skipped > 0 ? gap(row.skipped) : text(*row.left, row.left->right, ' '),
                   row.skipped > 0 ? none : QBrush());
            continue;
        }
        if (m_sideBySide) {
            ++i;
            row.left != nullptr ? a.line(text(*row.left, row.left->left, '-'), less) : a.line({}, none);
            row.right != nullptr ? b.line(text(*row.right, row.right->right, '+'), more) : b.line({}, none);
            continue;
        }
        const std::size_t from = i;
        while (i < rows.size() && rows[i].skipped == 0 && !isSame(rows[i]))
            ++i;
        for (std::size_t j = from; j < i; ++j)
            if (rows[j].left != nullptr)
                a.line(text(*rows[j].left, rows[j].left->left, '-'), less);
        for (std::size_t j = from; j < i; ++j)
            if (rows[j].right != nullptr)
                a.line(text(*rows[j].right, rows[j].right->right, '+'), more);
    }
    if (left > 0)
        a.line(tr("      … %n more lines not shown …", nullptr, static_cast<int>(left)), none);
}

} // namespace lathe::ui
