#pragma once

#include "core/session/session.h"

#include <QKeySequence>
#include <QList>
#include <QObject>

#include <functional>
#include <optional>
#include <vector>

QT_BEGIN_NAMESPACE
class QAction;
class QMenuBar;
QT_END_NAMESPACE

namespace lathe::ui {

class ActionCatalog;
class Workspace;

/// The sections of the window's menus, in the order in which they stand. A line parts two sections of a menu.
enum class MenuSection
{
    FileOpen,
    FileImport,
    FileSave,
    FileQuit,
    EditUndo,
    EditCopy,
    EditNotes,
    EditFind,
    EditSettings,
    RunControl,
    RunBegin,
    RunReplay,
    RunCommands, ///< command lines of what the window does
    GoMove,
    GoPages,
    ViewPicture, ///< what is done to a picture: zoom, fold, save
    ViewWindow,
    HelpManual,
    HelpAbout
};

/// Where an entry stands in the menus. Entries of a section stand by their ranks, equal ones as they came; the
/// window's own have 10, 20, 30 ...
struct MenuPlace
{
    MenuSection section;
    int rank = 1000;
};

/// What the window and its pages bring: actions, which the command palette, the settings and the manual list, and their
/// places in the menus. GUI thread.
class WindowActions final : public QObject
{
    Q_OBJECT

public:
    WindowActions(Workspace& workspace, ActionCatalog& catalog, QObject* parent);

    /// A command. `id` is the action's objectName and its key in the settings; `text` in English, shown translated in
    /// the context "Actions". Without a place it is found by its keys and in the palette.
    QAction* add(const char* id, const char* text, const QList<QKeySequence>& keys, std::optional<MenuPlace> place,
                 std::function<void()> run);
    /// The same, which can be used while a network is open.
    QAction* addWhileOpen(const char* id, const char* text, const QList<QKeySequence>& keys,
                          std::optional<MenuPlace> place, std::function<void()> run);
    /// Copies the command line that does what the window does; of the network that is open.
    QAction* addCommandLine(const char* id, const char* text, int rank,
                            std::function<QString(const session::OpenOptions&)> make);
    /// An action made elsewhere, which sets its own text. Its shortcuts are the defaults.
    void adopt(QAction* action, std::optional<MenuPlace> place = {});
    /// An entry that is no command: a submenu (QMenu::menuAction()), or what was adopted before.
    void place(QAction* entry, MenuPlace place);

    /// Makes the menus of all that was placed.
    void fill(QMenuBar& bar) const;

signals:
    void commandLineCopied(const QString& line);

private:
    struct Entry
    {
        MenuPlace place;
        QAction* action = nullptr;
    };
    Workspace& m_workspace;
    ActionCatalog& m_catalog;
    std::vector<Entry> m_entries;
};

} // namespace lathe::ui
