#pragma once

#include <QString>

namespace lathe::ui {

enum class Appearance
{
    System, ///< light or dark as the desktop's palette
    Light,
    Dark
};

QString appearanceName(Appearance appearance);
Appearance storedAppearance();
/// Fusion with our palettes; remembered in the settings.
void applyAppearance(Appearance appearance);

} // namespace lathe::ui
