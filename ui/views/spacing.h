#pragma once

/// Distances in layouts, in device-independent pixels: every page, dock, bar and dialog takes them from this table
/// (tst_ui_rules checks that), so that what belongs together stands at equal distances everywhere. Layouts that set
/// none have those of the style.
namespace lathe::ui::spacing {

inline constexpr int kNone = 0; ///< content that reaches its frame: tables, charts, the graph
inline constexpr int kHair = 2; ///< between a view and the bar that belongs to it
inline constexpr int kSmall = 4; ///< around a page's content; between the controls of a bar
inline constexpr int kMedium = 8; ///< around text in a bar; between groups of controls
inline constexpr int kLarge = 16; ///< between the parts of the start page
inline constexpr int kPage = 24; ///< around the start page

} // namespace lathe::ui::spacing
