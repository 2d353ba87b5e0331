#pragma once

namespace lathe::ui {

/// Whether the desktop is to tell when a run has ended; remembered in the settings.
bool noticesWanted();
void setNoticesWanted(bool wanted);

/// Whether closing the window is asked about while a run goes on; likewise.
bool closingIsAskedAbout();
void setClosingIsAskedAbout(bool asked);

} // namespace lathe::ui
