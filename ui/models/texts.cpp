#include "ui/models/texts.h"

#include "core/session/back_ends.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kSaysNothing = 1000; ///< times the lower end of a range, from which on the upper end says nothing

} // namespace

QString msText(double value)
{
    if (!std::isfinite(value))
        return QStringLiteral("–");
    if (value != 0 && std::abs(value) < kMicroseconds) {
        const double micro = value * 1000;
        return QCoreApplication::translate("Texts", "%1 µs")
            .arg(QString::number(micro, 'f', std::abs(micro) < 10 ? 3 : 2));
    }
    return QCoreApplication::translate("Texts", "%1 ms").arg(QString::number(value, 'f', value < 1 ? 4 : 3));
}

QString msRangeText(double low, double high)
{
    if (low > 0 && high > kSaysNothing * low)
        return QCoreApplication::translate("Texts", "at least %1").arg(msText(low));
    const bool micro = std::abs(high) < kMicroseconds;
    const double factor = micro ? 1000 : 1;
    // Both ends with as many decimals as give the upper one three digits.
    const double digits = high > 0 ? std::floor(std::log10(high * factor)) : 0;
    const int decimals = static_cast<int>(std::clamp(2 - digits, 0.0, 6.0));
    const QString range = QStringLiteral("%1–%2").arg(QString::number(low * factor, 'f', decimals),
                                                      QString::number(high * factor, 'f', decimals));
    return (micro ? QCoreApplication::translate("Texts", "%1 µs") : QCoreApplication::translate("Texts", "%1 ms"))
        .arg(range);
}

QString estimatePartsText(const deploy::EstimateParts& parts)
{
    if (!std::isfinite(parts.totalMs()))
        return {};
    return QCoreApplication::translate(
               "Texts", "Sum of the measured parts: %1 (tasks %2, chain %3, untuned functions %4, call %5)")
        .arg(msText(parts.totalMs()), msText(parts.tasksMs),
             (parts.chainMs < 0 ? QString() : QStringLiteral("+")) + msText(parts.chainMs), msText(parts.untunedMs),
             msText(parts.callMs));
}

QString ageText(double seconds)
{
    if (!std::isfinite(seconds))
        return {};
    return seconds < 60 ? QCoreApplication::translate("Texts", "updated %1 s ago")
                              .arg(QString::number(seconds, 'f', seconds < 10 ? 1 : 0))
                        : QCoreApplication::translate("Texts", "updated %1 ago").arg(minutesText(seconds));
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
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
        const bool most = std::ranges::find(tensor.dynamicAxes, static_cast<std::int32_t>(d))
                          != tensor.dynamicAxes.end();
        dims << (most ? QStringLiteral("≤%1") : QStringLiteral("%1")).arg(tensor.shape[d]);
    }
    return dims.join(QStringLiteral("×"));
}

namespace {

/// What a step of graph::Provenance did, where one constant became another; empty: it is arithmetic.
QString stepText(const std::string& step)
{
    static const std::pair<const char*, const char*> words[] = {
        {"layout", QT_TRANSLATE_NOOP("lathe::ui::Weights", "reordered for the layout")},
        {"scale", QT_TRANSLATE_NOOP("lathe::ui::Weights", "scaled")},
        {"transpose", QT_TRANSLATE_NOOP("lathe::ui::Weights", "transposed")},
        {"reshape", QT_TRANSLATE_NOOP("lathe::ui::Weights", "reshaped")},
        {"squeeze", QT_TRANSLATE_NOOP("lathe::ui::Weights", "reshaped")},
        {"expand_dims", QT_TRANSLATE_NOOP("lathe::ui::Weights", "reshaped")},
        {"cast", QT_TRANSLATE_NOOP("lathe::ui::Weights", "converted")},
        {"dequantize", QT_TRANSLATE_NOOP("lathe::ui::Weights", "dequantized")},
        {"quantize", QT_TRANSLATE_NOOP("lathe::ui::Weights", "quantized")},
        {"concatenate", QT_TRANSLATE_NOOP("lathe::ui::Weights", "joined")},
        {"strided_slice", QT_TRANSLATE_NOOP("lathe::ui::Weights", "sliced")}};
    for (const auto& [name, word] : words)
        if (step == name)
            return QCoreApplication::translate("lathe::ui::Weights", word);
    return {};
}

} // namespace

QString weightTitle(const session::TensorView& tensor, const QString& node)
{
    constexpr std::size_t kMostNamed = 2;
    if (!tensor.derived)
        return QString::fromStdString(tensor.name);
    QStringList words;
    for (std::size_t i = 0; i < std::min(kMostNamed, tensor.sources.size()); ++i)
        words << QString::fromStdString(tensor.sources[i]);
    if (const std::size_t count = tensor.sources.size(); count > kMostNamed)
        words << QCoreApplication::translate("lathe::ui::Weights", "%1 more").arg(count - kMostNamed);
    if (words.isEmpty())
        words << QCoreApplication::translate("lathe::ui::Weights", "constant of %1").arg(node);
    bool computed = tensor.sources.size() > 1;
    QStringList done;
    for (const std::string& step : tensor.steps)
        if (const QString word = stepText(step); word.isEmpty())
            computed = true;
        else if (!done.contains(word))
            done << word;
    if (computed && !tensor.sources.empty())
        done.prepend(tensor.sources.size() > 1 ? QCoreApplication::translate("lathe::ui::Weights", "combined")
                                               : QCoreApplication::translate("lathe::ui::Weights", "computed"));
    return (words + done).join(QCoreApplication::translate("lathe::ui::Weights", ", "));
}

QString inputSizesText(const std::vector<frontend::OpenDimension>& dimensions)
{
    QStringList words;
    for (const auto& [name, size] : frontend::sizesOf(dimensions))
        words << QStringLiteral("%1 = %2").arg(QString::fromStdString(name)).arg(size);
    return words.join(QStringLiteral(", "));
}

QString targetTitle(const std::string& target)
{
    const std::vector<session::TargetView> offered = session::listTargets();
    const auto found = std::ranges::find(offered, target, &session::TargetView::text);
    // Titles are texts of the run bar, which shows them first.
    return found == offered.end() ? QString::fromStdString(target)
                                  : QCoreApplication::translate("lathe::ui::RunBar", found->title.c_str());
}

QString deviceTitle(const std::string& name)
{
    static const char* const own = QT_TRANSLATE_NOOP("Devices", "Simulated device");
    return name == own ? QCoreApplication::translate("Devices", own) : QString::fromStdString(name);
}

QString unbroken(QString text)
{
    constexpr char16_t kWordJoiner = 0x2060;
    return text.replace(QStringLiteral("->"), QStringLiteral("-%1>").arg(QChar(kWordJoiner)));
}

QString withoutMnemonic(QString text)
{
    if (const auto bracket = text.indexOf(QStringLiteral("(&"));
        bracket >= 0 && bracket + 3 < text.size() && text[bracket + 3] == QLatin1Char(')'))
        text.remove(bracket, 4);
    return text.remove(QLatin1Char('&'));
}

} // namespace lathe::ui
