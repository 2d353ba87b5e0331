#include "ui/models/failure_cure.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kTimeoutFactor = 3; ///< how much longer than what was too short

QString translated(const char* text)
{
    return QCoreApplication::translate("FailureCure", text);
}

} // namespace

FailureCure failureCure(const session::FailureView& failure, double timeout)
{
    FailureCure cure;
    if (failure.code == "RunTimeout") {
        const double told = failure.about ? failure.about->number("seconds") : 0;
        const double tooShort = told > 0 ? told : 0; // NaN: it does not tell
        cure.act = FailureCure::Act::Timeout;
        // Whole seconds above ten of them: what people would type.
        const double seconds = kTimeoutFactor * (tooShort > 0 ? tooShort : timeout);
        cure.seconds = std::max(seconds >= 10 ? std::ceil(seconds) : seconds, timeout);
        if (timeout > tooShort && tooShort > 0)
            cure.sentence = translated(QT_TRANSLATE_NOOP("FailureCure",
                                                         "They had %1 s; the time limit is now %2 s: try them again."))
                                .arg(tooShort)
                                .arg(timeout);
        return cure;
    }
    if (!failure.about)
        return cure;
    if (cure.package = QString::fromStdString(failure.about->text("package")); !cure.package.isEmpty()) {
        cure.act = FailureCure::Act::Package;
        cure.sentence = translated(QT_TRANSLATE_NOOP("FailureCure",
                                                     "Install the package %1, which is missing on this machine."))
                            .arg(cure.package);
    } else if (cure.limit = QString::fromStdString(failure.about->text("limit")); !cure.limit.isEmpty()) {
        cure.act = FailureCure::Act::Limit;
        cure.sentence =
            translated(
                QT_TRANSLATE_NOOP(
                    "FailureCure",
                    "It exceeds the device's limit “%1”. If the limit is wrong, correct it: the search keeps to it."))
                .arg(cure.limit);
    }
    return cure;
}

} // namespace lathe::ui
