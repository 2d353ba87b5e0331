#include "ui/commands/window_actions.h"

#include "ui/bridge/session_bridge.h"
#include "ui/commands/action_catalog.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QMenuBar>

#include <algorithm>
#include <array>

namespace lathe::ui {

namespace {

/// The sections from `first` to the next menu's are this menu's.
struct MenuTitle
{
    MenuSection first;
    const char* title;
};

constexpr std::array kMenus{
    MenuTitle{MenuSection::FileOpen, QT_TRANSLATE_NOOP("Menus", "&File")},
    MenuTitle{MenuSection::EditUndo, QT_TRANSLATE_NOOP("Menus", "&Edit")},
    MenuTitle{MenuSection::RunControl, QT_TRANSLATE_NOOP("Menus", "&Run")},
    MenuTitle{MenuSection::GoMove, QT_TRANSLATE_NOOP("Menus", "&Go")},
    MenuTitle{MenuSection::ViewPicture, QT_TRANSLATE_NOOP("Menus", "&View")},
    MenuTitle{MenuSection::HelpManual, QT_TRANSLATE_NOOP("Menus", "&Help")},
};

const MenuTitle& menuOf(MenuSection section)
{
    return *std::prev(std::upper_bound(kMenus.begin(), kMenus.end(), section,
                                       [](MenuSection wanted, const MenuTitle& menu) { return wanted < menu.first; }));
}

} // namespace

WindowActions::WindowActions(Workspace& workspace, ActionCatalog& catalog, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_catalog(catalog)
{
}

QAction* WindowActions::add(const char* id, const char* text, const QList<QKeySequence>& keys,
                            std::optional<MenuPlace> at, std::function<void()> run)
{
    QAction* action = m_catalog.add(id, text, keys, std::move(run));
    if (at)
        place(action, *at);
    return action;
}

QAction* WindowActions::addWhileOpen(const char* id, const char* text, const QList<QKeySequence>& keys,
                                     std::optional<MenuPlace> at, std::function<void()> run)
{
    QAction* action = add(id, text, keys, at, std::move(run));
    action->setEnabled(m_workspace.session() != nullptr);
    connect(&m_workspace.bridge(), &SessionBridge::opened, action, [action] { action->setEnabled(true); });
    connect(&m_workspace.bridge(), &SessionBridge::closed, action, [action] { action->setEnabled(false); });
    return action;
}

QAction* WindowActions::addCommandLine(const char* id, const char* text, int rank,
                                       std::function<QString(const session::OpenOptions&)> make)
{
    return addWhileOpen(id, text, {}, MenuPlace{MenuSection::RunCommands, rank}, [this, make = std::move(make)] {
        if (m_workspace.session() == nullptr)
            return;
        const QString line = make(m_workspace.session()->options());
        QApplication::clipboard()->setText(line);
        emit commandLineCopied(line);
    });
}

void WindowActions::adopt(QAction* action, std::optional<MenuPlace> at)
{
    m_catalog.adopt(action);
    if (at)
        place(action, *at);
}

void WindowActions::place(QAction* entry, MenuPlace at)
{
    m_entries.push_back({at, entry});
}

void WindowActions::fill(QMenuBar& bar) const
{
    std::vector<Entry> entries = m_entries;
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::pair(a.place.section, a.place.rank) < std::pair(b.place.section, b.place.rank);
    });
    const MenuTitle* title = nullptr;
    QMenu* menu = nullptr;
    MenuSection section{};
    for (const Entry& entry : entries) {
        if (const MenuTitle& wanted = menuOf(entry.place.section); title != &wanted) {
            title = &wanted;
            menu = bar.addMenu(QString());
            retranslated(menu, [menu, title] { menu->setTitle(QCoreApplication::translate("Menus", title->title)); });
        } else if (entry.place.section != section) {
            menu->addSeparator();
        }
        section = entry.place.section;
        menu->addAction(entry.action);
    }
}

} // namespace lathe::ui
