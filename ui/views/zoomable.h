#pragma once

#include <QWidget>

namespace lathe::ui {

/// What a view that can be zoomed implements, beside QWidget: the commands of the View menu act on the one that has the
/// focus.
class Zoomable
{
public:
    virtual ~Zoomable() = default;

    virtual void zoomBy(double factor) = 0; ///< about the middle; above 1: closer
    virtual void zoomToFit() = 0;
};

/// The widget, or the nearest one around it, that can be zoomed; null: there is none.
inline Zoomable* zoomableView(QWidget* widget)
{
    for (; widget != nullptr; widget = widget->parentWidget())
        if (auto* const zoomable = dynamic_cast<Zoomable*>(widget))
            return zoomable;
    return nullptr;
}

} // namespace lathe::ui
