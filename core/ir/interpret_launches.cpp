#include "core/ir/interpret_launches.h"

#include "core/ir/copies_on_their_way.h"
#include "core/ir/nest_program.h"
#include "core/ir/scratch.h"
#include "core/support/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lathe::ir {

struct LaunchInterpreter::Impl
{
    struct Start
    {
        Instruction body;
        std::array<std::int32_t, 3> block = {}; ///< slots of the axes
        std::array<std::int32_t, 3> thread = {};
    };

    LoopNest nest;
    std::vector<Start> launches; ///< as in the nest
    std::int32_t slots = 0;
};

namespace {

using Threads = std::vector<std::int32_t>; ///< of a block, in order

/// Who has been at an element. Threads are counted through all blocks of a launch; a time is a count of barriers.
struct Visits
{
    std::int32_t launch = -1; ///< that the rest speaks of
    std::int64_t writer = -1, reader = -1; ///< the last one
    std::int64_t writtenAt = -1, readAt = -1;
    bool severalReaders = false; ///< threads, at that time
    bool severalBlocks = false; ///< of readers
    std::int64_t copier = -1; ///< whose asynchronous copy to it has not been waited for
};

struct WatchedMemory
{
    std::span<std::byte> bytes; ///< of a thread's own buffer: those of all threads of a block, one behind the other
    std::vector<std::byte> owned;
    std::vector<Visits> visits; ///< where threads share it
    std::vector<bool> isWritten;
    std::int64_t elements = 0; ///< of one thread, or of all
};

bool isOfThread(Scope scope)
{
    return scope == Scope::Local || scope == Scope::Register || scope == Scope::Part;
}

/// Each block has it for itself, and finds nothing in it.
bool isOfBlock(Scope scope)
{
    return scope == Scope::Shared || isOfThread(scope);
}

std::int64_t product(const std::array<std::int64_t, 3>& sizes)
{
    return sizes[0] * sizes[1] * sizes[2];
}

std::array<std::int64_t, 3> placeOf(const std::array<std::int64_t, 3>& sizes, std::int64_t number)
{
    return {number % sizes[0], number / sizes[0] % sizes[1], number / (sizes[0] * sizes[1])};
}

class LaunchMachine final : public NestEvaluator
{
public:
    LaunchMachine(const LaunchInterpreter::Impl& program, std::size_t launch, std::vector<WatchedMemory>& memory)
        : NestEvaluator(program.nest)
        , m_launch(program.nest.launches[launch])
        , m_start(program.launches[launch])
        , m_number(static_cast<std::int32_t>(launch))
        , m_memory(memory)
        , m_slots(program.slots)
        , m_threads(product(m_launch.block))
        , m_frames(static_cast<std::size_t>(m_threads * program.slots))
    {
    }

    void run()
    {
        Threads all(static_cast<std::size_t>(m_threads));
        std::iota(all.begin(), all.end(), 0);
        for (m_block = 0; m_block < product(m_launch.grid) && !failed(); ++m_block) {
            for (std::size_t b = 0; b < m_memory.size(); ++b)
                if (isOfBlock(m_nest.buffers[b].scope))
                    clear(b);
            for (const std::int32_t thread : all) {
                enter(thread);
                const auto block = placeOf(m_launch.grid, m_block), place = placeOf(m_launch.block, thread);
                for (std::size_t d = 0; d < 3; ++d) {
                    m_frame[m_start.block[d]] = block[d];
                    m_frame[m_start.thread[d]] = place[d];
                }
            }
            m_copies.begin(m_threads);
            ++m_time;
            run(m_start.body, all);
        }
    }

private:
    void clear(std::size_t id)
    {
        WatchedMemory& memory = m_memory[id];
        const std::int64_t elements = memory.elements * (isOfThread(m_nest.buffers[id].scope) ? m_threads : 1);
        const auto count = static_cast<std::size_t>(elements);
        memory.owned.assign(count * static_cast<std::size_t>(sizeOf(m_nest.buffers[id].dtype)), std::byte{0xff});
        memory.bytes = memory.owned;
        memory.isWritten.assign(count, false);
        if (!isOfThread(m_nest.buffers[id].scope))
            memory.visits.assign(count, Visits());
    }

    void enter(std::int32_t thread)
    {
        m_thread = thread;
        m_frame = m_frames.data() + std::int64_t{thread} * m_slots;
    }

    // ---- statements, by all threads that come to them --------------------------------------------------------------

    void run(const Instruction& s, const Threads& threads)
    {
        if (failed() || threads.empty())
            return;
        switch (s.kind) {
        case StmtKind::For: loop(s, threads); break;
        case StmtKind::Block:
            for (const Instruction& inner : s.body)
                run(inner, threads);
            break;
        case StmtKind::If: branch(s, threads); break;
        case StmtKind::Store: store(s, threads); break;
        case StmtKind::Barrier:
            m_statement = s.of;
            if (static_cast<std::int64_t>(threads.size()) != m_threads)
                wrong(fmt::format("{} of {} threads come to a barrier", threads.size(), m_threads));
            ++m_time;
            break;
        case StmtKind::AsyncCopy: startCopies(s, threads); break;
        case StmtKind::AsyncCommit:
            for (const std::int32_t thread : threads)
                m_copies.commit(thread);
            break;
        case StmtKind::AsyncWait:
            for (const std::int32_t thread : threads)
                waitForCopies(thread, s.of->count);
            break;
        case StmtKind::Shuffle: shuffle(s, threads); break;
        case StmtKind::Prefetch: // a hint; may point outside
        case StmtKind::Evaluate: break;
        }
    }

    void loop(const Instruction& s, const Threads& threads)
    {
        m_statement = s.of;
        std::vector<std::int64_t> begins, extents;
        for (const std::int32_t thread : threads) {
            enter(thread);
            begins.push_back(evaluate(s.min).i);
            extents.push_back(evaluate(s.extent).i);
        }
        Threads still;
        for (std::int64_t i = 0; !failed(); ++i) {
            still.clear();
            for (std::size_t t = 0; t < threads.size(); ++t)
                if (i < extents[t]) {
                    still.push_back(threads[t]);
                    enter(threads[t]);
                    m_frame[s.slot] = begins[t] + i;
                }
            if (still.empty())
                return;
            run(s.body[0], still);
        }
    }

    void branch(const Instruction& s, const Threads& threads)
    {
        m_statement = s.of;
        Threads taken, others;
        for (const std::int32_t thread : threads) {
            enter(thread);
            (evaluate(s.condition).i != 0 ? taken : others).push_back(thread);
        }
        run(s.body[0], taken);
        if (s.body.size() > 1)
            run(s.body[1], others);
    }

    void store(const Instruction& s, const Threads& threads)
    {
        m_statement = s.of;
        for (const std::int32_t thread : threads) {
            enter(thread);
            const Scalar value = evaluate(s.value);
            const std::int64_t at = failed() ? -1 : offset(s.buffer, s.indices, "stores to");
            if (at < 0)
                return nameStatement();
            put(s.buffer, at, value);
            if (failed())
                return;
        }
    }

    // ---- asynchronous copies: what they copy is there at once, and nobody may come to it before it was waited for
    // ----

    void startCopies(const Instruction& s, const Threads& threads)
    {
        m_statement = s.of;
        const std::int64_t count = s.of->count;
        const std::int64_t bytes = sizeOf(m_nest.buffers[s.buffer].dtype);
        for (const std::int32_t thread : threads) {
            enter(thread);
            const std::int64_t to = firstOf(s.buffer, s.indices, count, "stores to");
            const std::int64_t from = firstOf(s.value.buffer, s.value.operands, count, "reads");
            if (failed())
                return nameStatement();
            for (std::int64_t i = 0; i < count && !failed(); ++i) {
                const std::byte* const element = readAt(s.value.buffer, from + i);
                if (element == nullptr)
                    return;
                noteWrite(s.buffer, to + i);
                WatchedMemory& memory = m_memory[s.buffer];
                memory.isWritten[static_cast<std::size_t>(to + i)] = true;
                std::copy_n(element, bytes, memory.bytes.data() + (to + i) * bytes);
                memory.visits[static_cast<std::size_t>(to + i)].copier = self();
                m_copies.start(thread, {s.buffer, to + i});
            }
            if (failed())
                return;
        }
    }

    /// Offset of the first of some elements along the last dimension; fails unless all are in it, and aligned.
    std::int64_t firstOf(std::int32_t id, const std::vector<Code>& indices, std::int64_t count, const char* verb)
    {
        const std::int64_t first = failed() ? -1 : offset(id, indices, verb);
        if (first < 0)
            return first;
        const Buffer& buffer = m_nest.buffers[id];
        if (count > 1 && evaluate(indices.back()).i + count > buffer.shape.back())
            fail(fmt::format("kernel {} {} {} at {}, {} elements of which the last are beyond its dimension",
                             m_nest.name, verb, buffer.name, first, count));
        else if (first % count != 0)
            fail(fmt::format("kernel {} {} {} at {}, which is no multiple of {} elements", m_nest.name, verb,
                             buffer.name, first, count));
        return first;
    }

    void waitForCopies(std::int32_t thread, std::int64_t latest)
    {
        m_copies.wait(thread, latest, [&](const CopiesOnTheirWay::Place& place) {
            Visits& visits = m_memory[place.buffer].visits[static_cast<std::size_t>(place.at)];
            visits.copier = -1;
            visits.writer = m_block * m_threads + thread;
            visits.writtenAt = m_time;
        });
    }

    bool isOnItsWay(const char* verb, std::int32_t id, std::int64_t at, std::int64_t copier)
    {
        if (copier < 0)
            return false;
        wrong(fmt::format("{} {} {} at {} before the asynchronous copy of {} was waited for", who(), verb,
                          m_nest.buffers[id].name, at, nameOf(copier)));
        return true;
    }

    /// All lanes give before any takes. A block that ends within a warp has no lanes beyond its end.
    void shuffle(const Instruction& s, const Threads& threads)
    {
        m_statement = s.of;
        const std::int32_t warp = s.of->warp, distance = s.of->distance;
        for (std::size_t first = 0; first < threads.size();) {
            const std::int32_t begin = threads[first] / warp * warp;
            const auto end = static_cast<std::int32_t>(std::min<std::int64_t>(begin + warp, m_threads));
            std::size_t next = first;
            while (next < threads.size() && threads[next] < end)
                ++next;
            const auto lanes = static_cast<std::int32_t>(next - first);
            if (lanes != end - begin) {
                enter(threads[first]);
                return wrong(fmt::format("divergent shuffle: {} of {} lanes of the warp of {} come to it", lanes,
                                         end - begin, who()));
            }
            std::vector<Scalar> given;
            for (std::int32_t lane = 0; lane < lanes; ++lane) {
                enter(begin + lane);
                if ((lane ^ distance) >= lanes)
                    return wrong(
                        fmt::format("divergent shuffle: {} takes from lane {} of {}", who(), lane ^ distance, lanes));
                given.push_back(evaluate(s.value));
                if (failed())
                    return nameStatement();
            }
            for (std::int32_t lane = 0; lane < lanes; ++lane) {
                enter(begin + lane);
                const std::int64_t at = offset(s.buffer, s.indices, "stores to");
                if (at < 0)
                    return nameStatement();
                put(s.buffer, at, given[static_cast<std::size_t>(lane ^ distance)]);
            }
            first = next;
        }
    }

    /// The thread's store to a place that exists.
    void put(std::int32_t id, std::int64_t at, const Scalar& value)
    {
        const Buffer& buffer = m_nest.buffers[id];
        if (!buffer.readOnly)
            noteWrite(id, at);
        WatchedMemory& memory = m_memory[id];
        memory.isWritten[static_cast<std::size_t>(ownPlace(id, at))] = true;
        storeScalar(memory.bytes.data() + ownPlace(id, at) * sizeOf(buffer.dtype), buffer.dtype, value);
    }

    const std::byte* read(std::int32_t id, const std::vector<Code>& indices) override
    {
        if (failed())
            return nullptr;
        const std::int64_t at = offset(id, indices, "reads");
        if (at < 0) {
            nameStatement();
            return nullptr;
        }
        return readAt(id, at);
    }

    const std::byte* readAt(std::int32_t id, std::int64_t at)
    {
        const Buffer& buffer = m_nest.buffers[id];
        const WatchedMemory& memory = m_memory[id];
        const std::int64_t own = ownPlace(id, at);
        if (!buffer.readOnly) {
            if (!memory.isWritten[static_cast<std::size_t>(own)]) {
                wrong(fmt::format("{} reads {} at {}, which nobody has written", who(), buffer.name, at));
                return nullptr;
            }
            noteRead(id, at);
        }
        return memory.bytes.data() + own * sizeOf(buffer.dtype);
    }

    std::int64_t ownPlace(std::int32_t id, std::int64_t at) const
    {
        return isOfThread(m_nest.buffers[id].scope) ? m_thread * m_memory[id].elements + at : at;
    }

    // ---- who may be where ------------------------------------------------------------------------------------------

    std::int64_t self() const { return m_block * m_threads + m_thread; }

    Visits* visitsAt(std::int32_t id, std::int64_t at)
    {
        if (isOfThread(m_nest.buffers[id].scope))
            return nullptr;
        Visits& visits = m_memory[id].visits[static_cast<std::size_t>(at)];
        if (visits.launch != m_number) {
            visits = Visits();
            visits.launch = m_number;
        }
        return &visits;
    }

    /// Whether another thread was there with nothing between it and this one.
    bool meets(std::int64_t other, std::int64_t time) const
    {
        return other >= 0 && other != self() && (other / m_threads != m_block || time == m_time);
    }

    void noteRead(std::int32_t id, std::int64_t at)
    {
        Visits* const visits = visitsAt(id, at);
        if (visits == nullptr || isOnItsWay("reads", id, at, visits->copier))
            return;
        if (meets(visits->writer, visits->writtenAt))
            return race("reads", id, at, visits->writer, "stores to");
        if (visits->reader >= 0 && visits->reader != self()) {
            visits->severalReaders = visits->readAt == m_time || visits->severalReaders;
            visits->severalBlocks = visits->severalBlocks || visits->reader / m_threads != m_block;
        }
        if (visits->readAt != m_time)
            visits->severalReaders = false;
        visits->reader = self();
        visits->readAt = m_time;
    }

    void noteWrite(std::int32_t id, std::int64_t at)
    {
        Visits* const visits = visitsAt(id, at);
        if (visits == nullptr || isOnItsWay("stores to", id, at, visits->copier))
            return;
        if (meets(visits->writer, visits->writtenAt))
            return race("stores to", id, at, visits->writer, "stores to");
        if (meets(visits->reader, visits->readAt) || visits->severalBlocks
            || (visits->severalReaders && visits->readAt == m_time))
            return race("stores to", id, at, visits->reader, "reads");
        visits->writer = self();
        visits->writtenAt = m_time;
    }

    // ---- words -----------------------------------------------------------------------------------------------------

    std::string nameOf(std::int64_t thread) const
    {
        const auto block = placeOf(m_launch.grid, thread / m_threads),
                   place = placeOf(m_launch.block, thread % m_threads);
        return fmt::format("thread ({}) of block ({})", fmt::join(place, ", "), fmt::join(block, ", "));
    }
    std::string who() const { return nameOf(self()); }

    void race(const char* verb, std::int32_t id, std::int64_t at, std::int64_t other, const char* otherVerb)
    {
        const bool sameBlock = other / m_threads == m_block;
        wrong(fmt::format("{} {} {} at {}, and {} {} it {}", who(), verb, m_nest.buffers[id].name, at, nameOf(other),
                          otherVerb, sameBlock ? "with no barrier between" : "in the same launch"));
    }

    void wrong(const std::string& what)
    {
        fail(fmt::format("launch {} of kernel {}: {}: {}", m_launch.name, m_nest.name, what,
                         firstLine(m_nest, *m_statement)));
        m_named = true;
    }

    /// An index out of bounds was told without.
    void nameStatement()
    {
        if (failed() && !m_named)
            rename(
                fmt::format("launch {}: {}, {}: {}", m_launch.name, who(), failure(), firstLine(m_nest, *m_statement)));
        m_named = true;
    }

    const Launch& m_launch;
    const LaunchInterpreter::Impl::Start& m_start;
    std::int32_t m_number;
    std::vector<WatchedMemory>& m_memory;
    std::int32_t m_slots;
    std::int64_t m_threads;
    std::vector<std::int64_t> m_frames; ///< thread after thread
    std::int64_t m_block = 0, m_thread = 0;
    std::int64_t m_time = 0; ///< barriers that were passed, and begins of blocks
    CopiesOnTheirWay m_copies;
    const StmtNode* m_statement = nullptr;
    bool m_named = false;
};

} // namespace

Result<LaunchInterpreter> LaunchInterpreter::compile(const LoopNest& nest)
{
    LATHE_CHECK(nest.phases.empty()) << "phases have an interpreter of their own";
    auto impl = std::make_shared<Impl>();
    impl->nest = nest;
    NestCompiler compiler;
    for (const Launch& launch : nest.launches) {
        Impl::Start start;
        for (std::size_t d = 0; d < 3; ++d) {
            start.block[d] = compiler.slotOf(launch.blockIndex[d]);
            start.thread[d] = compiler.slotOf(launch.threadIndex[d]);
        }
        if (launch.body) {
            LATHE_TRY_ASSIGN(start.body, compiler.statement(launch.body));
        }
        impl->launches.push_back(std::move(start));
    }
    impl->slots = compiler.slots();
    return LaunchInterpreter(std::move(impl));
}

Result<> LaunchInterpreter::run(std::span<const std::span<std::byte>> parameters) const
{
    const LoopNest& nest = m_impl->nest;
    LATHE_TRY(checkParameters(nest, parameters));
    std::vector<WatchedMemory> memory(nest.buffers.size());
    for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
        memory[b].elements = elementCount(nest.buffers[b]);
        if (isOfBlock(nest.buffers[b].scope))
            continue; // each block makes it anew
        const auto count = static_cast<std::size_t>(memory[b].elements);
        memory[b].visits.resize(count);
        memory[b].isWritten.resize(count);
        if (nest.buffers[b].scope == Scope::Team) {
            memory[b].owned.assign(count * static_cast<std::size_t>(sizeOf(nest.buffers[b].dtype)), std::byte{0xff});
            memory[b].bytes = memory[b].owned;
        }
    }
    for (std::size_t p = 0; p < parameters.size(); ++p)
        memory[nest.parameters[p]].bytes = parameters[p];
    for (std::size_t launch = 0; launch < m_impl->launches.size(); ++launch) {
        LaunchMachine machine(*m_impl, launch, memory);
        machine.run();
        if (machine.failed())
            return makeError(Errc::WrongAnswer, machine.failure());
    }
    return {};
}

} // namespace lathe::ir
