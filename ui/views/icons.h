#pragma once

#include <QIcon>
#include <QPalette>

namespace lathe::ui {

enum class Glyph
{
    Open,
    Start,
    Resume,
    Pause,
    Stop,
    Export
};

/// Drawn in the palette's button text colour, so that it shows on light and dark, enabled and disabled, at any scale.
QIcon glyphIcon(Glyph glyph, const QPalette& palette);

} // namespace lathe::ui
