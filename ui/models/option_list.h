#pragma once

#include <QString>

namespace lathe::ui {

/// The options of lathe-cli that the option table holds, as the manual shows them: a table in Markdown for each set of
/// commands that take them.
QString optionList();

} // namespace lathe::ui
