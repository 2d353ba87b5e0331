#pragma once

#include <QLabel>

namespace lathe::ui {

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
