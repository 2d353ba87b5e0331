#pragma once

namespace lathe::ui {

/// Whether the desktop is to tell when a run has ended; remembered in the settings.
bool noticesWanted();
void setNoticesWanted(bool wanted);

} // namespace lathe::ui
