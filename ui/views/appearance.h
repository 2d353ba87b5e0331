#pragma once

#include <QString>

#include <optional>

namespace lathe::ui {

enum class Appearance
{
    System, ///< light or dark as the desktop wishes, else as its palette
    Light,
    Dark
};

QString appearanceName(Appearance appearance);
Appearance storedAppearance();
/// Fusion with our palettes; remembered in the settings.
void applyAppearance(Appearance appearance);
/// What the desktop said; nothing: it has no wish, its palette counts. Takes effect where the appearance is the system's.
/// Remembered, so that the next start begins with it.
void setSystemDark(std::optional<bool> dark);

} // namespace lathe::ui
