#pragma once

#include "core/templates/config_space.h"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <unordered_set>
#include <vector>

namespace lathe::templates {

/// A part of a space: from `first` to `last`, both included, as the reference's range_idx (autotvm.md 7). What lies
/// beyond the space is left out; first > last: nothing.
struct IndexRange
{
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// What a model sees of a configuration; of equal meaning, place by place, for all tasks of a template. Lengths may
/// differ. It may be costly, as where the configuration is lowered for it, so what is asked again is remembered.
/// Errors: whatever is wrong with this configuration, which then is neither learned from nor planned. Cancelled ends
/// what asked for it.
using ConfigFeatures = std::function<Result<std::vector<float>>(const Config&)>;

/// What was measured for another task of the same template.
struct ForeignRecords
{
    const ConfigSpace* space = nullptr; ///< of that task
    std::vector<std::pair<std::uint64_t, double>> seconds; ///< by index in that space; infinite: failed
    ConfigFeatures features = {}; ///< of that task; empty: those that the tuner's own space has for it
};

/// Chooses which configurations of a space are measured, in rounds: next() asks, tell() answers. It measures nothing
/// itself, and knows neither threads nor builders: how many are asked for at once is the caller's business (the
/// reference ties this to the builder's parallelism, autotvm.md 17).
///
/// The same seed, the same questions and answers give the same configurations on every machine.
/// Memory: some dozen bytes for each configuration that was looked at, whatever the size of the space.
/// Threads: one at a time. Lifetime: the space must outlive the tuner.
class Tuner
{
public:
    explicit Tuner(const ConfigSpace& space, std::optional<IndexRange> range = std::nullopt);
    virtual ~Tuner() = default;
    Tuner(const Tuner&) = delete;
    Tuner& operator=(const Tuner&) = delete;

    /// Up to `count` configurations that were neither given nor told before and that no constraint refuses. Fewer, or
    /// none, if results of earlier ones are needed first, if it is stopped meanwhile, or at the end, which exhausted()
    /// tells.
    /// Errors: Cancelled if it is stopped before it found any; of those with a model: Internal (a library's text). No
    /// configuration is lost by an error: the next call goes on as if this one had not been.
    Result<std::vector<std::uint64_t>> next(std::size_t count, std::stop_token stop = {});

    /// The mean time of a configuration; infinite if it failed (as is whatever is no positive number). Each that next()
    /// gave must be told sometime. What was not given may be told too: a result of an earlier run, which is learned
    /// from and not measured again (the reference repeats it, autotvm.md 17). Of several results of one the first
    /// counts.
    void tell(std::uint64_t index, double seconds);

    /// One that next() gave was not measured after all: it is given again first of all. Nothing for one that was told.
    void takeBack(std::uint64_t index);
    /// Given and not taken back, told or refused.
    bool seen(std::uint64_t index) const { return m_seen.contains(index); }

    /// next() has nothing more to give, whatever is told; what is taken back later, it gives again.
    bool exhausted() const { return m_returned.empty() && (m_left == 0 || m_gaveUp); }
    /// Nothing new is looked at any more since kMostRefusedInARow configurations in a row were refused, not since all
    /// were looked at: in a space of 10^9 whose constraints contradict each other, nobody wants to wait for the last.
    /// What is taken back is given even so.
    bool gaveUp() const { return m_gaveUp; }
    /// The same on the word of the caller, who knows more reasons to refuse a configuration than constraints.
    void giveUp() { m_gaveUp = true; }
    /// Configurations that constraints refused instead of their being given or planned, each counted once.
    std::uint64_t refused() const { return m_refused; }

    /// Learns from other tasks before the first next(). Returns how many records were of use: for tuners without a
    /// model none, since indices of one space mean nothing in another.
    /// Errors: as next().
    virtual Result<std::size_t> transfer(std::span<const ForeignRecords>, std::stop_token = {}) { return 0; }

    static constexpr std::uint64_t kMostRefusedInARow = 1'000'000; ///< a second or two

protected:
    /// Before the draws of a next() that wants so many: where models are trained. Errors: as next().
    virtual Result<> prepare(std::size_t, std::stop_token) { return {}; }
    /// A configuration of the range to look at next; next() skips it if it was seen or is refused, and draws again.
    /// Must not give one forever that was seen. Nothing: none is left, or results must come first.
    virtual std::optional<std::uint64_t> draw() = 0;
    /// This one was neither: it is given to the caller.
    virtual void given(std::uint64_t) {}
    /// A first result; seconds > 0, infinite: failed.
    virtual void learn(std::uint64_t, double) {}

    const ConfigSpace& space() const { return m_space; }
    std::uint64_t rangeFirst() const { return m_first; }
    std::uint64_t rangeSize() const { return m_count; }
    /// For plans: neither seen nor refused. What is found to be refused counts, and is seen from then on.
    bool isOpen(std::uint64_t index);

private:
    bool see(std::uint64_t index);
    bool inRange(std::uint64_t index) const { return index >= m_first && index - m_first < m_count; }

    const ConfigSpace& m_space;
    std::uint64_t m_first = 0;
    std::uint64_t m_count = 0;
    std::uint64_t m_left = 0; ///< of the range, not seen
    std::uint64_t m_refused = 0;
    std::uint64_t m_refusedInARow = 0;
    bool m_gaveUp = false;
    std::unordered_set<std::uint64_t> m_seen;
    std::unordered_set<std::uint64_t> m_told;
    std::vector<std::uint64_t> m_returned; ///< taken back, the next one last
};

} // namespace lathe::templates
