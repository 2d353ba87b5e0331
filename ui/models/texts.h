#pragma once

#include "core/session/events.h"
#include "core/session/input_sizes.h"
#include "core/session/views.h"

#include <QString>

#include <string>

namespace lathe::ui {

constexpr double kMicroseconds = 0.1; ///< ms: a latency below is told in microseconds
/// "1.234 ms", "87.30 µs" below 0.1 ms, a dash for NaN.
QString msText(double value);
/// "Measured in parts: 1.1 ms, ..."; empty while one is unknown.
QString estimatePartsText(const deploy::EstimateParts& parts);
/// "8.9–9.3 ms"; "at least 8.900 ms" where the upper end is a thousand times as much.
QString msRangeText(double low, double high);
/// "data 0.1 s old"; empty for NaN.
QString ageText(double seconds);
/// "3:07"
QString minutesText(double seconds);
/// "1×64×56×56"; "≤200×7" where the extent depends on data.
QString shapeText(const session::TensorView& tensor);
/// What people know a constant by: its name in the model; of one that was derived from others, theirs and what was
/// done, "conv1.weight, transposed, scaled"; of one that was made up, whose it is. `node`: who reads it.
QString weightTitle(const session::TensorView& tensor, const QString& node);
/// "batch = 1, height = 640": of what a model leaves open; empty where all is fixed.
QString inputSizesText(const std::vector<frontend::OpenDimension>& dimensions);
/// What people call a target, "OpenCL device", in the language of the window; the target's own text where nobody named
/// it.
QString targetTitle(const std::string& target);
/// What people call a device: the name that its driver gives, or in the language of the window where it is Lathe's own.
QString deviceTitle(const std::string& name);
/// A sentence with names of tasks, for labels that wrap: no line ends within "64->128".
QString unbroken(QString text);
/// An action's text without the marks of its mnemonic: "&Open" is "Open", "打开(&O)" is "打开".
QString withoutMnemonic(QString text);

} // namespace lathe::ui
