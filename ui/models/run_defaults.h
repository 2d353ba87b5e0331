#pragma once

#include <QString>

namespace lathe::ui {

// What runs of a project begin with that has not been told otherwise: the settings' tuning defaults.

/// In words, in the language in which it was typed; empty: the first that is offered.
QString usualBudget();
void setUsualBudget(const QString& text);
/// TuneOptions::headStart.
QString usualHeadStart();
void setUsualHeadStart(const QString& choice);

} // namespace lathe::ui
