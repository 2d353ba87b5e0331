#include "ui/views/drag_handle.h"

#include "ui/models/language.h"
#include "ui/views/view_export.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>

namespace lathe::ui {

namespace {
constexpr int kSize = 18, kDots = 3, kStep = 5;
}

DragHandle::DragHandle(QWidget& view)
    : QWidget(&view)
    , m_view(view)
{
    setObjectName(QStringLiteral("dragHandle"));
    setFixedSize(kSize, kSize);
    setCursor(Qt::OpenHandCursor);
    view.installEventFilter(this);
    place();
    retranslated(this, [this] {
        setToolTip(tr("Drag to export the chart as an image"));
        setAccessibleName(toolTip());
    });
}

void DragHandle::place()
{
    move(m_view.width() - kSize - 2, m_view.height() - kSize - 2);
    raise();
}

bool DragHandle::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &m_view && event->type() == QEvent::Resize)
        place();
    return QWidget::eventFilter(watched, event);
}

void DragHandle::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(QPalette::PlaceholderText));
    for (int row = 0; row < kDots; ++row)
        for (int column = kDots - 1 - row; column < kDots; ++column) // the corner's half of a square
            painter.drawEllipse(QPointF(4 + kStep * column, 4 + kStep * row), 1.3, 1.3);
}

void DragHandle::mousePressEvent(QMouseEvent* event)
{
    m_pressed = event->position();
}

void DragHandle::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() == Qt::LeftButton
        && (event->position() - m_pressed).manhattanLength() > QApplication::startDragDistance())
        dragView(m_view);
}

} // namespace lathe::ui
