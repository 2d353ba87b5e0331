#pragma once

#include <QObject>
#include <QString>

#include <optional>

namespace lathe::ui {

enum class Appearance
{
    System, ///< light or dark as the desktop wishes, else as its palette
    Light,
    Dark
};

/// Tells that another appearance was chosen, wherever that was done. GUI thread.
class AppearanceWatch final : public QObject
{
    Q_OBJECT

public:
    static AppearanceWatch& instance();

signals:
    void changed();
};

QString appearanceName(Appearance appearance);
Appearance storedAppearance();
/// Fusion with our palettes; remembered in the settings.
void applyAppearance(Appearance appearance);
/// What the desktop said; nothing: it has no wish, its palette counts. Takes effect where the appearance is the
/// system's. Remembered, so that the next start begins with it.
void setSystemDark(std::optional<bool> dark);

} // namespace lathe::ui
