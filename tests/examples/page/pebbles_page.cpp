#include "tests/examples/page/pebbles_page.h"

#include "core/session/options/options.h"
#include "ui/commands/window_actions.h"

#include <QLineEdit>
#include <QMenu>

namespace lathe::examples {

PebblesPage::PebblesPage(QWidget* parent)
    : Page(parent)
    , m_find(new QLineEdit(this))
    , m_menu(new QMenu(QStringLiteral("Pe&bbles"), this))
{
    setObjectName(QStringLiteral("pebblesPage"));
    m_find->setObjectName(QStringLiteral("pebblesFind"));
    m_find->setAccessibleName(QStringLiteral("Pebbles"));
    m_menu->setObjectName(QStringLiteral("pebblesMenu"));
}

void PebblesPage::contribute(ui::WindowActions& actions)
{
    using ui::MenuPlace, ui::MenuSection;
    actions.add("pebbles.count", "Count the pe&bbles", {Qt::CTRL | Qt::ALT | Qt::Key_B},
                MenuPlace{MenuSection::EditNotes, 15}, [this] { ++counted; });
    actions.add("pebbles.whistle", "Whistle at the pebbles", {}, {}, [this] { ++whistled; });
    actions.addWhileOpen("pebbles.last", "Throw a pebble", {}, MenuPlace{MenuSection::EditNotes},
                         [this] { Q_EMIT frontRequested(); });
    actions.addCommandLine("copy.pebbles", "Copy command line: &bring pebbles", 85,
                           [](const session::OpenOptions& open) {
                               return QStringLiteral("pebbles --of %1").arg(QString::fromStdString(open.model.source));
                           });
    actions.place(m_menu->menuAction(), {MenuSection::ViewWindow});
}

bool PebblesPage::isFor(ui::Occasion occasion) const
{
    return occasion == ui::Occasion::FindWanted || occasion == ui::Occasion::NetworkOpened;
}

void PebblesPage::startFind()
{
    m_find->setFocus(Qt::ShortcutFocusReason);
}

ui::Page* makePebbles(ui::Workspace&, QWidget* parent)
{
    return new PebblesPage(parent);
}

} // namespace lathe::examples
