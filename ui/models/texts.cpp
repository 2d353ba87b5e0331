#include "ui/models/texts.h"

#include <QStringList>

#include <cmath>

namespace lathe::ui {

QString msText(double value)
{
    return std::isfinite(value) ? QStringLiteral("%1 ms").arg(value, 0, 'f', value < 1 ? 4 : 3) : QStringLiteral("–");
}

QString minutesText(double seconds)
{
    const auto whole = static_cast<qint64>(seconds);
    const auto two = [](qint64 n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
    if (whole >= 3600)
        return QStringLiteral("%1:%2:%3").arg(whole / 3600).arg(two(whole / 60 % 60), two(whole % 60));
    return QStringLiteral("%1:%2").arg(whole / 60).arg(two(whole % 60));
}

QString shapeText(const session::TensorView& tensor)
{
    QStringList dims;
    for (const auto dim : tensor.shape)
        dims << QString::number(dim);
    return dims.join(QStringLiteral("×"));
}

QString withoutMnemonic(QString text)
{
    if (const auto bracket = text.indexOf(QStringLiteral("(&")); bracket >= 0 && bracket + 3 < text.size() && text[bracket + 3] == QLatin1Char(')'))
        text.remove(bracket, 4);
    return text.remove(QLatin1Char('&'));
}

} // namespace lathe::ui
