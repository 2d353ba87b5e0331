#include "ui/models/farm_texts.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

using session::FarmDeviceState;

QString say(const char* text)
{
    return QCoreApplication::translate("Farm", text);
}

} // namespace

QString farmStateText(FarmDeviceState state)
{
    switch (state) {
    case FarmDeviceState::Free: return QStringLiteral("○ ") + say(QT_TRANSLATE_NOOP("Farm", "free"));
    case FarmDeviceState::Offered: return QStringLiteral("◔ ") + say(QT_TRANSLATE_NOOP("Farm", "offered"));
    case FarmDeviceState::Busy: return QStringLiteral("● ") + say(QT_TRANSLATE_NOOP("Farm", "busy"));
    case FarmDeviceState::Draining: return QStringLiteral("◐ ") + say(QT_TRANSLATE_NOOP("Farm", "draining"));
    case FarmDeviceState::Drained: return QStringLiteral("– ") + say(QT_TRANSLATE_NOOP("Farm", "drained"));
    case FarmDeviceState::Sick: return QStringLiteral("▲ ") + say(QT_TRANSLATE_NOOP("Farm", "sick"));
    case FarmDeviceState::Lost: return QStringLiteral("✕ ") + say(QT_TRANSLATE_NOOP("Farm", "lost"));
    }
    return {};
}

QColor farmStateColor(FarmDeviceState state)
{
    // Of the colours that charts tell series apart by (plot_axes.h).
    switch (state) {
    case FarmDeviceState::Free: return {0x00, 0x9e, 0x73, 80};
    case FarmDeviceState::Offered: return {0x56, 0xb4, 0xe9, 70};
    case FarmDeviceState::Busy: return {0x00, 0x72, 0xb2, 90};
    case FarmDeviceState::Draining:
    case FarmDeviceState::Drained: return {0x80, 0x80, 0x80, 80};
    case FarmDeviceState::Sick: return {0xe6, 0x9f, 0x00, 110};
    case FarmDeviceState::Lost: return {0xd5, 0x5e, 0x00, 110};
    }
    return {};
}

QString farmStateTip(FarmDeviceState state)
{
    switch (state) {
    case FarmDeviceState::Free: return say(QT_TRANSLATE_NOOP("Farm", "Nobody has it; the next run gets it"));
    case FarmDeviceState::Offered:
        return say(QT_TRANSLATE_NOOP("Farm", "Offered to a program that has not taken it yet"));
    case FarmDeviceState::Busy: return say(QT_TRANSLATE_NOOP("Farm", "A run has it"));
    case FarmDeviceState::Draining:
        return say(QT_TRANSLATE_NOOP("Farm", "A run has it; nobody gets it afterwards until it is resumed"));
    case FarmDeviceState::Drained: return say(QT_TRANSLATE_NOOP("Farm", "Nobody gets it until it is resumed"));
    case FarmDeviceState::Sick:
        return say(QT_TRANSLATE_NOOP("Farm", "Its own checks fail: nobody gets it until they pass again"));
    case FarmDeviceState::Lost:
        return say(QT_TRANSLATE_NOOP("Farm", "Nothing is heard of it any more: it is off, or cannot reach the broker"));
    }
    return {};
}

QString spanText(double seconds)
{
    const auto whole = static_cast<qint64>(std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e9) : 0.0);
    if (whole < 60)
        return say(QT_TRANSLATE_NOOP("Farm", "%1 s")).arg(whole);
    if (whole < 3600)
        return say(QT_TRANSLATE_NOOP("Farm", "%1 min %2 s")).arg(whole / 60).arg(whole % 60);
    if (whole < 86400)
        return say(QT_TRANSLATE_NOOP("Farm", "%1 h %2 min")).arg(whole / 3600).arg(whole / 60 % 60);
    return say(QT_TRANSLATE_NOOP("Farm", "%1 d %2 h")).arg(whole / 86400).arg(whole / 3600 % 24);
}

QString farmRunText(const session::FarmDeviceView& device, const QString& me)
{
    if (device.user.empty())
        return {};
    QString user = QString::fromStdString(device.user);
    if (user == me)
        user = say(QT_TRANSLATE_NOOP("Farm", "you (%1)")).arg(me);
    return device.program.empty() ? user : user + QStringLiteral(", ") + QString::fromStdString(device.program);
}

QString farmHardwareText(const session::FarmDeviceView& device)
{
    QStringList names;
    for (const session::FarmDeviceView::Part& part : device.parts) {
        const QString name = QString::fromStdString(part.name.empty() ? part.kind : part.name);
        if (!name.isEmpty() && !names.contains(name))
            names << name;
    }
    return names.join(QStringLiteral(", "));
}

QString healthTitle(const std::string& figure)
{
    if (figure == "load")
        return say(QT_TRANSLATE_NOOP("Farm", "Load"));
    if (figure == "memory_free_mb")
        return say(QT_TRANSLATE_NOOP("Farm", "Free memory"));
    if (figure == "temperature_c")
        return say(QT_TRANSLATE_NOOP("Farm", "Temperature"));
    if (figure == "clock_mhz")
        return say(QT_TRANSLATE_NOOP("Farm", "Clock"));
    return QString::fromStdString(figure);
}

QString healthUnit(const std::string& figure)
{
    return figure == "memory_free_mb"  ? QStringLiteral("MB")
           : figure == "temperature_c" ? QStringLiteral("°C")
           : figure == "clock_mhz"     ? QStringLiteral("MHz")
                                       : QString();
}

QString healthText(const std::string& figure, double value)
{
    if (!std::isfinite(value))
        return QStringLiteral("–");
    const QString unit = healthUnit(figure);
    const bool plain = std::abs(value) < 1e7;
    const QString number = figure == "load" ? QString::number(value, plain ? 'f' : 'g', plain ? 2 : 3)
                           : unit.isEmpty() ? QString::number(value, 'g', 5)
                           : plain          ? QString::number(value, 'f', 0)
                                            : QString::number(value, 'g', 3);
    return unit.isEmpty() ? number : number + QLatin1Char(' ') + unit;
}

QString farmFaultText(const session::FarmFault& fault)
{
    using Kind = session::FarmFault::Kind;
    const QString text = QString::fromStdString(fault.text);
    switch (fault.kind) {
    case Kind::Lost: return say(QT_TRANSLATE_NOOP("Farm", "✕ Lost: nothing was heard of it any more"));
    case Kind::Sick:
        return text.isEmpty() ? say(QT_TRANSLATE_NOOP("Farm", "▲ Sick: its own checks failed"))
                              : say(QT_TRANSLATE_NOOP("Farm", "▲ Sick: %1")).arg(text);
    case Kind::Failed: return say(QT_TRANSLATE_NOOP("Farm", "! Error: %1")).arg(text);
    case Kind::Back: return say(QT_TRANSLATE_NOOP("Farm", "✓ Back, and well"));
    }
    return {};
}

QString plainTip(const QString& text)
{
    return text.isEmpty() ? QString() : QStringLiteral("<qt>%1</qt>").arg(text.toHtmlEscaped());
}

} // namespace lathe::ui
