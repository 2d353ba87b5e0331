#include "ui/shell/window_layout.h"

#include "ui/models/language.h"
#include "ui/commands/action_catalog.h"
#include "ui/dialogs/manual_window.h"
#include "ui/shell/page_registry.h"

#include <QAction>
#include <QApplication>
#include <QCoreApplication>
#include <QDockWidget>
#include <QMainWindow>
#include <QSettings>
#include <QStackedWidget>
#include <QTabWidget>
#include <QToolBar>

#include <algorithm>

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
        ManualWindow::setTopic(made, QLatin1String(entry.id)); // each page has its topic
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

QWidget* WindowLayout::currentPage() const
{
    return m_tabs->currentWidget();
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

void WindowLayout::focusPane(int direction)
{
    std::vector<QWidget*> panes;
    for (auto* bar : m_window.findChildren<QToolBar*>(QString(), Qt::FindDirectChildrenOnly))
        if (bar->isVisible())
            panes.push_back(bar);
    panes.push_back(m_center);
    for (const PageEntry& entry : pageTable())
        if (const auto dock = m_docks.find(entry.id); dock != m_docks.end() && dock->second->isVisible() && !dock->second->visibleRegion().isEmpty())
            panes.push_back(dock->second);
    const QWidget* focus = QApplication::focusWidget();
    const auto here = std::find_if(panes.begin(), panes.end(), [focus](const QWidget* pane) { return focus != nullptr && (pane == focus || pane->isAncestorOf(focus)); });
    const auto count = static_cast<int>(panes.size());
    const int at = here == panes.end() ? (direction > 0 ? -1 : 0) : static_cast<int>(here - panes.begin());
    for (int i = 1; i <= count; ++i) {
        QWidget* pane = panes[static_cast<std::size_t>((at + direction * i + count * count) % count)];
        QWidget* target = pane == m_center ? (m_atStart ? m_center->widget(0) : m_tabs->currentWidget()) : pane;
        if (auto* dock = qobject_cast<QDockWidget*>(pane))
            target = dock->widget();
        // What a page gives the focus to by itself, else its first field.
        if (target->focusProxy() == nullptr && target->focusPolicy() == Qt::NoFocus) {
            QWidget* first = nullptr;
            for (QWidget* next = target->nextInFocusChain(); next != target && first == nullptr; next = next->nextInFocusChain())
                if (target->isAncestorOf(next) && next->isVisible() && next->isEnabled() && (next->focusPolicy() & Qt::TabFocus) != 0)
                    first = next;
            target = first;
        }
        if (target == nullptr)
            continue;
        target->setFocus(direction > 0 ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        if (const QWidget* now = QApplication::focusWidget(); now != nullptr && (pane == now || pane->isAncestorOf(now)))
            return;
    }
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
