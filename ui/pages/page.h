#pragma once

#include <QWidget>

namespace lathe::ui {

class WindowActions;

/// What happens in the window that people want to look at, each on one page.
enum class Occasion
{
    NetworkOpened,
    RunStarted,
    LogsImported,
    IssueRaised,
    FindWanted ///< with the focus where nothing is to be searched
};

/// A tab or dock of the window: shows something of the workspace, and brings what can be done with it. A page gets
/// everything from the workspace: the session's events (bridge().eventsArrived), models, the linked selection; sets its
/// texts inside retranslated() (ui/models/language.h); does what blocks as a job (ui/bridge/jobs.h); and is destroyed
/// before the workspace. The window knows of it no more than this; shell/page_registry.cpp says which there are.
class Page : public QWidget
{
    Q_OBJECT

public:
    using QWidget::QWidget;

    /// Adds its actions, with their places in the menus. Called once, when the window has all its pages; the actions
    /// outlive the page by no more than the end of the window.
    virtual void contribute(WindowActions&) {}
    /// The window brings it to the front then; of several pages the first.
    virtual bool isFor(Occasion) const { return false; }
    /// Puts the focus into its search field. For Occasion::FindWanted, once it is in front.
    virtual void startFind() {}

signals:
    /// It has something to show: the window brings it to the front, and gives it the focus.
    void frontRequested();
    /// How many entries it has that want to be looked at; the window writes it where the page's name stands. 0: nothing.
    void countChanged(int count);
};

} // namespace lathe::ui
