#include "ui/views/latency_chart.h"

#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/drag_handle.h"
#include "ui/views/view_export.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kZoomStep = 1.5;
constexpr double kLineReach = 8; ///< pixels from the pointer to the line that is meant
constexpr double kKeyStep = 0.02; ///< of the plot's width

} // namespace

LatencyChart::LatencyChart(QWidget* parent)
    : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    new DragHandle(*this); // a drag in the chart zooms
    retranslated(this, [this] { rebuild(); });
}

void LatencyChart::setCurves(Curves curves)
{
    m_curves = std::move(curves);
    rebuild();
}

void LatencyChart::rebuild()
{
    makeLines();
    fitAxes();
    makeLegend();
    refresh();
    tell();
}

void LatencyChart::refresh()
{
    layOut();
    thin();
    placeLabels();
    m_still = {};
    update();
}

void LatencyChart::setLogarithmic(bool on)
{
    if (m_logarithmic == on)
        return;
    m_logarithmic = on;
    rebuild(); // a place that was zoomed to stays
    emit logarithmicChanged(on);
}

void LatencyChart::setHidden(const QSet<QString>& keys)
{
    if (m_hidden == keys)
        return;
    m_hidden = keys;
    rebuild();
    emit hiddenChanged();
}

void LatencyChart::toggle(const QString& key)
{
    QSet<QString> keys = m_hidden;
    if (!keys.remove(key))
        keys.insert(key);
    setHidden(keys);
}

void LatencyChart::showOnly(const QString& key)
{
    QSet<QString> others = m_hidden;
    others.remove(key);
    for (const ChartLegend::Entry& entry : m_legend.entries())
        if (entry.key != key)
            others.insert(entry.key);
    // What is hidden but not here now is left as it is when all is shown again.
    const bool alone = m_hiddenBefore == others;
    if (alone)
        for (const ChartLegend::Entry& entry : m_legend.entries())
            others.remove(entry.key);
    setHidden(others);
}

void LatencyChart::tell()
{
    const QString text = summary();
    setAccessibleName(tr("Latency over time"));
    setAccessibleDescription(text);
    emit summaryChanged(text);
}

QRectF LatencyChart::shown() const
{
    if (!m_zoom)
        return m_all;
    QRectF place = *m_zoom;
    if (m_logarithmic)
        place.setTop(std::max(place.top(), kLeastLatency));
    return place;
}

double LatencyChart::toX(double seconds) const
{
    const QRectF view = shown();
    return m_area.left() + (seconds - view.left()) / view.width() * m_area.width();
}

double LatencyChart::toY(double ms) const
{
    const QRectF view = shown();
    const double part = m_logarithmic
                            ? std::log(std::max(ms, kLeastLatency) / view.top()) / std::log(view.bottom() / view.top())
                            : (ms - view.top()) / view.height();
    return m_area.bottom() - part * m_area.height();
}

double LatencyChart::secondsAt(double x) const
{
    const QRectF view = shown();
    return view.left() + (x - m_area.left()) / m_area.width() * view.width();
}

double LatencyChart::msAt(double y) const
{
    const QRectF view = shown();
    const double part = (m_area.bottom() - y) / m_area.height();
    return m_logarithmic ? view.top() * std::pow(view.bottom() / view.top(), part) : view.top() + part * view.height();
}

void LatencyChart::zoomTo(const QRectF& place)
{
    if (!(place.width() > 0) || !(place.height() > 0))
        return;
    m_zoom = place;
    refresh();
}

void LatencyChart::zoomBy(double factor)
{
    const QRectF now = shown();
    QRectF wanted(0, 0, now.width() / factor, now.height() / factor);
    wanted.moveCenter(now.center());
    if (m_logarithmic) { // the middle of what is seen
        const double middle = std::sqrt(now.top() * now.bottom());
        const double half = std::pow(now.bottom() / now.top(), 0.5 / factor);
        wanted.setTop(middle / half);
        wanted.setBottom(middle * half);
    }
    zoomTo(wanted);
}

void LatencyChart::zoomToFit()
{
    m_zoom.reset();
    m_all = {}; // so that fitAxes() finds its own
    fitAxes();
    refresh();
}

const LatencyChart::Line* LatencyChart::lineNear(QPointF position) const
{
    if (!m_area.contains(position))
        return nullptr;
    const Line* nearest = nullptr;
    double least = kLineReach;
    const double seconds = secondsAt(position.x());
    for (const Line& line : m_lines) {
        if (!isShown(line) || line.kind == Kind::Band || line.kind == Kind::Part || seconds > line.end)
            continue;
        double apart = std::abs(toY(valueAt(line.points, seconds)) - position.y());
        // Beside a step, the step is meant.
        for (const double aside : {-kLineReach / 2, kLineReach / 2}) {
            const double there = toY(valueAt(line.points, secondsAt(position.x() + aside)));
            const double here = toY(valueAt(line.points, seconds));
            if ((position.y() - there) * (position.y() - here) < 0)
                apart = std::min(apart, kLineReach / 2);
        }
        if (apart < least) {
            least = apart;
            nearest = &line;
        }
    }
    return nearest;
}

void LatencyChart::pointAt(std::optional<QPointF> position)
{
    if (position && !m_area.contains(*position))
        position.reset();
    if (m_pointer == position)
        return;
    m_pointer = position;
    update();
}

QStringList LatencyChart::readout() const
{
    if (!m_pointer)
        return {};
    const double seconds = secondsAt(m_pointer->x());
    QStringList lines{timeText(seconds)};
    for (const Value& value : valuesAt(seconds))
        lines << QStringList{value.name, value.latency, value.trials}.join(QLatin1Char('\t')).trimmed();
    return lines;
}

QColor LatencyChart::colorOf(const QString& key) const
{
    const auto line = std::ranges::find(m_lines, key, &Line::key);
    return line == m_lines.end() ? QColor() : line->color;
}

void LatencyChart::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    if (const int entry = m_legend.entryAt(event->position()); entry >= 0) {
        m_hiddenBefore = m_hidden;
        toggle(m_legend.entries()[static_cast<std::size_t>(entry)].key);
    } else if (entry == ChartLegend::kMore) {
        showRest();
    } else if (m_area.contains(event->position())) {
        m_pressed = event->position();
        m_dragged.reset();
    }
}

void LatencyChart::mouseMoveEvent(QMouseEvent* event)
{
    if (m_pressed && event->buttons().testFlag(Qt::LeftButton)) {
        if ((event->position() - *m_pressed).manhattanLength() > QApplication::startDragDistance())
            m_dragged = QPointF(std::clamp(event->position().x(), m_area.left(), m_area.right()),
                                std::clamp(event->position().y(), m_area.top(), m_area.bottom()));
        update();
        return;
    }
    setCursor(m_legend.entryAt(event->position()) == ChartLegend::kNone ? Qt::ArrowCursor : Qt::PointingHandCursor);
    pointAt(event->position());
}

void LatencyChart::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !m_pressed)
        return; // the right one opens the menu
    const QPointF pressed = *m_pressed;
    const std::optional<QPointF> dragged = m_dragged;
    m_pressed.reset();
    m_dragged.reset();
    if (dragged) {
        const QRectF drawn = QRectF(pressed, *dragged).normalized();
        const double low = msAt(drawn.bottom());
        zoomTo(QRectF(secondsAt(drawn.left()), low, secondsAt(drawn.right()) - secondsAt(drawn.left()),
                      msAt(drawn.top()) - low));
    } else if (const Line* const line = lineNear(event->position()); line != nullptr && line->task >= 0) {
        emit taskClicked(line->task);
    }
    update();
}

void LatencyChart::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    if (const int entry = m_legend.entryAt(event->position()); entry >= 0)
        showOnly(m_legend.entries()[static_cast<std::size_t>(entry)].key);
    else if (entry == ChartLegend::kNone)
        zoomToFit();
}

void LatencyChart::wheelEvent(QWheelEvent* event)
{
    if (!m_area.contains(event->position())) {
        QWidget::wheelEvent(event);
        return;
    }
    event->accept();
    const double factor = std::pow(kZoomStep, event->angleDelta().y() / 240.0);
    if (factor == 1)
        return;
    // What is beneath the pointer stays there.
    const auto edge = [factor](double at, double from) { return from + (at - from) / factor; };
    const QPointF pointer = event->position();
    const double left = secondsAt(edge(m_area.left(), pointer.x())),
                 right = secondsAt(edge(m_area.right(), pointer.x())), low = msAt(edge(m_area.bottom(), pointer.y())),
                 high = msAt(edge(m_area.top(), pointer.y()));
    zoomTo(QRectF(left, low, right - left, high - low));
}

void LatencyChart::keyPressEvent(QKeyEvent* event)
{
    const double step = m_area.width() * kKeyStep;
    const auto move = [this](double by) {
        const QPointF from = m_pointer.value_or(
            QPointF(by > 0 ? m_area.left() - by : m_area.right() - by, m_area.center().y()));
        pointAt(QPointF(std::clamp(from.x() + by, m_area.left(), m_area.right() - 0.5), from.y()));
    };
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(kZoomStep); break;
    case Qt::Key_Minus: zoomBy(1 / kZoomStep); break;
    case Qt::Key_0: zoomToFit(); break;
    case Qt::Key_Left: move(-step); break;
    case Qt::Key_Right: move(step); break;
    case Qt::Key_Escape:
        if (m_pointer) {
            pointAt({});
            break;
        }
        [[fallthrough]];
    default: QWidget::keyPressEvent(event);
    }
}

bool LatencyChart::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* const help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), m_legend.tip(m_legend.entryAt(help->pos())), this);
        return true;
    }
    return QWidget::event(event);
}

void LatencyChart::addLineActions(QMenu& menu, std::size_t from)
{
    const std::vector<ChartLegend::Entry>& entries = m_legend.entries();
    for (std::size_t i = from; i < entries.size(); ++i) {
        QAction* const shownAction = menu.addAction(entries[i].name);
        shownAction->setCheckable(true);
        shownAction->setChecked(!entries[i].hidden);
        connect(shownAction, &QAction::triggered, this, [this, key = entries[i].key] { toggle(key); });
    }
}

/// What the legend has no room for.
void LatencyChart::showRest()
{
    QMenu menu(this);
    addLineActions(menu, m_legend.firstHidden());
    menu.exec(mapToGlobal(m_legend.morePlace().bottomLeft().toPoint()));
}

void LatencyChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    const int entry = m_legend.entryAt(event->pos());
    const Line* const near = lineNear(event->pos());
    const QString key = entry >= 0        ? m_legend.entries()[static_cast<std::size_t>(entry)].key
                        : near != nullptr ? near->key
                                          : QString();
    if (!key.isEmpty()) {
        m_hiddenBefore.clear();
        menu.addAction(tr("Show it &alone"), this, [this, key] { showOnly(key); });
        menu.addAction(tr("&Hide it"), this, [this, key] { toggle(key); })->setEnabled(!m_hidden.contains(key));
    }
    QMenu* const lines = menu.addMenu(tr("&Lines"));
    addLineActions(*lines, 0);
    lines->addSeparator();
    lines->addAction(tr("&Show all"), this, [this] { setHidden({}); })->setEnabled(!m_hidden.isEmpty());
    QAction* const logarithmic = menu.addAction(tr("Lo&garithmic"), this, &LatencyChart::setLogarithmic);
    logarithmic->setCheckable(true);
    logarithmic->setChecked(m_logarithmic);
    const auto line = std::ranges::find(m_lines, key, &Line::key);
    emit menuAboutToShow(&menu, key, line != m_lines.end() ? line->task : -1);
    menu.addSeparator();
    const QStringList values = readout();
    menu.addAction(tr("Copy these &values"), this,
                   [values] { QApplication::clipboard()->setText(values.join(QLatin1Char('\n'))); })
        ->setEnabled(!values.isEmpty());
    addViewActions(menu, *this);
    menu.exec(event->globalPos());
    event->accept();
}

QString LatencyChart::summary() const
{
    QStringList parts;
    if (!m_curves.estimate.isEmpty())
        parts << tr("estimated %1").arg(msText(m_curves.estimate.last().y()));
    else if (!m_curves.low.isEmpty())
        parts << tr("estimated %1 (some tasks have no program yet)")
                     .arg(msRangeText(m_curves.low.last().y(), m_curves.high.last().y()));
    if (!m_curves.measured.isEmpty())
        parts << tr("measured %1").arg(msText(m_curves.measured.last().y()));
    if (std::isfinite(m_curves.untunedMs))
        parts << tr("untuned %1").arg(msText(m_curves.untunedMs));
    if (parts.isEmpty())
        return tr("Nothing measured yet");
    return tr("%1 after %2").arg(parts.join(tr(", ")), minutesText(m_curves.seconds));
}

qsizetype LatencyChart::drawnPoints() const
{
    qsizetype count = 0;
    for (const Line& line : m_lines)
        if (line.kind != Kind::Level)
            count += line.drawn.size() + line.drawnUpper.size();
    return count;
}

void LatencyChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        rebuild();
    QWidget::changeEvent(event);
}

void LatencyChart::leaveEvent(QEvent* event)
{
    pointAt({});
    QWidget::leaveEvent(event);
}

void LatencyChart::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void LatencyChart::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    update();
}

void LatencyChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_pointer.reset();
    refresh();
}

std::vector<QStringList> LatencyChart::exportRows() const
{
    std::vector<QStringList> rows{{tr("Curve"), tr("Time (s)"), tr("Latency (ms)")}};
    const auto add = [&rows](const QString& name, const QList<QPointF>& points) {
        for (const QPointF& p : points)
            rows.push_back({name, QString::number(p.x(), 'f', 3), QString::number(p.y(), 'g', 10)});
    };
    add(tr("estimated network"), m_curves.estimate);
    add(tr("sum of tasks"), m_curves.tasksSum);
    add(tr("low"), m_curves.low);
    add(tr("high"), m_curves.high);
    add(tr("measured network"), m_curves.measured);
    for (const Parts& parts : m_curves.parts)
        for (const auto& [name, ms] :
             {std::pair{tr("tasks"), parts.tasksMs}, std::pair{tr("chain"), parts.chainMs},
              std::pair{tr("untuned functions"), parts.untunedMs}, std::pair{tr("call"), parts.callMs}})
            add(name, {{parts.atSeconds, ms}});
    if (std::isfinite(m_curves.untunedMs))
        add(tr("untuned"), {{0, m_curves.untunedMs}});
    for (const Overlay& overlay : m_curves.overlays) {
        add(overlay.name, overlay.estimate);
        add(tr("%1, measured").arg(overlay.name), overlay.measured);
    }
    for (const TaskCurve& curve : m_curves.tasks)
        add(curve.name, curve.points);
    return rows;
}

} // namespace lathe::ui
