#pragma once

#include "core/session/views.h"

#include <QString>

namespace lathe::ui {

/// "1.234 ms", a dash for NaN.
QString msText(double value);
/// "3:07"
QString minutesText(double seconds);
/// "1×64×56×56"
QString shapeText(const session::TensorView& tensor);

} // namespace lathe::ui
