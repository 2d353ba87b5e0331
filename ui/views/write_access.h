#pragma once

#include <QString>

QT_BEGIN_NAMESPACE
class QAction;
class QWidget;
QT_END_NAMESPACE

namespace lathe::ui {

// What changes the project is disabled while it may not be written to, and says why in its tool tip.

/// `whyNot` empty: the project may be written to; `enabled` decides, and the tool tip is its own again.
void enableToWrite(QWidget& widget, bool enabled, const QString& whyNot);
void enableToWrite(QAction& action, bool enabled, const QString& whyNot);

} // namespace lathe::ui
