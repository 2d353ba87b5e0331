#include "plugins/cpu/device/timed_blocks.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <functional>

namespace tst_timed_blocks {

using lathe::cpu::TimedBlocks;

/// Kernels on a processor that is not theirs alone, by a clock of our own.
class TestTimedBlocks : public QObject
{
    Q_OBJECT

    /// What one of so many launches seems to take; `takes` by its number, in nanoseconds. Counts the looks at the
    /// clock.
    static double each(std::uint64_t launches, const std::function<double(std::uint64_t)>& takes,
                       std::uint64_t* looks = nullptr)
    {
        double now = 1e9;
        TimedBlocks blocks(launches, static_cast<std::uint64_t>(now));
        std::uint64_t looked = 0;
        for (std::uint64_t i = 0; i < launches; ++i) {
            now += takes(i);
            if (blocks.isDue()) {
                blocks.add(static_cast<std::uint64_t>(now));
                ++looked;
            }
        }
        if (looks != nullptr)
            *looks = looked;
        return blocks.total() / static_cast<double>(launches);
    }

private slots:
    void whereNothingIsInTheWayTheMeanIsTold()
    {
        for (const std::uint64_t launches : {1, 2, 3, 7, 100, 5000, 1'000'000})
            for (const double ns : {2e3, 1e5, 4e6})
                QVERIFY(std::abs(each(launches, [ns](std::uint64_t) { return ns; }) - ns) < 1e-3 * ns);
    }

    void whatAnotherTookDoesNotCount()
    {
        for (const std::uint64_t launches : {3, 5, 60, 1000, 30'000})
            for (const std::uint64_t at : {std::uint64_t{0}, launches / 2, launches - 1}) {
                const double seen = each(launches, [at](std::uint64_t i) { return i == at ? 20e6 : 50e3; });
                QVERIFY2(std::abs(seen - 50e3) < 50,
                         qPrintable(QStringLiteral("%1 of %2: %3 ns").arg(at).arg(launches).arg(seen)));
            }
        // A third of the time is gone, in slices of 8 ms out of 24.
        double now = 0;
        const double seen = each(2000, [&now](std::uint64_t) {
            double takes = 100e3;
            const double slice = std::fmod(now, 24e6);
            if (slice < 16e6 && slice + takes > 16e6)
                takes += 8e6;
            now += takes;
            return takes;
        });
        QVERIFY2(std::abs(seen - 100e3) < 100, qPrintable(QString::number(seen)));
    }

    void aKernelThatVariesIsNotMadeTooQuick()
    {
        // Copies in turns, every eighth one from another cache: that is what it takes, and not its quickest launches.
        const double seen = each(4000, [](std::uint64_t i) { return i % 8 == 0 ? 40e3 : 20e3; });
        QVERIFY2(std::abs(seen - 22.5e3) < 1e3, qPrintable(QString::number(seen)));
    }

    void theClockIsReadNowAndThen()
    {
        std::uint64_t looks = 0;
        each(
            1'000'000, [](std::uint64_t) { return 1e3; }, &looks);
        QVERIFY(looks > 16 && looks <= 128);
        each(
            1500, [](std::uint64_t i) { return i == 0 ? 30e6 : 2e3; }, &looks); // 3 ms, had nothing happened
        QVERIFY(looks >= 8 && looks < 24);
    }
};

LATHE_TEST(TestTimedBlocks)

} // namespace tst_timed_blocks

#include "tst_timed_blocks.moc"
