#include "ui/shell/window_layout.h"

#include "ui/commands/window_actions.h"
#include "ui/dialogs/manual_window.h"
#include "ui/models/language.h"
#include "ui/pages/page.h"
#include "ui/shell/pane_bar.h"

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
#include <utility>

namespace lathe::ui {

namespace {

// Raised when docks come, go or change their names: older layouts are then left alone.
constexpr int kLayoutVersion = 2;
// Below this width of the window the three columns of the default layout would squeeze each other: neither the tasks'
// figures nor what the pages say would have room.
constexpr int kNarrow = 1100;

Qt::DockWidgetArea area(PagePlace place)
{
    switch (place) {
    case PagePlace::Left: return Qt::LeftDockWidgetArea;
    case PagePlace::Right: return Qt::RightDockWidgetArea;
    default: return Qt::BottomDockWidgetArea;
    }
}

} // namespace

WindowLayout::WindowLayout(QMainWindow& window, Workspace& workspace, QWidget* start, std::span<const PageEntry> pages)
    : QObject(&window)
    , m_window(window)
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
    m_panes = new PaneBar(&window);
    window.addToolBar(Qt::BottomToolBarArea, m_panes);
    connect(m_panes, &PaneBar::chosen, this, &WindowLayout::toggle);
    for (const PageEntry& entry : pages) {
        Placed placed{entry, entry.make(workspace, &window)};
        ManualWindow::setTopic(placed.page, QLatin1String(entry.id)); // each page has its topic
        if (entry.place == PagePlace::Center) {
            const int tab = m_tabs->addTab(placed.page, QString());
            retranslated(placed.page, [this, placed, tab] { m_tabs->setTabText(tab, title(placed)); });
        } else {
            placed.dock = new QDockWidget(&window);
            placed.dock->setObjectName(QLatin1String(entry.id) + QStringLiteral("Dock"));
            placed.dock->setWidget(placed.page);
            window.addDockWidget(area(entry.place), placed.dock);
            retranslated(placed.dock, [placed] { placed.dock->setWindowTitle(title(placed)); });
            if (entry.place == PagePlace::Bottom)
                m_panes->add(entry.id, entry.title, *placed.page, *placed.dock);
        }
        connect(placed.page, &Page::frontRequested, this, [this, placed] { show(placed, true); });
        m_pages.push_back(placed);
    }
    retranslated(m_tabs, [this] { m_tabs->setAccessibleName(tr("Views of the network")); });
    arrange();
    m_work = window.saveState(kLayoutVersion);
    m_atStart = false; // so that the docks are hidden now
    showStart();
}

QString WindowLayout::title(const Placed& placed)
{
    return QCoreApplication::translate("Pages", placed.entry.title);
}

void WindowLayout::addPageActions(WindowActions& actions)
{
    for (const Placed& placed : m_pages)
        placed.page->contribute(actions);
}

void WindowLayout::addActions(WindowActions& actions)
{
    int tab = 0;
    for (const Placed& placed : m_pages) {
        const QByteArray id = QByteArrayLiteral("page.") + placed.entry.id;
        QList<QKeySequence> keys;
        if (placed.dock == nullptr && tab < 9)
            keys = {QKeySequence(static_cast<int>(Qt::ALT) | (Qt::Key_1 + tab++))};
        QAction* go = actions.add(id.constData(), placed.entry.title, keys, MenuPlace{MenuSection::GoPages},
                                  [this, placed] { show(placed, true); });
        // The page's name belongs to the context of the pages; the palette and menus say what the action does.
        retranslated(go, [go, placed] { go->setText(tr("Show %1").arg(title(placed))); });
        if (placed.dock == nullptr)
            continue;
        const QByteArray toggle = QByteArrayLiteral("dock.") + placed.entry.id;
        QAction* action = placed.dock->toggleViewAction();
        action->setObjectName(QLatin1String(toggle));
        actions.adopt(action);
    }
}

QList<QAction*> WindowLayout::dockActions() const
{
    QList<QAction*> actions;
    for (const Placed& placed : m_pages)
        if (placed.dock != nullptr)
            actions << placed.dock->toggleViewAction();
    return actions;
}

QDockWidget* WindowLayout::firstDock(PagePlace place) const
{
    const auto found = std::find_if(m_pages.begin(), m_pages.end(),
                                    [place](const Placed& placed) { return placed.entry.place == place; });
    return found == m_pages.end() ? nullptr : found->dock;
}

void WindowLayout::arrange()
{
    QDockWidget* const left = firstDock(PagePlace::Left);
    QDockWidget* const bottom = firstDock(PagePlace::Bottom);
    const bool narrow = m_window.width() < kNarrow;
    for (const Placed& placed : m_pages) {
        const PagePlace place = placed.entry.place;
        if (placed.dock == nullptr)
            continue;
        const bool folded = narrow && place == PagePlace::Right; // behind the left column
        placed.dock->setFloating(false);
        m_window.addDockWidget(folded ? Qt::LeftDockWidgetArea : area(place), placed.dock);
        placed.dock->setVisible(place != PagePlace::Bottom); // those open from the strip, or when they have something
        if (place == PagePlace::Bottom && placed.dock != bottom)
            m_window.tabifyDockWidget(bottom, placed.dock);
        if (folded && left != nullptr)
            m_window.tabifyDockWidget(left, placed.dock);
    }
    if (left == nullptr)
        return;
    left->raise();
    // A task's operator and shape fit into a line beside share, latency, curve and budget: "conv2d 3x3 64->64 @56".
    const int column = std::clamp(m_window.width() * (narrow ? 44 : 35) / 100, 170, 450);
    const int properties = std::min(column * 2 / 3, 300);
    if (QDockWidget* const right = firstDock(PagePlace::Right); narrow || right == nullptr)
        m_window.resizeDocks({left}, {column}, Qt::Horizontal);
    else
        m_window.resizeDocks({left, right}, {column, properties}, Qt::Horizontal);
}

void WindowLayout::showStart()
{
    if (m_atStart)
        return;
    m_work = m_window.saveState(kLayoutVersion);
    m_atStart = true;
    m_center->setCurrentIndex(0);
    for (const Placed& placed : m_pages)
        if (placed.dock != nullptr)
            placed.dock->hide();
    m_center->currentWidget()->setFocus();
}

void WindowLayout::showWork()
{
    if (!m_atStart)
        return;
    m_atStart = false;
    m_center->setCurrentIndex(1);
    m_window.restoreState(m_work, kLayoutVersion);
    if (std::exchange(m_untouched, false))
        arrange(); // now that the window has its size
}

QWidget* WindowLayout::currentPage() const
{
    return m_tabs->currentWidget();
}

Page* WindowLayout::showFor(Occasion occasion, bool focus)
{
    const auto found = std::find_if(m_pages.begin(), m_pages.end(),
                                    [occasion](const Placed& placed) { return placed.page->isFor(occasion); });
    if (found == m_pages.end())
        return nullptr;
    show(*found, focus);
    return found->page;
}

void WindowLayout::show(const Placed& placed, bool focus)
{
    if (placed.dock != nullptr) {
        if (m_atStart && m_window.dockWidgetArea(placed.dock) != Qt::BottomDockWidgetArea)
            return;
        raiseAlone(placed.dock);
    } else if (!m_atStart) {
        m_tabs->setCurrentWidget(placed.page);
    }
    if (focus)
        placed.page->setFocus(Qt::ShortcutFocusReason);
}

void WindowLayout::raiseAlone(QDockWidget* dock)
{
    const auto isInStrip = [this](QDockWidget* other) {
        return !other->isFloating() && m_window.dockWidgetArea(other) == Qt::BottomDockWidgetArea;
    };
    const bool wasHidden = dock->isHidden();
    if (isInStrip(dock))
        for (const Placed& placed : m_pages)
            if (placed.dock != nullptr && placed.dock != dock && placed.entry.place == PagePlace::Bottom
                && isInStrip(placed.dock))
                placed.dock->hide();
    dock->show();
    dock->raise();
    if (wasHidden && isInStrip(dock))
        m_window.resizeDocks({dock}, {std::clamp(m_window.height() / 4, 90, 260)}, Qt::Vertical);
}

void WindowLayout::toggle(QDockWidget* dock)
{
    if (!dock->isHidden() && !dock->visibleRegion().isEmpty()) {
        dock->hide();
        return;
    }
    raiseAlone(dock);
}

void WindowLayout::focusPane(int direction)
{
    std::vector<QWidget*> panes;
    for (auto* bar : m_window.findChildren<QToolBar*>(QString(), Qt::FindDirectChildrenOnly))
        if (bar->isVisible())
            panes.push_back(bar);
    panes.push_back(m_center);
    for (const Placed& placed : m_pages)
        if (placed.dock != nullptr && placed.dock->isVisible() && !placed.dock->visibleRegion().isEmpty())
            panes.push_back(placed.dock);
    const QWidget* focus = QApplication::focusWidget();
    const auto here = std::find_if(panes.begin(), panes.end(), [focus](const QWidget* pane) {
        return focus != nullptr && (pane == focus || pane->isAncestorOf(focus));
    });
    const auto count = static_cast<int>(panes.size());
    const int at = here == panes.end() ? (direction > 0 ? -1 : 0) : static_cast<int>(here - panes.begin());
    for (int i = 1; i <= count; ++i) {
        QWidget* pane = panes[static_cast<std::size_t>((at + direction * i + count * count) % count)];
        QWidget* target = pane == m_center ? (m_atStart ? m_center->widget(0) : m_tabs->currentWidget()) : pane;
        if (auto* dock = qobject_cast<QDockWidget*>(pane))
            target = dock->widget();
        // What a page gives the focus to by itself, else its first field.
        if (target != nullptr && target->focusProxy() == nullptr && target->focusPolicy() == Qt::NoFocus) {
            QWidget* first = nullptr;
            for (QWidget* next = target->nextInFocusChain(); next != target && first == nullptr;
                 next = next->nextInFocusChain())
                if (target->isAncestorOf(next) && next->isVisible() && next->isEnabled()
                    && (next->focusPolicy() & Qt::TabFocus) != 0)
                    first = next;
            target = first;
        }
        if (target == nullptr)
            continue;
        target->setFocus(direction > 0 ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        if (const QWidget* now = QApplication::focusWidget();
            now != nullptr && (pane == now || pane->isAncestorOf(now)))
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
    m_untouched = false;
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
        if (!stored.isEmpty()) {
            m_work = stored;
            m_untouched = false;
        }
    }
}

void WindowLayout::store()
{
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), m_window.saveGeometry());
    settings.setValue(QStringLiteral("window/layout"), m_atStart ? m_work : m_window.saveState(kLayoutVersion));
}

} // namespace lathe::ui
