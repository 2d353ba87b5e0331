#include "ui/views/graph_layouter.h"
#include "ui/views/graph_view.h"

#include <QBuffer>
#include <QPaintEvent>
#include <QPainter>
#include <QSaveFile>
#include <QScrollBar>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

// What viewers still open, and what a copy may take of the memory.
constexpr double kMaxImageSide = 20000;
constexpr double kMaxImagePixels = 60e6;

} // namespace

double GraphView::overviewScale() const
{
    const QSizeF size = m_scene.size();
    return std::min(viewport()->width() * 0.16 / size.width(), viewport()->height() * 0.45 / size.height());
}

QRectF GraphView::overviewRect() const
{
    const QSizeF shown = m_scene.size() * m_scale;
    if (m_scene.graph() == nullptr || (shown.width() <= viewport()->width() && shown.height() <= viewport()->height()))
        return {};
    const QSizeF size = m_scene.size() * overviewScale();
    return {viewport()->width() - size.width() - 12, viewport()->height() - size.height() - 12, size.width(),
            size.height()};
}

void GraphView::panOverview(QPointF point)
{
    const QPointF scene = (point - overviewRect().topLeft()) / overviewScale() * m_scale;
    horizontalScrollBar()->setValue(static_cast<int>(scene.x() - viewport()->width() / 2.0));
    verticalScrollBar()->setValue(static_cast<int>(scene.y() - viewport()->height() / 2.0));
}

void GraphView::paintOverview(QPainter& painter)
{
    const QRectF map = overviewRect();
    if (!m_overview || map.isEmpty())
        return;
    constexpr int kEdge = 4;
    if (m_map.isNull()) {
        m_map = QPixmap((map.size() + QSizeF(2 * kEdge, 2 * kEdge)).toSize() * devicePixelRatioF());
        m_map.setDevicePixelRatio(devicePixelRatioF());
        QColor back = palette().color(QPalette::Base);
        back.setAlphaF(0.9F);
        m_map.fill(back);
        QPainter inner(&m_map);
        inner.setRenderHint(QPainter::Antialiasing);
        inner.translate(kEdge, kEdge);
        inner.scale(overviewScale(), overviewScale());
        m_scene.paintOverview(inner, palette());
    }
    painter.drawPixmap(map.topLeft() - QPointF(kEdge, kEdge), m_map);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(palette().color(QPalette::Mid));
    painter.drawRect(map.adjusted(-kEdge, -kEdge, kEdge, kEdge));
    const QRectF seen(toScene({0, 0}), QSizeF(viewport()->size()) / m_scale);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 1.5));
    painter.drawRect(
        QRectF(map.topLeft() + seen.topLeft() * overviewScale(), seen.size() * overviewScale()).intersected(map));
}

/// While the view is panned, only what comes in at its edges is painted.
void GraphView::bringUpToDate()
{
    const double ratio = devicePixelRatioF();
    const QPoint at = (origin() * ratio).toPoint();
    QRegion missing(QRect(QPoint(), viewport()->size() * ratio));
    if (m_drawn.isNull()) {
        m_drawn = QPixmap(viewport()->size() * ratio);
        m_drawn.setDevicePixelRatio(1); // painted in the device's pixels, and shown in the window's
    } else {
        m_drawn.setDevicePixelRatio(1);
        const QPoint moved = at - m_drawnAt;
        const QRect all = m_drawn.rect();
        if (const QRect kept = all.translated(moved) & all; !kept.isEmpty()) {
            m_drawn.scroll(moved.x(), moved.y(), all);
            missing -= kept;
        }
    }
    m_drawnAt = at;
    QPainter painter(&m_drawn);
    painter.setRenderHint(QPainter::Antialiasing);
    for (const QRect& rect : missing) {
        painter.save();
        painter.setClipRect(rect);
        painter.fillRect(rect, palette().color(QPalette::Base));
        painter.translate(at);
        painter.scale(m_scale * ratio, m_scale * ratio);
        m_scene.paint(painter,
                      {QPointF(rect.topLeft() - at) / (m_scale * ratio), QSizeF(rect.size()) / (m_scale * ratio)},
                      m_scale, palette(), true);
        painter.restore();
    }
    painter.end();
    m_drawn.setDevicePixelRatio(ratio);
}

void GraphView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    if (m_hold.isActive()) {
        painter.drawPixmap(0, 0, m_held);
        return;
    }
    if (m_scene.graph() == nullptr || m_scene.visible().items.empty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(viewport()->rect(), Qt::AlignCenter,
                         m_scene.graph() == nullptr ? tr("No network is open") : tr("The network is empty"));
        return;
    }
    bringUpToDate();
    painter.drawPixmap(0, 0, m_drawn);
    painter.setRenderHint(QPainter::Antialiasing);
    paintOverview(painter);
    if (m_layouter->isWaiting()) {
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(viewport()->rect().adjusted(10, 8, -10, -8), Qt::AlignTop | Qt::AlignLeft,
                         tr("Computing a better layout…"));
    }
}

QImage GraphView::image(double scale) const
{
    const QSizeF size = m_scene.size();
    scale = std::min({scale, kMaxImageSide / size.width(), kMaxImageSide / size.height(),
                      std::sqrt(kMaxImagePixels / (size.width() * size.height()))});
    QImage picture((size * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
    picture.fill(palette().color(QPalette::Base));
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    m_scene.paint(painter, QRectF(QPointF(), size), std::max(scale, 1.0), palette(), false);
    return picture;
}

QByteArray GraphView::svg() const
{
    QBuffer out;
    QSvgGenerator svg;
    svg.setOutputDevice(&out);
    svg.setSize(m_scene.size().toSize());
    svg.setViewBox(QRectF(QPointF(), m_scene.size()));
    svg.setTitle(m_scene.graph() != nullptr ? QString::fromStdString(m_scene.graph()->name) : QString());
    QPainter painter(&svg);
    painter.fillRect(QRectF(QPointF(), m_scene.size()), palette().color(QPalette::Base));
    m_scene.paint(painter, QRectF(QPointF(), m_scene.size()), 1, palette(), false);
    painter.end();
    return out.data();
}

bool GraphView::savePicture(const QString& file) const
{
    if (m_scene.graph() == nullptr)
        return false;
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return false;
    if (file.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
        const QByteArray picture = svg();
        if (out.write(picture) != picture.size())
            return false;
    } else if (!image(2).save(&out, "PNG")) {
        return false;
    }
    return out.commit();
}

} // namespace lathe::ui
