#pragma once

#include <QSize>
#include <QStringList>

#include <vector>

QT_BEGIN_NAMESPACE
class QPainter;
QT_END_NAMESPACE

namespace lathe::ui {

/// What a view that paints its contents itself implements, beside QWidget, so that they can be copied, saved and
/// dragged out (view_export.h). Item views need not: their rows are taken from their model.
class Exportable
{
public:
    virtual ~Exportable() = default;

    /// In logical pixels; empty while there is nothing to see.
    virtual QSize pictureSize() const = 0;
    /// The view as it is seen, into (0, 0) to pictureSize(), background included.
    virtual void paintPicture(QPainter& painter) const = 0;
    /// What the picture shows as numbers, headings first; decimals with '.'.
    virtual std::vector<QStringList> exportRows() const = 0;
};

} // namespace lathe::ui
