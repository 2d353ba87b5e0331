#pragma once

#include <QLabel>

QT_BEGIN_NAMESPACE
class QFontMetricsF;
QT_END_NAMESPACE

namespace lathe::ui {

/// A name of a task, cut so that it fits: what tells it apart stands at its beginning, what it is fused with at its
/// end, so that little but its end is kept beside the beginning. "conv2d 3x3 256->256 @1…+relu".
QString elidedName(const QFontMetricsF& metrics, const QString& name, double width);

/// A line that gives way: what does not fit is cut with an ellipsis, and told by the tool tip.
class ElidedLabel final : public QLabel
{
    Q_OBJECT

public:
    using QLabel::QLabel;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace lathe::ui
