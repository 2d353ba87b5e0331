#include "ui/shell/pane_bar.h"

#include "ui/models/language.h"
#include "ui/pages/page.h"

#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>
#include <QLocale>

namespace lathe::ui {

PaneBar::PaneBar(QWidget* parent)
    : QToolBar(parent)
{
    setObjectName(QStringLiteral("paneBar"));
    setMovable(false);
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    retranslated(this, [this] {
        setWindowTitle(tr("Panes"));
        setAccessibleName(tr("Panes at the bottom"));
    });
}

void PaneBar::add(const char* id, const char* title, Page& page, QDockWidget& dock)
{
    QAction* button = addAction(QString());
    button->setObjectName(QStringLiteral("pane.") + QLatin1String(id));
    button->setCheckable(true);
    const auto name = [button, title] {
        const QString text = QCoreApplication::translate("Pages", title);
        const int count = button->data().toInt();
        button->setText(
            count == 0 ? text
                       : QStringLiteral("%1  %2").arg(text, QLocale(Language::instance().current()).toString(count)));
        button->setToolTip(tr("Shows or hides this pane"));
    };
    retranslated(button, name);
    if (QWidget* shown = widgetForAction(button))
        shown->setObjectName(QStringLiteral("pane.") + QLatin1String(id) + QStringLiteral("Button"));
    connect(&page, &Page::countChanged, button, [button, name](int count) {
        button->setData(count);
        name();
    });
    connect(&dock, &QDockWidget::visibilityChanged, button, [this, button, &dock] { follow(button, dock); });
    connect(button, &QAction::triggered, this, [this, button, &dock] {
        follow(button, dock); // the click alone changes nothing
        emit chosen(&dock);
    });
}

void PaneBar::follow(QAction* button, const QDockWidget& dock)
{
    button->setChecked(!dock.isHidden() && !dock.visibleRegion().isEmpty());
}

} // namespace lathe::ui
