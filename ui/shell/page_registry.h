#pragma once

#include <QtGlobal>

#include <span>

QT_BEGIN_NAMESPACE
class QWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class Page;
class Workspace;

enum class PagePlace
{
    Center, ///< a tab of the central view
    Left, ///< a dock
    Right,
    Bottom
};

/// One tab or dock of the window.
struct PageEntry
{
    const char* id; ///< a dock is named <id>Dock, its toggle action and the tab's action page.<id>
    const char* title; ///< in English; shown translated in the context "Pages"
    PagePlace place;
    Page* (*make)(Workspace& workspace, QWidget* parent);
};

/// All pages, in the order in which they stand. To add a page (ui/pages/page.h), add its line to the table in
/// page_registry.cpp: that is all.
std::span<const PageEntry> pageTable();

} // namespace lathe::ui
