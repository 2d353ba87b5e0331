#include "ui/models/failure_cure.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kTimeoutFactor = 3; ///< how much longer than what was too short

QString translated(const char* text)
{
    return QCoreApplication::translate("FailureCure", text);
}

/// Debian's packages of what code generators and devices need at run time.
QString packageFor(const QString& text)
{
    static constexpr std::pair<const char*, const char*> kPackages[] = {
        {"libnvrtc", "nvidia-cuda-toolkit"}, {"nvcc", "nvidia-cuda-toolkit"},          {"libcuda.so", "nvidia-driver"}, {"libOpenCL", "ocl-icd-libopencl1"},
        {"ld.lld", "lld-19"},                {"libLLVM", "libllvm19"},                 {"libgomp", "libgomp1"},         {"libc.so.6", "libc6"},
        {"libm.so.6", "libc6"},              {"libpthread.so.0", "libc6"},
    };
    for (const auto& [part, package] : kPackages)
        if (text.contains(QLatin1String(part)))
            return QLatin1String(package);
    return {};
}

/// The largest number of seconds that the text speaks of.
double secondsIn(const QString& text)
{
    static const QRegularExpression number(QStringLiteral("([0-9]+(?:\\.[0-9]+)?) s\\b"));
    double most = 0;
    for (auto match = number.globalMatch(text); match.hasNext();)
        most = std::max(most, match.next().captured(1).toDouble());
    return most;
}

} // namespace

FailureCure failureCure(const session::FailureView& failure, double timeout)
{
    FailureCure cure;
    const QString text = QString::fromStdString(failure.text);
    if (failure.code == "RunTimeout") {
        const double tooShort = secondsIn(text);
        cure.act = FailureCure::Act::Timeout;
        // Whole seconds above ten of them: what people would type.
        const double seconds = kTimeoutFactor * (tooShort > 0 ? tooShort : timeout);
        cure.seconds = std::max(seconds >= 10 ? std::ceil(seconds) : seconds, timeout);
        if (timeout > tooShort && tooShort > 0)
            cure.sentence = translated(QT_TRANSLATE_NOOP("FailureCure", "They had %1 s; now a candidate may run for %2 s: try them again.")).arg(tooShort).arg(timeout);
        return cure;
    }
    static const QRegularExpression absent(QStringLiteral("not installed|cannot open shared object|cannot be opened|cannot be loaded|no such file"), QRegularExpression::CaseInsensitiveOption);
    if (absent.match(text).hasMatch()) {
        cure.package = packageFor(text);
        if (!cure.package.isEmpty()) {
            cure.act = FailureCure::Act::Package;
            cure.sentence = translated(QT_TRANSLATE_NOOP("FailureCure", "Something is missing on this machine: install the package %1.")).arg(cure.package);
            return cure;
        }
    }
    static const QRegularExpression limit(QStringLiteral("\\b(num_cores|vector_unit_bytes|cache_line_bytes|max_shared_memory_per_block|max_local_memory_per_block|max_threads_per_block|max_vthread_extent|warp_size|"
                                                         "max_registers_per_block|registers|shared memory|threads per block)\\b"));
    if (const auto match = limit.match(text); match.hasMatch() && (failure.code == "IllegalSchedule" || failure.code == "BuildFailed" || failure.code == "Unsupported")) {
        cure.act = FailureCure::Act::Limit;
        cure.limit = match.captured(1);
        cure.sentence = translated(QT_TRANSLATE_NOOP("FailureCure", "The device refuses it for its limit “%1”: correct the limit where it is wrong, and the search will keep to it.")).arg(cure.limit);
    }
    return cure;
}

} // namespace lathe::ui
