#pragma once

#include <QPointF>
#include <QWidget>

namespace lathe::ui {

/// A grip in the lower right corner of a view by which its contents are dragged out, where a drag inside the view means
/// something else. By keyboard they are copied (Ctrl+C).
class DragHandle final : public QWidget
{
    Q_OBJECT

public:
    explicit DragHandle(QWidget& view);
    static constexpr int kRoom = 24; ///< pixels of the view's right end that texts at its lower edge leave to the grip

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    void place();
    QWidget& m_view;
    QPointF m_pressed;
};

} // namespace lathe::ui
