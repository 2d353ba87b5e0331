#include "ui/models/notice_settings.h"

#include <QSettings>

namespace lathe::ui {

namespace {
const QString kKey = QStringLiteral("notifications");
}

bool noticesWanted()
{
    return QSettings().value(kKey, true).toBool();
}

void setNoticesWanted(bool wanted)
{
    QSettings().setValue(kKey, wanted);
}

bool closingIsAskedAbout()
{
    return QSettings().value(QStringLiteral("askBeforeClosing"), true).toBool();
}

void setClosingIsAskedAbout(bool asked)
{
    QSettings().setValue(QStringLiteral("askBeforeClosing"), asked);
}

} // namespace lathe::ui
