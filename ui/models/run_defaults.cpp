#include "ui/models/run_defaults.h"

#include <QSettings>

namespace lathe::ui {

namespace {

const QString kBudget = QStringLiteral("budget");
const QString kHeadStart = QStringLiteral("headStart");

} // namespace

QString usualBudget()
{
    return QSettings().value(kBudget).toString();
}

void setUsualBudget(const QString& text)
{
    QSettings().setValue(kBudget, text);
}

QString usualHeadStart()
{
    return QSettings().value(kHeadStart).toString();
}

void setUsualHeadStart(const QString& choice)
{
    QSettings().setValue(kHeadStart, choice);
}

} // namespace lathe::ui
