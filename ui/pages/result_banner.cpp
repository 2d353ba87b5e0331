#include "ui/pages/result_banner.h"

#include "core/session/back_ends.h"
#include "ui/bridge/trial_jobs.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/spacing.h"
#include "ui/views/write_access.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

/// White on these colours is readable in light and dark.
struct Mark
{
    const char* sign;
    const char* color;
};
constexpr Mark kGood{"✓", "#2e7d32"}, kDoubtful{"?", "#9a5b00"}, kBad{"✗", "#b3261e"}, kUnknown{"?", "#5c5f66"};

/// Beneath the headline: figures, without its sentence once more.
QString figuresText(const session::Gain& gain)
{
    const auto times = [](double ratio) { return QString::number(ratio, 'f', 2); };
    const QString tuned = msText(gain.ms), untuned = msText(gain.untunedMs);
    switch (gain.verdict()) {
    case session::Verdict::Faster:
        return ResultBanner::tr("%1 instead of %2; 95 % interval of the gain %3 to %4, pairs of turns: %5")
            .arg(tuned, untuned, times(gain.low), times(gain.high))
            .arg(gain.pairs);
    case session::Verdict::Slower:
        return ResultBanner::tr("%1 instead of %2: %3 times as long; 95 % interval %4 to %5, pairs of turns: %6")
            .arg(tuned, untuned, times(1 / gain.ratio), times(1 / gain.high), times(1 / gain.low))
            .arg(gain.pairs);
    case session::Verdict::NotProven:
        return std::isfinite(gain.low)
                   ? ResultBanner::tr("%1, untuned %2: %3 times as fast, but the 95 % interval, %4 to %5, holds 1; "
                                      "pairs of turns: %6")
                         .arg(tuned, untuned, times(gain.ratio), times(gain.low), times(gain.high))
                         .arg(gain.pairs)
                   : ResultBanner::tr("%1, untuned %2: %3 times as fast; pairs of turns: %4, too few for an interval")
                         .arg(tuned, untuned, times(gain.ratio))
                         .arg(gain.pairs);
    case session::Verdict::Unknown: break; // the headline says it all
    }
    return {};
}

} // namespace

ResultBanner::ResultBanner(Workspace& workspace, QWidget* parent)
    : QToolBar(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("resultBanner"));
    setMovable(false);
    toggleViewAction()->setVisible(false); // it is there when there is something to say
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setTextInteractionFlags(Qt::TextSelectableByMouse);
        return made;
    };
    const auto button = [this](const char* name) {
        auto* made = new QToolButton(this);
        made->setObjectName(QLatin1String(name));
        made->setToolButtonStyle(Qt::ToolButtonTextOnly);
        return made;
    };
    m_mark = label("resultMark");
    m_mark->setAlignment(Qt::AlignCenter);
    m_mark->setFixedWidth(fontMetrics().height() * 2);
    m_headline = label("resultHeadline");
    QFont bold = font();
    bold.setBold(true);
    m_headline->setFont(bold);
    m_reasons = label("resultReasons");
    m_reasons->setWordWrap(true);
    m_reasons->installEventFilter(this);
    m_again = button("resultAgain");
    m_checks = button("resultChecks");
    m_export = button("resultExport");
    m_close = button("resultClose");
    auto* texts = new QWidget(this);
    auto* lines = new QVBoxLayout(texts);
    lines->setContentsMargins(spacing::kMedium, spacing::kHair, spacing::kMedium, spacing::kHair);
    lines->setSpacing(spacing::kNone);
    lines->addWidget(m_headline);
    lines->addWidget(m_reasons);
    texts->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_mark, texts, m_again, m_checks, m_export, m_close})
        addWidget(widget);
    connect(m_again, &QToolButton::clicked, this, [this] { m_workspace.trialJobs().measureAgain(); });
    connect(m_checks, &QToolButton::clicked, this, &ResultBanner::checksRequested);
    connect(m_export, &QToolButton::clicked, this, &ResultBanner::exportRequested);
    connect(m_close, &QToolButton::clicked, this, [this] {
        m_closed = true;
        updateVisible();
    });
    connect(&workspace, &Workspace::verdictChanged, this, &ResultBanner::takeVerdict);
    connect(&workspace, &Workspace::writerChanged, this, &ResultBanner::fill);
    connect(&workspace.trialJobs(), &TrialJobs::gainStarted, this, &ResultBanner::fill);
    connect(&workspace.trialJobs(), &TrialJobs::gainEnded, this, &ResultBanner::fill);
    retranslated(this, [this] {
        setWindowTitle(tr("Result"));
        m_again->setText(tr("Measure again"));
        m_again->setToolTip(tr("Time the tuned and the untuned network again, in turn"));
        m_checks->setText(tr("Checks…"));
        m_checks->setToolTip(tr("What to check before you trust the figures, and what to do"));
        m_export->setText(tr("Export…"));
        m_export->setToolTip(tr("Export a deploy library"));
        m_close->setText(QStringLiteral("✕"));
        m_close->setAccessibleName(tr("Close"));
        m_close->setToolTip(tr("Hide until the next result"));
        fill();
    });
    hide();
}

void ResultBanner::takeVerdict()
{
    m_closed = false;
    fill();
    updateVisible();
}

void ResultBanner::updateVisible()
{
    const session::TuningSession* session = m_workspace.session();
    setVisible(!m_closed && m_workspace.verdict() && session != nullptr && !session::isActive(session->state()));
}

/// As high as its lines: a label that wraps asks for the height of a narrow one.
void ResultBanner::fitReasons()
{
    // While it is not laid out yet, it is as wide as the bar will let it.
    const int width = std::max(m_reasons->width(), isVisible() ? 0 : window()->width() / 2);
    m_reasons->setMinimumHeight(0); // else it counts as what the text needs
    m_reasons->setFixedHeight(std::max(0, m_reasons->heightForWidth(width))); // there may be nothing to say
}

bool ResultBanner::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_reasons && event->type() == QEvent::Resize)
        fitReasons();
    return QToolBar::eventFilter(watched, event);
}

bool ResultBanner::canMeasure() const
{
    const session::TuningSession* session = m_workspace.session();
    if (session == nullptr || m_workspace.replay() != nullptr)
        return false;
    const auto target = session::viewTarget(session->options().target);
    return target && target->libraries && target->runsHere && !target->simulated;
}

void ResultBanner::fill()
{
    if (!m_workspace.verdict())
        return;
    fillTexts(*m_workspace.verdict());
    const bool measuring = m_workspace.trialJobs().isMeasuringGain();
    enableToWrite(*m_again, canMeasure() && !measuring, m_workspace.whyReadOnly());
    m_export->setEnabled(m_workspace.replay() == nullptr && !measuring);
    if (measuring)
        m_reasons->setText(tr("Timing the tuned and the untuned network in turn…"));
    fitReasons();
}

void ResultBanner::fillTexts(const session::VerdictEvent& verdict)
{
    using session::Verdict;
    QStringList doubts;
    for (const session::Finding& finding : verdict.findings)
        if (finding.gravity == session::Gravity::Doubt && finding.rule != "gain not proven")
            doubts << coreText(finding.evidence);
    const bool sound = doubts.isEmpty();
    Mark mark = kUnknown;
    switch (verdict.gain.verdict()) {
    case Verdict::Unknown: m_headline->setText(tr("Not compared with the untuned network")); break;
    case Verdict::NotProven:
        m_headline->setText(tr("Not proven faster than untuned"));
        mark = kDoubtful;
        break;
    case Verdict::Faster:
        m_headline->setText(tr("%1 times as fast as untuned").arg(verdict.gain.ratio, 0, 'f', 2));
        mark = sound ? kGood : kDoubtful;
        break;
    case Verdict::Slower:
        m_headline->setText(tr("Slower than untuned"));
        mark = kBad;
        break;
    }
    m_mark->setText(QString::fromUtf8(mark.sign));
    m_mark->setStyleSheet(
        QStringLiteral("background: %1; color: white; border-radius: 4px").arg(QLatin1String(mark.color)));
    m_mark->setAccessibleName(m_headline->text());
    const QString figures = figuresText(verdict.gain);
    m_reasons->setText(
        unbroken(sound ? figures : tr("Do not rely on it yet: %1").arg(doubts.join(coreText(say(Msg::Semicolon))))));
    m_reasons->setToolTip(sound ? figures : (QStringList(figures) + doubts).join(QLatin1Char('\n')).trimmed());
}

} // namespace lathe::ui
