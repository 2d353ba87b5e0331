#include "ui/pages/replay_bar.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/history_reader.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/icons.h"
#include "ui/views/spacing.h"

#include <QComboBox>
#include <QDateTime>
#include <QLabel>
#include <QLocale>
#include <QMouseEvent>
#include <QScopedValueRollback>
#include <QSlider>
#include <QStyleOptionSlider>
#include <QTimer>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kPlaces = 10'000; ///< of the slider
constexpr int kShowMs = 200;
constexpr double kSpeeds[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

/// A click on the groove takes the handle there, whatever the style: a page further is no place that anybody means.
class PlaceSlider final : public QSlider
{
public:
    using QSlider::QSlider;

protected:
    void mousePressEvent(QMouseEvent* event) override
    {
        if (event->button() == Qt::LeftButton) {
            QStyleOptionSlider option;
            initStyleOption(&option);
            const QRect handle = style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderHandle, this),
                        groove = style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderGroove, this);
            const QPoint at = event->position().toPoint();
            if (!handle.contains(at))
                setSliderPosition(QStyle::sliderValueFromPosition(minimum(), maximum(),
                                                                  at.x() - groove.left() - handle.width() / 2,
                                                                  groove.width() - handle.width(), option.upsideDown));
        }
        QSlider::mousePressEvent(event); // takes hold of the handle, which is beneath the pointer now
    }
};

} // namespace

ReplayBar::ReplayBar(Workspace& workspace, QWidget* parent)
    : QToolBar(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("replayBar"));
    setMovable(false);
    toggleViewAction()->setVisible(false); // it is there when there is something to play
    m_title = new QLabel(this);
    m_title->setObjectName(QStringLiteral("replayTitle"));
    m_title->setAutoFillBackground(true);
    m_title->setBackgroundRole(QPalette::Highlight);
    m_title->setForegroundRole(QPalette::HighlightedText);
    m_title->setContentsMargins(spacing::kMedium, spacing::kSmall, spacing::kMedium, spacing::kSmall);
    m_run = new QComboBox(this);
    m_run->setObjectName(QStringLiteral("replayRun"));
    m_run->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_play = new QToolButton(this);
    m_play->setObjectName(QStringLiteral("replayPlay"));
    m_speed = new QComboBox(this);
    m_speed->setObjectName(QStringLiteral("replaySpeed"));
    for (const double speed : kSpeeds)
        m_speed->addItem(QStringLiteral("%1×").arg(speed), speed);
    m_slider = new PlaceSlider(Qt::Horizontal, this);
    m_slider->setObjectName(QStringLiteral("replaySlider"));
    m_slider->setRange(0, kPlaces);
    m_slider->setPageStep(kPlaces / 20);
    m_slider->setSingleStep(kPlaces / 200);
    m_slider->setTracking(false); // a drag back plays all again: once, where it ends
    m_place = new QLabel(this);
    m_place->setObjectName(QStringLiteral("replayPlace"));
    m_place->setContentsMargins(spacing::kMedium, spacing::kNone, spacing::kMedium, spacing::kNone);
    m_leave = new QToolButton(this);
    m_leave->setObjectName(QStringLiteral("replayLeave"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_title, m_run, m_play, m_speed, m_slider, m_place, m_leave})
        addWidget(widget);
    auto* timer = new QTimer(this);
    timer->setInterval(kShowMs);
    connect(timer, &QTimer::timeout, this, &ReplayBar::showPlace);
    connect(this, &QToolBar::visibilityChanged, timer,
            [timer](bool visible) { visible ? timer->start() : timer->stop(); });
    connect(m_play, &QToolButton::clicked, this, &ReplayBar::playOrPause);
    connect(m_speed, &QComboBox::currentIndexChanged, this, [this] {
        if (session::Replay* replay = m_workspace.replay(); replay != nullptr && !m_showing)
            (void)replay->setSpeed(m_speed->currentData().toDouble()); // all that are offered are good
    });
    connect(m_slider, &QSlider::valueChanged, this, &ReplayBar::goTo);
    connect(m_slider, &QSlider::sliderMoved, this, [this](int place) {
        if (const session::Replay* replay = m_workspace.replay())
            m_place->setText(QStringLiteral("%1 / %2").arg(minutesText(replay->length() * place / kPlaces),
                                                           minutesText(replay->length())));
    });
    connect(m_run, &QComboBox::activated, this, [this] { emit runChosen(m_run->currentData().toLongLong()); });
    connect(m_leave, &QToolButton::clicked, this, &ReplayBar::leaveRequested);
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &ReplayBar::onOpened);
    connect(&m_workspace.bridge(), &SessionBridge::closed, this, &QToolBar::hide);
    retranslated(this, [this] {
        setWindowTitle(tr("Replay"));
        m_title->setText(tr("Replay: nothing is measured or changed"));
        m_run->setAccessibleName(tr("Replayed run"));
        m_speed->setAccessibleName(tr("Speed of the replay"));
        m_speed->setToolTip(tr("Seconds of the run per second"));
        m_slider->setAccessibleName(tr("Position in the run"));
        m_leave->setText(tr("Open the project"));
        m_leave->setToolTip(tr("Leave the replay and open the project itself"));
        showPlace();
    });
    hide();
}

void ReplayBar::onOpened()
{
    const session::Replay* replay = m_workspace.replay();
    setVisible(replay != nullptr);
    if (replay == nullptr)
        return;
    const QScopedValueRollback guard(m_showing, true);
    const auto nearest = std::min_element(std::begin(kSpeeds), std::end(kSpeeds), [replay](double a, double b) {
        return std::abs(a - replay->speed()) < std::abs(b - replay->speed());
    });
    m_speed->setCurrentIndex(static_cast<int>(nearest - std::begin(kSpeeds)));
    m_run->clear();
    for (const session::RunView& run : replay->runs()) {
        const QString when = QLocale(Language::instance().current())
                                 .toString(QDateTime::fromMSecsSinceEpoch(run.startedMs), QLocale::ShortFormat);
        m_run->addItem(tr("run %1, %2, %3").arg(run.id).arg(when, minutesText(run.activeSeconds)),
                       static_cast<qlonglong>(run.id));
    }
    m_run->setCurrentIndex(m_run->findData(static_cast<qlonglong>(replay->run().id)));
    showPlace();
}

void ReplayBar::showPlace()
{
    const session::Replay* replay = m_workspace.replay();
    if (replay == nullptr)
        return;
    const QScopedValueRollback guard(m_showing, true);
    if (!m_slider->isSliderDown()) {
        m_slider->setValue(replay->length() > 0 ? static_cast<int>(kPlaces * replay->position() / replay->length())
                                                : 0);
        m_place->setText(QStringLiteral("%1 / %2").arg(minutesText(replay->position()), minutesText(replay->length())));
    }
    const bool playing = m_workspace.session()->state() == session::RunState::Running;
    m_play->setText(playing ? tr("Pause") : tr("Play"));
    m_play->setIcon(glyphIcon(playing ? Glyph::Pause : Glyph::Start, palette()));
    m_play->setToolTip(playing ? tr("Hold the replay") : tr("Play on, or from the beginning where it has ended"));
    m_play->setAccessibleName(m_play->text());
}

void ReplayBar::playOrPause()
{
    session::TuningSession* session = m_workspace.session();
    if (m_workspace.replay() == nullptr)
        return;
    switch (session->state()) {
    case session::RunState::Starting:
    case session::RunState::Running: m_workspace.bridge().pause(); break;
    case session::RunState::Pausing:
    case session::RunState::Paused: m_workspace.bridge().resumeRun(); break;
    default: m_workspace.bridge().start({});
    }
    showPlace();
}

void ReplayBar::goTo(int place)
{
    session::Replay* replay = m_workspace.replay();
    if (m_showing || replay == nullptr)
        return;
    if (const auto sought = replay->seek(replay->length() * place / kPlaces); !sought)
        m_workspace.addIssue(tr("replay"), sought.error());
}

} // namespace lathe::ui
