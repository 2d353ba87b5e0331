#include "ui/pages/listing_panel.h"

#include "ui/models/language.h"
#include "ui/views/code_view.h"
#include "ui/views/plot_axes.h"
#include "ui/views/spacing.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QScreen>
#include <QScrollBar>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kSideBySideFrom = 900; ///< pixels; narrower the program is above its code,
constexpr int kAboveFrom = 320; ///< unless there is no height for two

qsizetype indentOf(const QString& line)
{
    const auto first = std::find_if(line.begin(), line.end(), [](QChar c) { return c != QLatin1Char(' '); });
    return first - line.begin();
}

/// What its language's files are called.
QString suffixOf(const QString& language)
{
    return language == QLatin1String("ir")                                        ? QStringLiteral(".ll")
           : language == QLatin1String("x86") || language == QLatin1String("arm") ? QStringLiteral(".s")
           : language == QLatin1String("c")                                       ? QStringLiteral(".c")
                                                                                  : QStringLiteral(".txt");
}

} // namespace

std::pair<int, int> statementLines(const QStringList& program, int line)
{
    if (line < 0 || line >= program.size())
        return {line, line};
    int last = line;
    while (last + 1 < program.size() && !program[last + 1].isEmpty()
           && indentOf(program[last + 1]) > indentOf(program[line]))
        ++last;
    return {line, last};
}

ListingPanel::ListingPanel(ListingKind kind, QWidget* parent)
    : QWidget(parent)
    , m_kind(std::move(kind))
{
    m_facts = new QLabel(this);
    m_facts->setObjectName(QStringLiteral("listingFacts"));
    m_facts->setWordWrap(true);
    m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_hot = new QToolButton(this);
    m_hot->setObjectName(QStringLiteral("listingHot"));
    m_hot->setAutoRaise(true);
    m_larger = new QToolButton(this);
    m_larger->setObjectName(QStringLiteral("listingLarger"));
    m_larger->setAutoRaise(true);
    m_splitter = new QSplitter(Qt::Vertical, this);
    m_splitter->setObjectName(QStringLiteral("listingSplitter"));
    m_program = new CodeView(m_splitter);
    m_program->setObjectName(QStringLiteral("listingProgram"));
    m_code = new CodeView(m_splitter);
    m_code->setObjectName(QStringLiteral("listingCode"));
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setChildrenCollapsible(true);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(spacing::kMedium, spacing::kHair, spacing::kHair, spacing::kHair);
    row->addWidget(m_facts, 1);
    row->addWidget(m_hot);
    row->addWidget(m_larger);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kNone);
    layout->addLayout(row);
    layout->addWidget(m_splitter, 1);
    setFocusProxy(m_code);
    connect(m_program, &CodeView::lineChosen, this, &ListingPanel::chooseStatement);
    connect(m_code, &CodeView::lineChosen, this, &ListingPanel::chooseLine);
    connect(m_hot, &QToolButton::clicked, this, [this] {
        const auto hot = std::ranges::find(m_listing.marks, session::LineMark::HotLoop, &session::MarkedLines::mark);
        if (hot != m_listing.marks.end())
            m_code->showLine(hot->first);
    });
    connect(m_larger, &QToolButton::clicked, this, &ListingPanel::openLarger);
    retranslated(this, [this] { retranslate(); });
    setMessage({});
}

void ListingPanel::retranslate()
{
    m_code->setAccessibleName(QString::fromStdString(m_kind.title));
    m_program->setAccessibleName(tr("Program"));
    m_hot->setText(tr("Hot loop"));
    m_hot->setToolTip(tr("Go to the innermost loop that does most of the work"));
    m_larger->setText(tr("Larger"));
    m_larger->setToolTip(tr("Open in a window of its own"));
    setSides();
}

ListingPanel* ListingPanel::openLarger()
{
    auto* panel = new ListingPanel(m_kind, window());
    panel->setObjectName(QStringLiteral("listingWindow"));
    panel->setWindowFlag(Qt::Window);
    panel->setAttribute(Qt::WA_DeleteOnClose);
    panel->setWindowTitle(QCoreApplication::translate("Listings", m_kind.title.c_str()));
    panel->resize(QSize(1100, 680).boundedTo(screen()->availableSize() * 0.9));
    panel->m_larger->hide();
    panel->setListing(m_listing);
    panel->show();
    return panel;
}

void ListingPanel::setMessage(const QString& text)
{
    m_listing = {};
    m_program->setCode({}, QStringLiteral("text"));
    m_code->setCode(text, QStringLiteral("text"));
    m_program->hide();
    setSides();
}

void ListingPanel::setListing(session::Listing listing)
{
    m_listing = std::move(listing);
    m_program->setCode(QString::fromStdString(m_listing.program), QStringLiteral("nest"));
    m_code->setCode(QString::fromStdString(m_listing.text), QString::fromStdString(m_listing.language));
    m_code->setFileName(QStringLiteral("kernel") + suffixOf(m_code->language()));
    m_program->setFileName(QStringLiteral("program.txt"));
    m_program->setVisible(!m_listing.statements.empty());
    const QStringList lines = m_program->toPlainText().split(QLatin1Char('\n'));
    m_program->verticalScrollBar()->setValue(
        std::max(0, static_cast<int>(lines.indexOf(QStringLiteral("phase 0"))))); // past the buffers
    setSides();
    const auto hot = std::ranges::find(m_listing.marks, session::LineMark::HotLoop, &session::MarkedLines::mark);
    const auto first = std::ranges::find_if(m_listing.statements,
                                            [](std::int32_t statement) { return statement >= 0; });
    if (hot != m_listing.marks.end())
        m_code->showLine(hot->first);
    else if (first != m_listing.statements.end()) // past what every text of its kind begins with
        m_code->showLine(static_cast<int>(first - m_listing.statements.begin()));
}

void ListingPanel::setSides()
{
    using session::LineMark;
    std::vector<CodeView::Side> sides;
    for (const session::MarkedLines& mark : m_listing.marks) {
        if (mark.mark == LineMark::HotLoop)
            sides.push_back({mark.first, mark.last, seriesColor(1), tr("Hot loop")});
        else if (mark.mark == LineMark::Spill)
            sides.push_back({mark.first, mark.last, seriesColor(5), tr("Spill: a register is written to the stack")});
        else if (mark.mark == LineMark::Reload)
            sides.push_back({mark.first, mark.last, seriesColor(6), tr("Reload: a register is read from the stack")});
    }
    m_code->setSides(std::move(sides));
    m_facts->setText(facts());
    m_facts->setVisible(!m_facts->text().isEmpty() || !m_larger->isHidden()); // else an empty strip stays
    m_larger->setEnabled(!m_listing.text.empty());
    m_hot->setVisible(std::ranges::find(m_listing.marks, session::LineMark::HotLoop, &session::MarkedLines::mark)
                      != m_listing.marks.end());
}

QString ListingPanel::facts() const
{
    using session::LineMark;
    QStringList facts;
    const auto count = [this](LineMark mark) {
        return static_cast<int>(std::ranges::count(m_listing.marks, mark, &session::MarkedLines::mark));
    };
    if (m_listing.vectorRegisters >= 0) {
        facts << tr("Vector registers: %1 of %2").arg(m_listing.vectorRegisters).arg(m_listing.vectorRegistersOf);
        facts << tr("General registers: %1 of %2").arg(m_listing.generalRegisters).arg(m_listing.generalRegistersOf);
        facts << tr("Spills: %1, reloads: %2").arg(count(LineMark::Spill)).arg(count(LineMark::Reload));
    }
    const auto hot = std::ranges::find(m_listing.marks, LineMark::HotLoop, &session::MarkedLines::mark);
    if (hot != m_listing.marks.end()) {
        int within = 0;
        for (const session::MarkedLines& mark : m_listing.marks)
            within += (mark.mark == LineMark::Spill || mark.mark == LineMark::Reload) && mark.first >= hot->first
                              && mark.last <= hot->last
                          ? 1
                          : 0;
        facts << tr("Hot loop: lines %1 to %2").arg(hot->first + 1).arg(hot->last + 1)
                     + (within > 0 ? tr(", %1 of these in it").arg(within) : QString());
    }
    return facts.join(QStringLiteral("  ·  "));
}

void ListingPanel::chooseStatement(int line)
{
    const auto [first, last] = statementLines(m_program->toPlainText().split(QLatin1Char('\n')), line);
    QSet<int> statements;
    for (int at = first; at <= last; ++at)
        statements.insert(at);
    QSet<int> code;
    for (std::size_t i = 0; i < m_listing.statements.size(); ++i)
        if (statements.contains(m_listing.statements[i]))
            code.insert(static_cast<int>(i));
    m_program->setMarked(statements, false);
    m_code->setMarked(code, true);
}

void ListingPanel::chooseLine(int line)
{
    if (line < 0 || static_cast<std::size_t>(line) >= m_listing.statements.size())
        return;
    const int statement = m_listing.statements[static_cast<std::size_t>(line)];
    QSet<int> code;
    for (std::size_t i = 0; statement >= 0 && i < m_listing.statements.size(); ++i)
        if (m_listing.statements[i] == statement)
            code.insert(static_cast<int>(i));
    m_code->setMarked(code, false);
    m_program->setMarked(statement >= 0 ? QSet<int>{statement} : QSet<int>(), true);
}

void ListingPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    const bool beside = width() >= kSideBySideFrom || height() < kAboveFrom;
    m_splitter->setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
}

void ListingPanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        setSides();
}

} // namespace lathe::ui
