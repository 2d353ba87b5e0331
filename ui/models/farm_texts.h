#pragma once

#include "core/session/farm_history.h"
#include "core/session/farm_view.h"

#include <QColor>
#include <QString>

#include <string>

namespace lathe::ui {

// What is said of a farm, in the window's language. What other machines tell is text for people, and never markup.

/// "○ free": a sign and a word, so that the colour is not needed.
QString farmStateText(session::FarmDeviceState state);
/// Behind the text; sees through to light and dark.
QColor farmStateColor(session::FarmDeviceState state);
/// What may be expected of a device in this state, in one sentence.
QString farmStateTip(session::FarmDeviceState state);
/// "12 s", "3 min 5 s", "2 h 10 min", "4 d 3 h".
QString spanText(double seconds);
/// Whose run has it, or is offered it: "ada-pc, lathe-cli tune zoo:mlp"; empty: nobody's. `me`: who we are there, who
/// is told so.
QString farmRunText(const session::FarmDeviceView& device, const QString& me);
/// "sim, cpu": its kinds.
QString farmHardwareText(const session::FarmDeviceView& device);
/// "Load", "Temperature"; the device's own word where nobody knows it.
QString healthTitle(const std::string& figure);
QString healthUnit(const std::string& figure);
/// "0.52", "61 °C"; never longer than a dozen letters, whatever the value.
QString healthText(const std::string& figure, double value);
QString farmFaultText(const session::FarmFault& fault);
/// A tool tip of what another machine said: Qt takes some texts for markup by themselves.
QString plainTip(const QString& text);

} // namespace lathe::ui
