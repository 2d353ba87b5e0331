#include "plugins/sim/launch_machine.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lathe::sim {

namespace {

void place(const std::int64_t* sizes, std::int64_t number, std::int64_t* at)
{
    at[0] = number % sizes[0];
    at[1] = number / sizes[0] % sizes[1];
    at[2] = number / (sizes[0] * sizes[1]);
}

std::string text(const std::int64_t* at)
{
    return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(at[2]) + ")";
}

} // namespace

LaunchMachine::LaunchMachine(const Kernel& kernel, const ProgramView& program, void* const* parameters)
    : Machine(program)
    , m_kernel(kernel)
    , m_memory(kernel.bufferCount)
{
    for (std::uint32_t b = 0; b < kernel.bufferCount; ++b) {
        const Buffer& buffer = program.buffers[b];
        Memory& memory = m_memory[b];
        const auto elements = static_cast<std::size_t>(buffer.elements);
        if (buffer.parameter >= 0) {
            memory.data = static_cast<char*>(parameters[buffer.parameter]);
        } else if (buffer.place != Place::Thread) {
            memory.owned.resize(elements * static_cast<std::size_t>(sizeOf(buffer.dtype)));
            memory.data = memory.owned.data();
        }
        if (buffer.place != Place::Thread && buffer.readOnly == 0) {
            memory.visits.resize(elements);
            memory.written.assign(elements, -1);
        }
    }
}

void LaunchMachine::run()
{
    for (std::uint32_t l = 0; l < m_kernel.launchCount && ok(); ++l)
        launch(l);
}

void LaunchMachine::launch(std::uint32_t number)
{
    m_launch = m_program.launches + number;
    m_number = number;
    m_threads = m_launch->block[0] * m_launch->block[1] * m_launch->block[2];
    m_blocks = m_launch->grid[0] * m_launch->grid[1] * m_launch->grid[2];
    m_frames.assign(static_cast<std::size_t>(m_threads) * m_kernel.variables, 0);
    for (std::uint32_t b = 0; b < m_kernel.bufferCount; ++b) {
        const Buffer& buffer = m_program.buffers[b];
        if (buffer.place != Place::Thread)
            continue;
        const auto elements = static_cast<std::size_t>(buffer.elements * m_threads);
        m_memory[b].owned.resize(elements * static_cast<std::size_t>(sizeOf(buffer.dtype)));
        m_memory[b].data = m_memory[b].owned.data();
        m_memory[b].written.assign(elements, -1);
    }
    Threads all(static_cast<std::size_t>(m_threads));
    std::iota(all.begin(), all.end(), 0);
    for (m_block = 0; m_block < m_blocks && ok(); ++m_block) {
        std::int64_t blockAt[3], threadAt[3];
        place(m_launch->grid, m_block, blockAt);
        for (const std::int32_t thread : all) {
            enter(thread);
            place(m_launch->block, thread, threadAt);
            for (int d = 0; d < 3; ++d) {
                m_frame[m_launch->blockSlots[d]] = blockAt[d];
                m_frame[m_launch->threadSlots[d]] = threadAt[d];
            }
        }
        m_onTheirWay.assign(static_cast<std::size_t>(m_threads), Copies());
        ++m_time;
        step(m_launch->body, all);
    }
    m_firstBlock += m_blocks;
}

void LaunchMachine::enter(std::int32_t thread)
{
    m_thread = thread;
    m_frame = m_frames.data() + static_cast<std::size_t>(thread) * m_kernel.variables;
}

void LaunchMachine::step(std::int32_t index, const Threads& threads)
{
    if (!ok() || threads.empty())
        return;
    const Node& node = m_program.nodes[index];
    switch (node.kind) {
    case NodeKind::Block:
        for (std::uint32_t c = 0; c < node.childCount; ++c)
            step(m_program.children[node.firstChild + c], threads);
        break;
    case NodeKind::For: loop(node, threads); break;
    case NodeKind::If: branch(node, threads); break;
    case NodeKind::Store: storeAll(node, threads); break;
    case NodeKind::Copy:
        m_copies = true;
        storeAll(node, threads);
        m_copies = false;
        break;
    case NodeKind::Commit:
        for (const std::int32_t thread : threads) {
            Copies& copies = m_onTheirWay[static_cast<std::size_t>(thread)];
            copies.groups.push_back(std::exchange(copies.open, {}));
        }
        break;
    case NodeKind::Wait:
        for (const std::int32_t thread : threads)
            wait(thread, node.index);
        break;
    case NodeKind::Shuffle: shuffle(node, threads); break;
    case NodeKind::Barrier:
        m_statement = &node;
        if (static_cast<std::int64_t>(threads.size()) != m_threads)
            wrong(std::to_string(threads.size()) + " of " + std::to_string(m_threads) + " threads come to a barrier");
        ++m_time;
        break;
    default: break;
    }
}

void LaunchMachine::loop(const Node& node, const Threads& threads)
{
    m_statement = &node;
    const std::int32_t* child = m_program.children + node.firstChild;
    std::vector<std::int64_t> begins, extents;
    for (const std::int32_t thread : threads) {
        enter(thread);
        begins.push_back(evaluate(child[0]).i);
        extents.push_back(evaluate(child[1]).i);
    }
    Threads still;
    for (std::int64_t i = 0; ok(); ++i) {
        still.clear();
        for (std::size_t t = 0; t < threads.size(); ++t)
            if (i < extents[t]) {
                still.push_back(threads[t]);
                enter(threads[t]);
                m_frame[node.index] = begins[t] + i;
            }
        if (still.empty())
            return;
        step(child[2], still);
    }
}

void LaunchMachine::branch(const Node& node, const Threads& threads)
{
    m_statement = &node;
    const std::int32_t* child = m_program.children + node.firstChild;
    Threads taken, others;
    for (const std::int32_t thread : threads) {
        enter(thread);
        (evaluate(child[0]).i != 0 ? taken : others).push_back(thread);
    }
    step(child[1], taken);
    if (node.childCount > 2)
        step(child[2], others);
}

void LaunchMachine::storeAll(const Node& node, const Threads& threads)
{
    m_statement = &node;
    const std::int32_t last = m_program.children[node.firstChild + node.childCount - 1];
    for (const std::int32_t thread : threads) {
        enter(thread);
        const Value value = evaluate(last);
        m_stores = true;
        char* const at = ok() ? element(node, node.childCount - 1) : nullptr;
        m_stores = false;
        if (at == nullptr)
            return;
        store(at, m_program.buffers[node.index].dtype, value, m_program.nodes[last].dtype);
    }
}

/// What has arrived is as if the thread had stored it now.
void LaunchMachine::wait(std::int32_t thread, std::int32_t latest)
{
    std::vector<Copies::Group>& groups = m_onTheirWay[static_cast<std::size_t>(thread)].groups;
    while (!groups.empty() && static_cast<std::int64_t>(groups.size()) > latest) {
        for (Visits* const visits : groups.front()) {
            visits->copier = -1;
            visits->writer = m_block * m_threads + thread;
            visits->writtenAt = m_time;
        }
        groups.erase(groups.begin());
    }
}

bool LaunchMachine::isOnItsWay(const char* verb, std::int32_t buffer, std::int64_t at, std::int64_t copier)
{
    if (copier < 0)
        return false;
    wrong(nameOf(self()) + " " + verb + " " + (m_program.texts + m_program.buffers[buffer].name) + " at "
          + std::to_string(at) + " before the asynchronous copy of " + nameOf(copier) + " was waited for");
    return true;
}

/// All lanes of a warp give before any takes.
void LaunchMachine::shuffle(const Node& node, const Threads& threads)
{
    m_statement = &node;
    const std::int32_t last = m_program.children[node.firstChild + node.childCount - 1];
    const std::int32_t warp = 1 << node.reserved, distance = 1 << node.function;
    for (std::size_t first = 0; first < threads.size();) {
        const std::int32_t begin = threads[first] / warp * warp;
        const auto end = static_cast<std::int32_t>(std::min<std::int64_t>(begin + warp, m_threads));
        std::size_t next = first;
        while (next < threads.size() && threads[next] < end)
            ++next;
        const auto lanes = static_cast<std::int32_t>(next - first);
        enter(threads[first]);
        if (lanes != end - begin)
            return wrong("divergent shuffle: " + std::to_string(lanes) + " of " + std::to_string(end - begin)
                         + " lanes of the warp of " + nameOf(self()) + " come to it");
        std::vector<Value> given;
        for (std::int32_t lane = 0; lane < lanes; ++lane) {
            enter(begin + lane);
            if ((lane ^ distance) >= lanes)
                return wrong("divergent shuffle: " + nameOf(self()) + " takes from lane "
                             + std::to_string(lane ^ distance) + " of " + std::to_string(lanes));
            given.push_back(evaluate(last));
        }
        for (std::int32_t lane = 0; lane < lanes; ++lane) {
            enter(begin + lane);
            m_stores = true;
            char* const at = ok() ? element(node, node.childCount - 1) : nullptr;
            m_stores = false;
            if (at == nullptr)
                return;
            store(at, m_program.buffers[node.index].dtype, given[static_cast<std::size_t>(lane ^ distance)],
                  m_program.nodes[last].dtype);
        }
        first = next;
    }
}

char* LaunchMachine::element(const Node& node, std::uint32_t indices)
{
    if (!ok())
        return nullptr;
    const bool stores = m_stores;
    m_stores = false; // indices may load
    const Buffer& buffer = m_program.buffers[node.index];
    const std::int64_t at = offset(node, indices);
    if (at < 0) {
        if (!ok() && m_statement != nullptr) {
            const std::string what = std::exchange(m_problem, {});
            wrong(nameOf(self()) + ": " + what);
        }
        return nullptr;
    }
    Memory& memory = m_memory[static_cast<std::size_t>(node.index)];
    const std::int64_t own = buffer.place == Place::Thread ? m_thread * buffer.elements + at : at;
    if (buffer.readOnly == 0) {
        std::int64_t& written = memory.written[static_cast<std::size_t>(own)];
        if (stores) {
            written = eraOf(buffer);
        } else if (buffer.place == Place::Device ? written < 0 : written != eraOf(buffer)) {
            wrong(nameOf(self()) + " reads " + (m_program.texts + buffer.name) + " at " + std::to_string(at)
                  + ", which nobody has written");
            return nullptr;
        }
        if (buffer.place != Place::Thread)
            stores ? noteWrite(node.index, at) : noteRead(node.index, at);
    }
    return ok() ? memory.data + own * sizeOf(buffer.dtype) : nullptr;
}

// ---- who may be where ----------------------------------------------------------------------------------------------

std::int64_t LaunchMachine::eraOf(const Buffer& buffer) const
{
    return buffer.place == Place::Device ? m_number : m_firstBlock + m_block;
}

/// Whether another thread was there with nothing between it and this one.
bool LaunchMachine::meets(std::int64_t other, std::int64_t time) const
{
    return other >= 0 && other != self() && (other / m_threads != m_block || time == m_time);
}

LaunchMachine::Visits& LaunchMachine::visitsAt(std::int32_t buffer, std::int64_t at)
{
    Visits& visits = m_memory[static_cast<std::size_t>(buffer)].visits[static_cast<std::size_t>(at)];
    const std::int64_t era = eraOf(m_program.buffers[buffer]);
    if (visits.era != era) {
        visits = Visits();
        visits.era = era;
    }
    return visits;
}

void LaunchMachine::noteRead(std::int32_t buffer, std::int64_t at)
{
    Visits& visits = visitsAt(buffer, at);
    if (isOnItsWay("reads", buffer, at, visits.copier))
        return;
    if (meets(visits.writer, visits.writtenAt))
        return race("reads", buffer, at, visits.writer, "stores to");
    if (visits.readAt != m_time)
        visits.severalReaders = false;
    if (visits.reader >= 0 && visits.reader != self()) {
        visits.severalReaders = visits.severalReaders || visits.readAt == m_time;
        visits.severalBlocks = visits.severalBlocks || visits.reader / m_threads != m_block;
    }
    visits.reader = self();
    visits.readAt = m_time;
}

void LaunchMachine::noteWrite(std::int32_t buffer, std::int64_t at)
{
    Visits& visits = visitsAt(buffer, at);
    if (isOnItsWay("stores to", buffer, at, visits.copier))
        return;
    if (meets(visits.writer, visits.writtenAt))
        return race("stores to", buffer, at, visits.writer, "stores to");
    if (meets(visits.reader, visits.readAt) || visits.severalBlocks
        || (visits.severalReaders && visits.readAt == m_time))
        return race("stores to", buffer, at, visits.reader, "reads");
    visits.writer = self();
    visits.writtenAt = m_time;
    if (m_copies) {
        visits.copier = self();
        m_onTheirWay[static_cast<std::size_t>(m_thread)].open.push_back(&visits);
    }
}

// ---- words ---------------------------------------------------------------------------------------------------------

std::string LaunchMachine::nameOf(std::int64_t thread) const
{
    std::int64_t blockAt[3], threadAt[3];
    place(m_launch->grid, thread / m_threads, blockAt);
    place(m_launch->block, thread % m_threads, threadAt);
    return "thread " + text(threadAt) + " of block " + text(blockAt);
}

void LaunchMachine::race(const char* verb, std::int32_t buffer, std::int64_t at, std::int64_t other,
                         const char* otherVerb)
{
    const bool sameBlock = other / m_threads == m_block;
    wrong(nameOf(self()) + " " + verb + " " + (m_program.texts + m_program.buffers[buffer].name) + " at "
          + std::to_string(at) + ", and " + nameOf(other) + " " + otherVerb + " it "
          + (sameBlock ? "with no barrier between" : "in the same launch"));
}

void LaunchMachine::wrong(const std::string& what)
{
    m_problem = std::string(m_program.texts + m_launch->name) + ": " + what + ": "
                + (m_program.texts + m_statement->intValue);
}

} // namespace lathe::sim
