#include "ui/shell/window_layout.h"

#include "ui/models/language.h"
#include "ui/commands/action_catalog.h"
#include "ui/shell/page_registry.h"

#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>
#include <QMainWindow>
#include <QSettings>
#include <QStackedWidget>
#include <QTabWidget>

namespace lathe::ui {

namespace {

// Raised when docks come, go or change their names: older layouts are then left alone.
constexpr int kLayoutVersion = 2;
// Below this width of the window the three columns of the default layout would squeeze each other.
constexpr int kNarrow = 900;
// Below this height the docks at the bottom stay hidden until they are asked for, or have something to say.
constexpr int kShort = 560;

Qt::DockWidgetArea area(PagePlace place)
{
    switch (place) {
    case PagePlace::Left: return Qt::LeftDockWidgetArea;
    case PagePlace::Right: return Qt::RightDockWidgetArea;
    default: return Qt::BottomDockWidgetArea;
    }
}

QString title(const PageEntry& entry)
{
    return QCoreApplication::translate("Pages", entry.title);
}

} // namespace

WindowLayout::WindowLayout(QMainWindow& window, Workspace& workspace, QWidget* start) : QObject(&window), m_window(window)
{
    m_center = new QStackedWidget(&window);
    m_tabs = new QTabWidget(m_center);
    m_tabs->setObjectName(QStringLiteral("pages"));
    m_tabs->setDocumentMode(true);
    m_tabs->setUsesScrollButtons(true);
    m_center->addWidget(start);
    m_center->addWidget(m_tabs);
    m_center->setMinimumSize(120, 80);
    window.setCentralWidget(m_center);
    window.setDockNestingEnabled(true);
    window.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    for (const PageEntry& entry : pageTable()) {
        QWidget* made = entry.make(workspace, &window);
        m_pages[entry.id] = made;
        if (entry.place == PagePlace::Center) {
            const int tab = m_tabs->addTab(made, QString());
            retranslated(made, [this, entry, tab] { m_tabs->setTabText(tab, title(entry)); });
            continue;
        }
        auto* dock = new QDockWidget(&window);
        dock->setObjectName(QLatin1String(entry.id) + QStringLiteral("Dock"));
        dock->setWidget(made);
        window.addDockWidget(area(entry.place), dock);
        m_docks[entry.id] = dock;
        retranslated(dock, [entry, dock] { dock->setWindowTitle(title(entry)); });
    }
    retranslated(m_tabs, [this] { m_tabs->setAccessibleName(tr("Views of the network")); });
    arrange();
    m_work = window.saveState(kLayoutVersion);
    m_atStart = false; // so that the docks are hidden now
    showStart();
}

void WindowLayout::addActions(ActionCatalog& actions)
{
    int tab = 0;
    for (const PageEntry& entry : pageTable()) {
        const QByteArray id = QByteArrayLiteral("page.") + entry.id;
        QList<QKeySequence> keys;
        if (entry.place == PagePlace::Center && tab < 9)
            keys = {QKeySequence(static_cast<int>(Qt::ALT) | (Qt::Key_1 + tab++))};
        QAction* go = actions.add(id.constData(), entry.title, keys, [this, entry] { showPage(entry.id); });
        // The page's name belongs to the context of the pages; the palette and menus say what the action does.
        retranslated(go, [go, entry] { go->setText(tr("Show %1").arg(title(entry))); });
        if (entry.place == PagePlace::Center)
            continue;
        QDockWidget* dock = m_docks.at(entry.id);
        const QByteArray toggle = QByteArrayLiteral("dock.") + entry.id;
        QAction* action = dock->toggleViewAction();
        action->setObjectName(QLatin1String(toggle));
        actions.adopt(action);
    }
}

void WindowLayout::arrange()
{
    QDockWidget* bottom = nullptr;
    for (const PageEntry& entry : pageTable()) {
        if (entry.place == PagePlace::Center)
            continue;
        QDockWidget* dock = m_docks.at(entry.id);
        dock->setFloating(false);
        const bool narrow = m_window.width() < kNarrow;
        m_window.addDockWidget(narrow && entry.place == PagePlace::Right ? Qt::LeftDockWidgetArea : area(entry.place), dock);
        dock->setVisible(entry.place != PagePlace::Bottom || m_window.height() >= kShort);
        if (entry.place == PagePlace::Bottom) {
            if (bottom != nullptr)
                m_window.tabifyDockWidget(bottom, dock);
            else
                bottom = dock;
        }
        if (narrow && entry.place == PagePlace::Right)
            m_window.tabifyDockWidget(m_docks.at("tasks"), dock);
    }
    if (bottom != nullptr && m_window.height() >= kShort) {
        bottom->raise();
        m_window.resizeDocks({bottom}, {std::clamp(m_window.height() / 5, 90, 220)}, Qt::Vertical);
    }
    QDockWidget* tasks = m_docks.at("tasks");
    tasks->raise();
    const int column = std::clamp(m_window.width() / 4, 170, 360);
    if (m_window.width() < kNarrow)
        m_window.resizeDocks({tasks}, {column}, Qt::Horizontal);
    else
        m_window.resizeDocks({tasks, m_docks.at("properties")}, {column, column * 9 / 10}, Qt::Horizontal);
}

void WindowLayout::showStart()
{
    if (m_atStart)
        return;
    m_work = m_window.saveState(kLayoutVersion);
    m_atStart = true;
    m_center->setCurrentIndex(0);
    for (const auto& [id, dock] : m_docks)
        dock->hide();
    m_center->currentWidget()->setFocus();
}

void WindowLayout::showWork()
{
    if (!m_atStart)
        return;
    m_atStart = false;
    m_center->setCurrentIndex(1);
    m_window.restoreState(m_work, kLayoutVersion);
}

QWidget* WindowLayout::page(std::string_view id) const
{
    const auto found = m_pages.find(id);
    return found == m_pages.end() ? nullptr : found->second;
}

void WindowLayout::showPage(std::string_view id, bool focus)
{
    QWidget* wanted = page(id);
    if (wanted == nullptr)
        return;
    if (const auto dock = m_docks.find(id); dock != m_docks.end()) {
        if (m_atStart && m_window.dockWidgetArea(dock->second) != Qt::BottomDockWidgetArea)
            return;
        dock->second->show();
        dock->second->raise();
    } else if (!m_atStart) {
        m_tabs->setCurrentWidget(wanted);
    }
    if (focus)
        wanted->setFocus(Qt::ShortcutFocusReason);
}

void WindowLayout::restoreDefault()
{
    if (m_atStart)
        return;
    arrange();
}

QStringList WindowLayout::names() const
{
    QSettings settings;
    settings.beginGroup(QStringLiteral("layouts"));
    return settings.childKeys();
}

void WindowLayout::save(const QString& name)
{
    QSettings().setValue(QStringLiteral("layouts/") + name, m_atStart ? m_work : m_window.saveState(kLayoutVersion));
}

void WindowLayout::apply(const QString& name)
{
    const QByteArray state = QSettings().value(QStringLiteral("layouts/") + name).toByteArray();
    if (m_atStart)
        m_work = state;
    else
        m_window.restoreState(state, kLayoutVersion);
}

void WindowLayout::remove(const QString& name)
{
    QSettings().remove(QStringLiteral("layouts/") + name);
}

void WindowLayout::load()
{
    QSettings settings;
    if (m_window.restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray())) {
        const QByteArray stored = settings.value(QStringLiteral("window/layout")).toByteArray();
        if (!stored.isEmpty())
            m_work = stored;
    }
}

void WindowLayout::store()
{
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), m_window.saveGeometry());
    settings.setValue(QStringLiteral("window/layout"), m_atStart ? m_work : m_window.saveState(kLayoutVersion));
}

} // namespace lathe::ui
