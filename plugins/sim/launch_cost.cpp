#include "plugins/sim/launch_cost.h"

#include "core/ir/async_copy.h"
#include "core/ir/padded_load.h"
#include "core/ir/scratch.h"
#include "core/ir/substitute.h"
#include "plugins/sim/cost_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>
#include <vector>

namespace lathe::sim {

namespace {

using namespace ir;

/// A loop of a thread around the statement in question.
struct ThreadLoop
{
    const Node* variable;
    double extent;
    LoopKind kind;
};

/// What one launch takes of one core and of memory.
class LaunchEstimator
{
public:
    LaunchEstimator(const LoopNest& nest, const Launch& launch, const GpuMachine& machine)
        : m_nest(nest)
        , m_launch(launch)
        , m_machine(machine)
        , m_threads(static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]))
        , m_blocks(static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2]))
    {
        const auto lanes = static_cast<std::int64_t>(std::min(machine.warp, m_threads));
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            m_lanes.push_back(
                {{launch.threadIndex[0].get(), static_cast<double>(lane % launch.block[0])},
                 {launch.threadIndex[1].get(), static_cast<double>(lane / launch.block[0] % launch.block[1])},
                 {launch.threadIndex[2].get(), static_cast<double>(lane / (launch.block[0] * launch.block[1]))}});
    }

    double cycles()
    {
        visit(m_launch.body);
        const double warps = std::ceil(m_threads / m_machine.warp);
        const double resident = std::max(std::min({residentBlocks(), std::ceil(m_blocks / m_machine.cores)}), 1.0);
        const double waves = std::ceil(m_blocks / (m_machine.cores * resident));
        const double issue = std::max(m_machine.lanes / m_machine.warp, 0.25); // warps a cycle, of one core
        // Others run while one waits for memory: the fewer there are, the more of the wait is seen.
        const double chain = m_accesses * m_machine.latencyCycles / std::max(m_parallelism, 1.0);
        const double busy = resident * warps * (m_instructions + m_conflicts) / issue;
        const double compute = waves * std::max(busy, m_instructions + m_conflicts + chain);
        const double moved = m_blocks * warps * m_segments * m_machine.segmentBytes;
        return std::max({compute, moved / m_machine.cacheBytesPerCycle, touched() / m_machine.memoryBytesPerCycle});
    }

private:
    void visit(const Stmt& s)
    {
        if (!s)
            return;
        switch (s->kind) {
        case StmtKind::For:
            m_loops.push_back({s->variable.get(), std::max(valueAt(s->extent, {}), 1.0), s->loop});
            if (s->loop == LoopKind::Serial)
                m_instructions += iterations(nullptr) * (s->unrollHint > 1 ? 2.0 / s->unrollHint : 2);
            visit(s->body[0]);
            m_loops.pop_back();
            break;
        case StmtKind::Store: estimate(*s); break;
        case StmtKind::Shuffle: m_instructions += iterations(nullptr) * 2; break; // as an access to shared memory
        case StmtKind::Barrier: m_instructions += iterations(nullptr) * 10; break;
        case StmtKind::Block:
        case StmtKind::If:
            m_instructions += s->kind == StmtKind::If ? iterations(nullptr) : 0;
            for (const Stmt& inner : s->body)
                visit(inner);
            break;
        case StmtKind::AsyncCopy: { // nobody stands still for it
            const double waiting = m_accesses;
            visit(synchronously(m_nest, *s));
            m_accesses = waiting;
            break;
        }
        case StmtKind::AsyncCommit: break;
        case StmtKind::AsyncWait: // for what is on its way while other work is done
            m_accesses += iterations(nullptr) / (s->count + 2);
            break;
        case StmtKind::Prefetch:
        case StmtKind::Evaluate: break;
        }
    }

    /// How often a thread does something that depends on these variables (null: on all). What an unrolled loop does not
    /// change stays in a register over it.
    double iterations(const std::unordered_set<const Node*>* used, bool vectors = true) const
    {
        double n = 1;
        for (const ThreadLoop& loop : m_loops) {
            const bool isHeld = loop.kind == LoopKind::Unrolled && used != nullptr && !used->contains(loop.variable);
            const bool isVector = loop.kind == LoopKind::Vectorized && !vectors;
            n *= isHeld || isVector ? 1 : loop.extent;
        }
        return n;
    }

    const ThreadLoop* vectorLoop() const
    {
        for (const ThreadLoop& loop : m_loops)
            if (loop.kind == LoopKind::Vectorized)
                return &loop;
        return nullptr;
    }

    static std::unordered_set<const Node*> variablesOf(const std::vector<Expr>& indices)
    {
        std::unordered_set<const Node*> used;
        for (const Expr& index : indices)
            ir::visit(index, [&used](const Expr& e) {
                if (e->kind == ExprKind::Var)
                    used.insert(e.get());
            });
        return used;
    }

    void estimate(const StmtNode& s)
    {
        double operations = 0;
        std::vector<Access> accesses;
        collect(s.value, accesses, operations, [&](const Expr& e) {
            // The condition of a choice between an element and a number is one operation, as often as the element is
            // loaded.
            if (!ir::isPaddedLoad(e))
                return false;
            const Expr& load = e->operands[1];
            const auto used = variablesOf(load->operands);
            m_instructions += iterations(&used, false);
            accesses.push_back({load->source, load->operands, false});
            return true;
        });
        accesses.push_back({s.buffer, s.indices, true});
        const ThreadLoop* const vector = vectorLoop();
        const double penalty = vector != nullptr ? 1 : m_machine.scalarPenalty;
        m_instructions += iterations(nullptr) * std::max(operations / 2, 0.5) * penalty; // a product and a sum are one
        double unrolled = 1;
        for (const ThreadLoop& loop : m_loops)
            unrolled *= loop.kind == LoopKind::Unrolled ? loop.extent : 1;
        m_parallelism = std::max(m_parallelism, std::min(unrolled, 16.0));
        if (unrolled > 2048)
            m_instructions += iterations(nullptr) * 0.5; // the code leaves its cache
        for (const Access& access : accesses)
            this->access(access, vector);
    }

    void access(const Access& access, const ThreadLoop* vector)
    {
        const Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(access.buffer)];
        const auto bytes = static_cast<double>(sizeOf(buffer.dtype));
        if (buffer.scope == Scope::Register || (buffer.scope == Scope::Local && elementCount(buffer) <= 256))
            return;
        const std::unordered_set<const Node*> used = variablesOf(access.indices);
        const double wide = vector != nullptr && used.contains(vector->variable) ? vector->extent : 1;
        const double pieces = std::ceil(wide * bytes / m_machine.vectorBytes);
        const double times = iterations(&used, false) * pieces;
        m_instructions += times;
        const bool isShared = buffer.scope == Scope::Shared && m_machine.coreSharedBytes > 0;
        std::map<double, std::set<double>> words; // of shared memory, by bank
        std::set<double> segments;
        for (const auto& lane : m_lanes)
            for (double element = 0; element < wide; ++element) {
                auto at = lane;
                if (vector != nullptr)
                    at[vector->variable] = element;
                double place = 0;
                for (std::size_t d = 0; d < access.indices.size(); ++d)
                    place += valueAt(access.indices[d], at) * static_cast<double>(buffer.strides[d]);
                const double word = std::floor(place * bytes / 4);
                words[std::fmod(word, m_machine.banks)].insert(word);
                segments.insert(std::floor(place * bytes / m_machine.segmentBytes));
            }
        if (isShared) {
            std::size_t most = 1;
            for (const auto& [bank, held] : words)
                most = std::max(most, held.size());
            const double ideal = std::ceil(static_cast<double>(m_lanes.size()) * wide * bytes / (4 * m_machine.banks));
            m_conflicts += iterations(&used, false) * std::max(static_cast<double>(most) - std::max(ideal, 1.0), 0.0);
            return;
        }
        m_accesses += buffer.scope == Scope::Shared ? 0.1 * times : access.store ? 0 : times;
        m_segments += iterations(&used, false) * static_cast<double>(segments.size());
    }

    /// Blocks that one core has at the same time: what they take of it decides.
    double residentBlocks() const
    {
        double registers = 24, shared = static_cast<double>(sharedBytes(m_nest, m_launch));
        for (const std::int32_t id : buffersOf(m_launch.body)) {
            const Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            if (buffer.scope == Scope::Register || buffer.scope == Scope::Local)
                registers += static_cast<double>(elementCount(buffer) * sizeOf(buffer.dtype)) / 4;
        }
        registers = std::min(registers, 255.0);
        const double warps = std::ceil(m_threads / m_machine.warp) * m_machine.warp;
        double resident = std::min({m_machine.coreBlocks, std::floor(m_machine.coreThreads / warps),
                                    std::floor(m_machine.coreRegisters / (registers * warps))});
        if (shared > 0 && m_machine.coreSharedBytes > 0)
            resident = std::min(resident, std::floor(m_machine.coreSharedBytes / shared));
        return std::max(resident, 1.0);
    }

    /// Bytes that must come from memory and go there once.
    double touched() const
    {
        double bytes = 0;
        for (const std::int32_t id : buffersOf(m_launch.body)) {
            const Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            if (buffer.scope == Scope::Parameter || buffer.scope == Scope::Team)
                bytes += static_cast<double>(elementCount(buffer) * sizeOf(buffer.dtype));
        }
        return bytes;
    }

    const LoopNest& m_nest;
    const Launch& m_launch;
    const GpuMachine& m_machine;
    double m_threads, m_blocks;
    std::vector<std::map<const Node*, double>> m_lanes; ///< of the first warp: its axes
    std::vector<ThreadLoop> m_loops;
    double m_instructions = 0; ///< of one thread
    double m_accesses = 0; ///< of one thread, that wait for memory
    double m_segments = 0; ///< of one warp
    double m_conflicts = 0; ///< cycles of one warp
    double m_parallelism = 1; ///< accesses of a thread on their way together
};

} // namespace

GpuMachine GpuMachine::like(std::string_view name)
{
    GpuMachine m;
    if (name == "cuda")
        return m;
    if (name == "mali") {
        m.ghz = 0.85;
        m.cores = 12;
        m.warp = 16;
        m.lanes = 16;
        m.coreThreads = 768;
        m.coreRegisters = 24576;
        m.coreSharedBytes = 0;
        m.segmentBytes = 64;
        m.cacheBytesPerCycle = 384;
        m.memoryBytesPerCycle = 35;
        m.latencyCycles = 250;
        m.scalarPenalty = 1.6;
        m.launchNs = 30000;
        return m;
    }
    m.ghz = 1.2;
    m.cores = 24;
    m.warp = 16;
    m.lanes = 64;
    m.memoryBytesPerCycle = 60;
    m.launchNs = 8000;
    return m;
}

Result<> GpuMachine::take(std::string_view json)
{
    return setFields(json, {{"ghz", &ghz},
                            {"cores", &cores},
                            {"warp", &warp},
                            {"lanes", &lanes},
                            {"core_threads", &coreThreads},
                            {"core_blocks", &coreBlocks},
                            {"core_registers", &coreRegisters},
                            {"core_shared_bytes", &coreSharedBytes},
                            {"banks", &banks},
                            {"segment_bytes", &segmentBytes},
                            {"cache_bytes_per_cycle", &cacheBytesPerCycle},
                            {"memory_bytes_per_cycle", &memoryBytesPerCycle},
                            {"latency_cycles", &latencyCycles},
                            {"vector_bytes", &vectorBytes},
                            {"scalar_penalty", &scalarPenalty},
                            {"launch_ns", &launchNs},
                            {"ruggedness", &ruggedness}});
}

double launchTimeNs(const LoopNest& nest, const GpuMachine& machine)
{
    double ns = 0;
    for (const Launch& launch : nest.launches)
        ns += LaunchEstimator(nest, launch, machine).cycles() / machine.ghz + machine.launchNs;
    return ns * rugged(nest, machine.seed, machine.ruggedness);
}

} // namespace lathe::sim
