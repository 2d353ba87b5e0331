#include "plugins/sim/cost_model.h"

#include "core/support/hash.h"
#include "core/support/random.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace lathe::sim {

namespace {

using namespace ir;

/// A loop around the statement in question.
struct Loop
{
    const Node* variable;
    double extent;
    LoopKind kind;
};

} // namespace

double valueAt(const Expr& e, const std::map<const Node*, double>& at)
{
    const auto operand = [&](std::size_t i) { return valueAt(e->operands[i], at); };
    switch (e->kind) {
    case ExprKind::IntImm: return static_cast<double>(e->intValue);
    case ExprKind::FloatImm: return e->floatValue;
    case ExprKind::Var: {
        const auto known = at.find(e.get());
        return known == at.end() ? 0 : known->second;
    }
    case ExprKind::Add: return operand(0) + operand(1);
    case ExprKind::Sub: return operand(0) - operand(1);
    case ExprKind::Mul: return operand(0) * operand(1);
    case ExprKind::Div: return operand(1) == 0 ? 0 : operand(0) / operand(1);
    case ExprKind::FloorDiv: return operand(1) == 0 ? 0 : std::floor(operand(0) / operand(1));
    case ExprKind::FloorMod: return operand(1) == 0 ? 0 : operand(0) - std::floor(operand(0) / operand(1)) * operand(1);
    case ExprKind::Min: return std::min(operand(0), operand(1));
    case ExprKind::Max: return std::max(operand(0), operand(1));
    case ExprKind::Cast: return operand(0);
    default: return 0;
    }
}

void collect(const Expr& e, std::vector<Access>& accesses, double& operations,
             const std::function<bool(const Expr&)>& isCounted)
{
    if (isCounted && isCounted(e))
        return;
    if (e->kind == ExprKind::Load)
        accesses.push_back({e->source, e->operands, false});
    else if (e->kind == ExprKind::Call)
        operations += 12;
    else if (e->kind >= ExprKind::Add && e->kind <= ExprKind::Select)
        operations += 1;
    if (e->kind != ExprKind::Load) // index arithmetic is the loops' affair
        for (const Expr& operand : e->operands)
            collect(operand, accesses, operations, isCounted);
}

namespace {

class Estimator
{
public:
    Estimator(const LoopNest& nest, const CpuMachine& machine)
        : m_nest(nest)
        , m_machine(machine)
    {
    }

    double cycles()
    {
        double total = 0;
        for (const Stmt& phase : m_nest.phases) {
            m_cycles = 0;
            m_parallel = 1;
            visit(phase);
            // Parts get whole iterations: eleven on eight cores take as long as sixteen.
            const double rounds = std::ceil(m_parallel / m_machine.cores);
            total += m_cycles / m_parallel * rounds + m_machine.dispatchNs * m_machine.ghz * (m_parallel > 1 ? 1 : 0.1);
        }
        return total;
    }

private:
    void visit(const Stmt& s)
    {
        switch (s->kind) {
        case StmtKind::For: {
            const double extent = std::max(valueAt(s->extent, {}), 1.0);
            m_loops.push_back({s->variable.get(), extent, s->loop});
            if (s->loop == LoopKind::Parallel || (s->loop >= LoopKind::BlockX && s->loop <= LoopKind::ThreadZ))
                m_parallel *= extent;
            visit(s->body[0]);
            m_loops.pop_back();
            break;
        }
        case StmtKind::Store: estimate(*s); break;
        case StmtKind::Block:
        case StmtKind::If:
            for (const Stmt& child : s->body)
                visit(child);
            break;
        case StmtKind::Prefetch:
        case StmtKind::Evaluate:
        case StmtKind::Barrier:
        case StmtKind::AsyncCopy:
        case StmtKind::AsyncCommit:
        case StmtKind::AsyncWait:
        case StmtKind::Shuffle: break; // not in phases
        }
    }

    double stride(const Access& access, const Node* variable) const
    {
        const Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(access.buffer)];
        double moved = 0;
        for (std::size_t d = 0; d < access.indices.size(); ++d)
            moved += (valueAt(access.indices[d], {{variable, 1}}) - valueAt(access.indices[d], {}))
                     * static_cast<double>(buffer.strides[d]);
        return std::fabs(moved);
    }

    /// Bytes that the access touches while the loops from `level` inwards run.
    double footprint(const Access& access, std::size_t level) const
    {
        const Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(access.buffer)];
        std::map<const Node*, double> last;
        for (std::size_t l = level; l < m_loops.size(); ++l)
            last[m_loops[l].variable] = m_loops[l].extent - 1;
        double elements = 1;
        for (std::size_t d = 0; d < access.indices.size(); ++d) {
            const double range = std::fabs(valueAt(access.indices[d], last) - valueAt(access.indices[d], {})) + 1;
            double covered = std::min(range, static_cast<double>(buffer.shape[d]));
            if (d + 1 == access.indices.size())
                covered = std::max(covered, 16.0); // a whole cache line
            elements *= covered;
        }
        return elements * static_cast<double>(sizeOf(buffer.dtype));
    }

    /// Bytes that pass into a cache of that size: what the largest inner block that fits touches, once per outer
    /// iteration.
    double traffic(const std::vector<Access>& accesses, double capacity) const
    {
        double outer = 1;
        for (std::size_t level = 0; level <= m_loops.size(); ++level) {
            double block = 0;
            for (const Access& access : accesses)
                block += footprint(access, level);
            if (block <= capacity || level == m_loops.size())
                return outer * block;
            outer *= m_loops[level].extent;
        }
        return 0;
    }

    void estimate(const StmtNode& s)
    {
        std::vector<Access> accesses;
        double operations = 0;
        collect(s.value, accesses, operations);
        accesses.push_back({s.buffer, s.indices, true});
        double iterations = 1;
        double overhead = 0;
        double unrolled = 1;
        double vectors = 1;
        const Loop* vector = nullptr;
        for (const Loop& loop : m_loops) {
            iterations *= loop.extent;
            switch (loop.kind) {
            case LoopKind::Serial: overhead += iterations / vectors * 1.5; break;
            case LoopKind::Unrolled: unrolled *= loop.extent; break;
            case LoopKind::Vectorized:
                vectors = loop.extent;
                vector = &loop;
                break;
            default: break;
            }
        }
        const double issued = vector ? iterations / vectors * std::ceil(vectors / m_machine.lanes) : iterations;
        double perVector = std::max(operations, 1.0) / 2;
        for (const Access& access : accesses) {
            const double step = vector ? stride(access, vector->variable) : 0;
            if (m_nest.buffers[static_cast<std::size_t>(access.buffer)].scope == Scope::Register)
                continue;
            perVector += vector && step > 1 ? 0.5 * std::min(vectors, m_machine.lanes) : 0.5;
        }
        const double wide = vector ? std::ceil(vectors / m_machine.lanes) : 1;
        double compute = issued * perVector + overhead;
        if (unrolled * wide > m_machine.vectorRegisters - 2)
            compute *= 2.5; // accumulators no longer stay in registers
        if (unrolled * wide < 6)
            compute *= 1 + (6 - unrolled * wide) * 0.25; // a chain of dependent operations
        if (unrolled > 256)
            compute *= 1.6; // the code leaves its cache
        std::vector<Access> inMemory;
        for (const Access& access : accesses)
            if (m_nest.buffers[static_cast<std::size_t>(access.buffer)].scope != Scope::Register)
                inMemory.push_back(access);
        const double fromL2 = traffic(inMemory, m_machine.l1Bytes) / m_machine.l2BytesPerCycle;
        const double fromL3 = traffic(inMemory, m_machine.l2Bytes) / m_machine.l3BytesPerCycle;
        const double fromMemory = traffic(inMemory, m_machine.l3Bytes) / m_machine.memoryBytesPerCycle;
        m_cycles += std::max({compute, fromL2, fromL3, fromMemory})
                    + 0.3 * std::min(compute, fromL2 + fromL3 + fromMemory);
    }

    const LoopNest& m_nest;
    const CpuMachine& m_machine;
    std::vector<Loop> m_loops;
    double m_cycles = 0;
    double m_parallel = 1;
};

double steps(const Expr& e)
{
    double n = 1;
    for (const Expr& operand : e->operands)
        n += steps(operand);
    return n;
}

double steps(const Stmt& s)
{
    double n = 1;
    for (const Stmt& child : s->body)
        n += steps(child);
    if (s->kind == StmtKind::For)
        return 1 + n * std::max(valueAt(s->extent, {}), 1.0);
    if (s->kind == StmtKind::Store || s->kind == StmtKind::AsyncCopy) {
        n += steps(s->value);
        for (const Expr& index : s->indices)
            n += steps(index);
    }
    return n;
}

} // namespace

Result<> setFields(std::string_view text, const std::map<std::string, double*>& fields)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object())
        return makeError(Errc::BadFile, "the cost file is no JSON object");
    for (const auto& [key, value] : json.items()) {
        const auto field = fields.find(key);
        if (field == fields.end() || !value.is_number() || value.get<double>() < 0)
            return makeError(Errc::BadFile, "the cost file's \"" + key
                                                + "\" is no property of the simulated machine, or no "
                                                  "number from zero");
        *field->second = value.get<double>();
    }
    return {};
}

Result<CpuMachine> CpuMachine::fromJson(std::string_view text)
{
    CpuMachine m;
    LATHE_TRY(setFields(text, {{"ghz", &m.ghz},
                               {"cores", &m.cores},
                               {"lanes", &m.lanes},
                               {"vector_registers", &m.vectorRegisters},
                               {"l1_bytes", &m.l1Bytes},
                               {"l2_bytes", &m.l2Bytes},
                               {"l3_bytes", &m.l3Bytes},
                               {"l2_bytes_per_cycle", &m.l2BytesPerCycle},
                               {"l3_bytes_per_cycle", &m.l3BytesPerCycle},
                               {"memory_bytes_per_cycle", &m.memoryBytesPerCycle},
                               {"dispatch_ns", &m.dispatchNs},
                               {"ruggedness", &m.ruggedness}}));
    return m;
}

double rugged(const LoopNest& nest, std::uint64_t seed, double amount)
{
    LoopNest nameless = nest;
    nameless.name.clear();
    const Hash128 text = contentHash(print(nameless));
    return 1 + amount * (Random(seed, text.high, text.low).uniform() * 2 - 1);
}

double modelTimeNs(const LoopNest& nest, const CpuMachine& machine)
{
    return Estimator(nest, machine).cycles() / machine.ghz * rugged(nest, machine.seed, machine.ruggedness);
}

double interpretationSteps(const LoopNest& nest)
{
    double n = 0;
    for (const Stmt& phase : nest.phases)
        n += steps(phase);
    for (const Launch& launch : nest.launches)
        if (launch.body)
            n += steps(launch.body) * static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2])
                 * static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]);
    return n;
}

} // namespace lathe::sim
