#include "core/compute/interpret.h"

#include "core/compute/analysis.h"
#include "core/compute/interpret_effort.h"
#include "core/compute/interpret_memo.h"
#include "core/compute/interpret_program.h"
#include "core/compute/interpret_values.h"
#include "core/ir/scalar.h"
#include "core/runtime/processors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace lathe::compute {

struct Interpreter::Impl
{
    DagPtr dag;
    std::vector<Program> programs; ///< empty for placeholders
};

namespace {

/// What makes a further thread worth its start.
constexpr std::size_t kBlocksPerThread = 512;

/// One run: where values lie, and the registers of each operation's program.
class Machine
{
public:
    Machine(const Dag& dag, const std::vector<Program>& programs)
        : m_dag(dag)
        , m_programs(programs)
        , m_sources(dag.ops.size())
        , m_memos(dag.ops.size())
        , m_frames(dag.ops.size())
    {
    }

    /// Values of an operation that is not computed whole are kept once somebody asked for them.
    void keep(std::int32_t index)
    {
        m_memos[static_cast<std::size_t>(index)].enable(static_cast<std::size_t>(spatialSize(opAt(index))));
    }

    Result<> bind(std::span<const std::span<const std::byte>> inputs)
    {
        if (inputs.size() != m_dag.inputs.size())
            return makeError(Errc::InvalidArgument,
                             fmt::format("{} inputs for {} placeholders", inputs.size(), m_dag.inputs.size()));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const Op& op = opAt(m_dag.inputs[i]);
            const auto expected = static_cast<std::size_t>(spatialSize(op) * sizeOf(op.dtype));
            if (inputs[i].size() != expected)
                return makeError(Errc::InvalidArgument, fmt::format("input {} ({}) has {} bytes, {} are expected", i,
                                                                    op.name, inputs[i].size(), expected));
            Source& source = m_sources[static_cast<std::size_t>(m_dag.inputs[i])];
            source.data = inputs[i].data();
            source.stored = op.dtype;
        }
        return {};
    }

    /// Computes all points of an operation into a wide buffer.
    Result<> materialize(std::int32_t index)
    {
        const Op& op = opAt(index);
        Source& source = m_sources[static_cast<std::size_t>(index)];
        const auto size = static_cast<std::size_t>(spatialSize(op));
        source.wide.resize((size + kLanes - 1) / kLanes);
        const std::size_t blocks = source.wide.size();
        static const std::size_t processors = runtime::processorCount();
        const std::size_t shares = std::clamp<std::size_t>(blocks / kBlocksPerThread, 1, processors);
        std::vector<Machine> machines;
        for (std::size_t share = 1; share < shares; ++share)
            machines.push_back(beside());
        {
            std::vector<std::jthread> threads;
            for (std::size_t share = 1; share < shares; ++share)
                threads.emplace_back([&, share] {
                    machines[share - 1].evaluateBlocks(index, source.wide, share * blocks / shares,
                                                       (share + 1) * blocks / shares);
                });
            evaluateBlocks(index, source.wide, 0, blocks / shares);
        }
        for (std::size_t share = 1; share < shares && m_problem.empty(); ++share)
            m_problem = machines[share - 1].m_problem;
        if (!m_problem.empty())
            return makeError(Errc::Internal, m_problem);
        source.data = reinterpret_cast<const std::byte*>(source.wide.data());
        source.stored = isFloat(op.dtype) ? DType::F64 : DType::I64;
        return {};
    }

    /// Values of an operation at up to kLanes points, computing what is not materialized on the way.
    Result<> pointsOf(std::int32_t index, const LaneBlock* axes, std::size_t lanes, LaneBlock& out)
    {
        read(index, axes, nullptr, lanes, out);
        return m_problem.empty() ? Result<>() : Result<>(makeError(Errc::Internal, m_problem));
    }

    double wideFloat(std::int32_t index, std::int64_t element) const
    {
        return blockOf(index, element).f[static_cast<std::size_t>(element) % kLanes];
    }
    std::int64_t wideInt(std::int32_t index, std::int64_t element) const
    {
        return blockOf(index, element).i[static_cast<std::size_t>(element) % kLanes];
    }

private:
    /// Another one that reads what this one has computed so far.
    Machine beside() const
    {
        Machine other(m_dag, m_programs);
        for (std::size_t i = 0; i < m_sources.size(); ++i) {
            other.m_sources[i].data = m_sources[i].data;
            other.m_sources[i].stored = m_sources[i].stored;
        }
        return other;
    }

    /// Blocks [first, last) of all points of an operation, in their order.
    void evaluateBlocks(std::int32_t index, std::vector<LaneBlock>& wide, std::size_t first, std::size_t last)
    {
        if (first == last)
            return;
        const Op& op = opAt(index);
        const auto size = static_cast<std::size_t>(spatialSize(op));
        const std::size_t rank = op.shape.size();
        std::vector<LaneBlock> axes(rank);
        std::vector<std::int64_t> point(rank, 0);
        auto rest = static_cast<std::int64_t>(first * kLanes);
        for (std::size_t d = rank; d-- > 0;) {
            point[d] = rest % op.shape[d];
            rest /= op.shape[d];
        }
        for (std::size_t block = first; block < last && m_problem.empty(); ++block) {
            const std::size_t lanes = std::min(kLanes, size - block * kLanes);
            for (std::size_t l = 0; l < lanes; ++l) {
                for (std::size_t d = 0; d < rank; ++d)
                    axes[d].i[l] = point[d];
                for (std::size_t d = rank; d-- > 0;) {
                    if (++point[d] < op.shape[d])
                        break;
                    point[d] = 0;
                }
            }
            evaluate(index, axes.data(), lanes, wide[block]);
        }
    }

    const Op& opAt(std::int32_t index) const { return m_dag.ops[static_cast<std::size_t>(index)]; }

    const LaneBlock& blockOf(std::int32_t index, std::int64_t element) const
    {
        return m_sources[static_cast<std::size_t>(index)].wide[static_cast<std::size_t>(element) / kLanes];
    }

    /// `indices` are one block per dimension; lanes whose guard is 0 are not read and give 0.
    void read(std::int32_t index, const LaneBlock* indices, const LaneBlock* guard, std::size_t lanes, LaneBlock& out)
    {
        const Op& op = opAt(index);
        bool active[kLanes];
        bool any = false, all = true;
        std::int64_t offsets[kLanes] = {};
        for (std::size_t l = 0; l < lanes; ++l) {
            active[l] = !guard || guard->i[l] != 0;
            any |= active[l];
            all &= active[l];
        }
        if (!any) {
            out.i.fill(0);
            return;
        }
        for (std::size_t d = 0; d < op.shape.size(); ++d)
            if (!all || !addInside(indices[d], op.shape[d], lanes, offsets))
                all = addEach(op, d, indices[d], lanes, active, offsets);
        const Source& source = m_sources[static_cast<std::size_t>(index)];
        if (source.data || spatialSize(op) == 0) {
            gather(source, offsets, active, lanes, out);
            return;
        }
        std::vector<LaneBlock>& axes = frameOf(index).axes;
        if (Memo& memo = m_memos[static_cast<std::size_t>(index)]; memo.enabled()) {
            memo.read(offsets, active, lanes, out, [&](const std::size_t* which, std::size_t count, LaneBlock& values) {
                for (std::size_t d = 0; d < op.shape.size(); ++d)
                    for (std::size_t k = 0; k < count; ++k)
                        axes[d].i[k] = indices[d].i[which[k]];
                evaluate(index, axes.data(), count, values);
            });
            return;
        }
        // Not materialized: compute these points. Lanes that are off compute some valid point, unseen.
        for (std::size_t d = 0; d < op.shape.size(); ++d)
            for (std::size_t l = 0; l < lanes; ++l)
                axes[d].i[l] = active[l] ? indices[d].i[l] : 0;
        evaluate(index, axes.data(), lanes, out);
        for (std::size_t l = 0; l < lanes; ++l)
            if (!active[l])
                out.i[l] = 0;
    }

    /// The next dimension of offsets, if no lane is outside of it: the common case, without a branch for a lane.
    static bool addInside(const LaneBlock& indices, std::int64_t extent, std::size_t lanes, std::int64_t* offsets)
    {
        bool outside = false;
        for (std::size_t l = 0; l < lanes; ++l)
            outside |= static_cast<std::uint64_t>(indices.i[l]) >= static_cast<std::uint64_t>(extent);
        if (outside)
            return false;
        for (std::size_t l = 0; l < lanes; ++l)
            offsets[l] = offsets[l] * extent + indices.i[l];
        return true;
    }

    /// The same of lanes some of which are off, or outside, which ends them. Whether all are still on.
    bool addEach(const Op& op, std::size_t d, const LaneBlock& indices, std::size_t lanes, bool* active,
                 std::int64_t* offsets)
    {
        bool all = true;
        for (std::size_t l = 0; l < lanes; ++l) {
            const std::int64_t at = indices.i[l];
            if (active[l] && static_cast<std::uint64_t>(at) >= static_cast<std::uint64_t>(op.shape[d])) {
                fail(op, d, at);
                active[l] = false;
            }
            offsets[l] = offsets[l] * op.shape[d] + (active[l] ? at : 0);
            all &= active[l];
        }
        return all;
    }

    void fail(const Op& op, std::size_t dimension, std::int64_t at)
    {
        if (m_problem.empty())
            m_problem = fmt::format("a load of {} at {} in dimension {} is outside of its extent {}", op.name, at,
                                    dimension, op.shape[dimension]);
    }

    struct Frame
    {
        std::vector<LaneBlock> registers;
        std::vector<LaneBlock> axes; ///< arguments of a call by read()
        std::vector<LaneBlock> indices; ///< of the load at hand
    };

    /// An operation never calls itself, so one frame each is enough.
    Frame& frameOf(std::int32_t index)
    {
        Frame& frame = m_frames[static_cast<std::size_t>(index)];
        const Program& program = m_programs[static_cast<std::size_t>(index)];
        if (frame.registers.empty()) {
            frame.registers.resize(static_cast<std::size_t>(std::max(1, program.registers)));
            frame.axes.resize(opAt(index).shape.size() + 1);
            std::size_t rank = 0;
            for (const LoadSite& site : program.loads)
                rank = std::max(rank, site.indices.size());
            frame.indices.resize(rank + 1);
            for (const ConstantRegister& c : program.constants) {
                LaneBlock& block = frame.registers[static_cast<std::size_t>(c.target)];
                if (c.isFloat)
                    block.f.fill(c.f);
                else
                    block.i.fill(c.i);
            }
        }
        return frame;
    }

    void evaluate(std::int32_t index, const LaneBlock* axes, std::size_t lanes, LaneBlock& out)
    {
        const Op& op = opAt(index);
        const Program& program = m_programs[static_cast<std::size_t>(index)];
        Frame& frame = frameOf(index);
        LaneBlock* r = frame.registers.data();
        for (std::size_t d = 0; d < op.shape.size(); ++d)
            r[d] = axes[d];
        execute(program, program.code[0], frame, lanes);
        if (!program.isReduce)
            out = r[program.value];
        else
            reduceInto(op, program, frame, lanes, out);
        if (!program.resultIsFloat)
            for (std::size_t l = 0; l < lanes; ++l)
                out.i[l] = ir::wrap(out.i[l], op.dtype);
    }

    void reduceInto(const Op& op, const Program& program, Frame& frame, std::size_t lanes, LaneBlock& out)
    {
        LaneBlock best; // of arg reductions; others accumulate in out
        const bool isArg = program.combiner == ir::Combiner::ArgMax || program.combiner == ir::Combiner::ArgMin;
        LaneBlock& accumulator = isArg ? best : out;
        if (program.valueIsFloat)
            accumulator.f.fill(program.identityF);
        else
            accumulator.i.fill(program.identityI);
        if (isArg)
            out.i.fill(0);
        const std::size_t depth = op.reduceExtents.size();
        for (const std::int64_t extent : op.reduceExtents)
            if (extent == 0)
                return;
        std::vector<std::int64_t> position(depth, 0);
        const std::size_t firstReduce = op.shape.size();
        std::size_t changed = 0; // the outermost axis that moved
        for (std::int64_t step = 0;; ++step) {
            for (std::size_t k = changed; k < depth; ++k) {
                frame.registers[firstReduce + k].i.fill(position[k]);
                execute(program, program.code[k + 1], frame, lanes);
            }
            combine(program, frame.registers[static_cast<std::size_t>(program.value)], step, lanes, accumulator, out);
            if (!m_problem.empty())
                return;
            std::size_t k = depth;
            while (k > 0 && ++position[k - 1] == op.reduceExtents[k - 1])
                position[--k] = 0;
            if (k == 0)
                return;
            changed = k - 1;
        }
    }

    static void combine(const Program& program, const LaneBlock& value, std::int64_t step, std::size_t lanes,
                        LaneBlock& accumulator, LaneBlock& out)
    {
        const auto each = [&](auto apply) {
            for (std::size_t l = 0; l < lanes; ++l)
                apply(l);
        };
        const bool isF = program.valueIsFloat;
        switch (program.combiner) {
        case ir::Combiner::Sum:
            if (isF)
                each([&](std::size_t l) { accumulator.f[l] += value.f[l]; });
            else
                each([&](std::size_t l) {
                    accumulator.i[l] = static_cast<std::int64_t>(static_cast<std::uint64_t>(accumulator.i[l])
                                                                 + static_cast<std::uint64_t>(value.i[l]));
                });
            break;
        case ir::Combiner::Prod:
            if (isF)
                each([&](std::size_t l) { accumulator.f[l] *= value.f[l]; });
            else
                each([&](std::size_t l) {
                    accumulator.i[l] = static_cast<std::int64_t>(static_cast<std::uint64_t>(accumulator.i[l])
                                                                 * static_cast<std::uint64_t>(value.i[l]));
                });
            break;
        case ir::Combiner::Max:
            if (isF)
                each([&](std::size_t l) { accumulator.f[l] = ir::maximum(accumulator.f[l], value.f[l]); });
            else
                each([&](std::size_t l) {
                    if (ir::lessThan(accumulator.i[l], value.i[l], program.valueType))
                        accumulator.i[l] = value.i[l];
                });
            break;
        case ir::Combiner::Min:
            if (isF)
                each([&](std::size_t l) { accumulator.f[l] = ir::minimum(accumulator.f[l], value.f[l]); });
            else
                each([&](std::size_t l) {
                    if (ir::lessThan(value.i[l], accumulator.i[l], program.valueType))
                        accumulator.i[l] = value.i[l];
                });
            break;
        case ir::Combiner::ArgMax:
        case ir::Combiner::ArgMin: {
            const bool largest = program.combiner == ir::Combiner::ArgMax;
            each([&](std::size_t l) {
                const bool better = isF ? (largest ? value.f[l] > accumulator.f[l] : value.f[l] < accumulator.f[l])
                                        : (largest ? ir::lessThan(accumulator.i[l], value.i[l], program.valueType)
                                                   : ir::lessThan(value.i[l], accumulator.i[l], program.valueType));
                if (!better)
                    return;
                if (isF)
                    accumulator.f[l] = value.f[l];
                else
                    accumulator.i[l] = value.i[l];
                out.i[l] = step;
            });
            break;
        }
        }
    }

    void execute(const Program& program, const std::vector<Instruction>& code, Frame& frame, std::size_t lanes)
    {
        LaneBlock* r = frame.registers.data();
        for (const Instruction& instruction : code) {
            LaneBlock& t = r[instruction.target];
            if (instruction.code == OpCode::Load) {
                const LoadSite& site = program.loads[static_cast<std::size_t>(instruction.b)];
                for (std::size_t d = 0; d < site.indices.size(); ++d)
                    frame.indices[d] = r[site.indices[d]];
                read(site.source, frame.indices.data(), instruction.a < 0 ? nullptr : &r[instruction.a], lanes, t);
            } else {
                static const LaneBlock kNone{};
                arithmetic(instruction, instruction.a < 0 ? kNone : r[instruction.a],
                           instruction.b < 0 ? kNone : r[instruction.b], instruction.c < 0 ? kNone : r[instruction.c],
                           lanes, t);
            }
        }
    }

    static void arithmetic(const Instruction& instruction, const LaneBlock& a, const LaneBlock& b, const LaneBlock& c,
                           std::size_t lanes, LaneBlock& t)
    {
        const auto floats = [&](auto value) {
            for (std::size_t l = 0; l < lanes; ++l)
                t.f[l] = value(l);
        };
        const auto ints = [&](auto value) {
            for (std::size_t l = 0; l < lanes; ++l)
                t.i[l] = static_cast<std::int64_t>(value(l));
        };
        const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
        // 64 bits without a sign: what depends on it.
        const bool wide = instruction.type == DType::U64;
        const auto less = [wide, u](std::int64_t x, std::int64_t y) { return wide ? u(x) < u(y) : x < y; };
        switch (instruction.code) {
        case OpCode::AddF: floats([&](std::size_t l) { return a.f[l] + b.f[l]; }); break;
        case OpCode::SubF: floats([&](std::size_t l) { return a.f[l] - b.f[l]; }); break;
        case OpCode::MulF: floats([&](std::size_t l) { return a.f[l] * b.f[l]; }); break;
        case OpCode::DivF: floats([&](std::size_t l) { return a.f[l] / b.f[l]; }); break;
        case OpCode::MinF: floats([&](std::size_t l) { return ir::minimum(a.f[l], b.f[l]); }); break;
        case OpCode::MaxF: floats([&](std::size_t l) { return ir::maximum(a.f[l], b.f[l]); }); break;
        case OpCode::EqF: ints([&](std::size_t l) { return a.f[l] == b.f[l]; }); break;
        case OpCode::NeF: ints([&](std::size_t l) { return a.f[l] != b.f[l]; }); break;
        case OpCode::LtF: ints([&](std::size_t l) { return a.f[l] < b.f[l]; }); break;
        case OpCode::LeF: ints([&](std::size_t l) { return a.f[l] <= b.f[l]; }); break;
        case OpCode::GtF: ints([&](std::size_t l) { return a.f[l] > b.f[l]; }); break;
        case OpCode::GeF: ints([&](std::size_t l) { return a.f[l] >= b.f[l]; }); break;
        case OpCode::AddI: ints([&](std::size_t l) { return u(a.i[l]) + u(b.i[l]); }); break;
        case OpCode::SubI: ints([&](std::size_t l) { return u(a.i[l]) - u(b.i[l]); }); break;
        case OpCode::MulI: ints([&](std::size_t l) { return u(a.i[l]) * u(b.i[l]); }); break;
        case OpCode::FloorDivI:
            if (wide)
                ints([&](std::size_t l) { return b.i[l] == 0 ? 0 : u(a.i[l]) / u(b.i[l]); });
            else
                ints([&](std::size_t l) { return floorDivide(a.i[l], b.i[l]); });
            break;
        case OpCode::FloorModI:
            if (wide)
                ints([&](std::size_t l) { return b.i[l] == 0 ? 0 : u(a.i[l]) % u(b.i[l]); });
            else
                ints([&](std::size_t l) { return floorModulo(a.i[l], b.i[l]); });
            break;
        case OpCode::MinI: ints([&](std::size_t l) { return less(b.i[l], a.i[l]) ? b.i[l] : a.i[l]; }); break;
        case OpCode::MaxI: ints([&](std::size_t l) { return less(a.i[l], b.i[l]) ? b.i[l] : a.i[l]; }); break;
        case OpCode::EqI: ints([&](std::size_t l) { return a.i[l] == b.i[l]; }); break;
        case OpCode::NeI: ints([&](std::size_t l) { return a.i[l] != b.i[l]; }); break;
        case OpCode::LtI: ints([&](std::size_t l) { return less(a.i[l], b.i[l]); }); break;
        case OpCode::LeI: ints([&](std::size_t l) { return !less(b.i[l], a.i[l]); }); break;
        case OpCode::GtI: ints([&](std::size_t l) { return less(b.i[l], a.i[l]); }); break;
        case OpCode::GeI: ints([&](std::size_t l) { return !less(a.i[l], b.i[l]); }); break;
        case OpCode::And: ints([&](std::size_t l) { return (a.i[l] & b.i[l]) != 0; }); break;
        case OpCode::AndNot: ints([&](std::size_t l) { return a.i[l] != 0 && b.i[l] == 0; }); break;
        case OpCode::Or: ints([&](std::size_t l) { return (a.i[l] | b.i[l]) != 0; }); break;
        case OpCode::Not: ints([&](std::size_t l) { return a.i[l] == 0; }); break;
        case OpCode::Select: ints([&](std::size_t l) { return a.i[l] != 0 ? b.i[l] : c.i[l]; }); break;
        case OpCode::IntToFloat:
            floats([&](std::size_t l) { return wide ? static_cast<double>(u(a.i[l])) : static_cast<double>(a.i[l]); });
            break;
        case OpCode::FloatToInt: ints([&](std::size_t l) { return ir::saturate(a.f[l], instruction.type); }); break;
        case OpCode::RoundFloat: floats([&](std::size_t l) { return roundTo(instruction.type, a.f[l]); }); break;
        case OpCode::WrapInt: ints([&](std::size_t l) { return ir::wrap(a.i[l], instruction.type); }); break;
        case OpCode::AbsI: ints([&](std::size_t l) { return a.i[l] < 0 && !wide ? 0 - u(a.i[l]) : u(a.i[l]); }); break;
        case OpCode::PowerI: ints([&](std::size_t l) { return ir::power(a.i[l], b.i[l], instruction.type); }); break;
        case OpCode::Call1: floats([&](std::size_t l) { return instruction.call1(a.f[l]); }); break;
        case OpCode::Call2: floats([&](std::size_t l) { return instruction.call2(a.f[l], b.f[l]); }); break;
        case OpCode::Call3: floats([&](std::size_t l) { return instruction.call3(a.f[l], b.f[l], c.f[l]); }); break;
        case OpCode::CallBits:
            ints([&](std::size_t l) { return ir::wrap(instruction.callBits(a.i[l], b.i[l]), instruction.type); });
            break;
        case OpCode::Load: break;
        }
    }

    const Dag& m_dag;
    const std::vector<Program>& m_programs;
    std::vector<Source> m_sources;
    std::vector<Memo> m_memos;
    std::vector<Frame> m_frames;
    std::string m_problem;
};

} // namespace

Result<Interpreter> Interpreter::compile(DagPtr dag)
{
    auto impl = std::make_shared<Impl>();
    impl->programs.resize(dag->ops.size());
    for (std::size_t i = 0; i < dag->ops.size(); ++i)
        if (dag->ops[i].kind == OpKind::Compute) {
            LATHE_TRY_ASSIGN(impl->programs[i], compileProgram(dag->ops[i]));
        }
    impl->dag = std::move(dag);
    return Interpreter(std::move(impl));
}

const Dag& Interpreter::dag() const
{
    return *m_impl->dag;
}

Result<std::vector<std::vector<std::byte>>> Interpreter::run(std::span<const std::span<const std::byte>> inputs) const
{
    const Dag& dag = *m_impl->dag;
    Machine machine(dag, m_impl->programs);
    LATHE_TRY(machine.bind(inputs));
    for (std::size_t i = 0; i < dag.ops.size(); ++i)
        if (dag.ops[i].kind == OpKind::Compute)
            LATHE_TRY(machine.materialize(static_cast<std::int32_t>(i)));
    std::vector<std::vector<std::byte>> results;
    for (const std::int32_t output : dag.outputs) {
        const Op& op = dag.ops[static_cast<std::size_t>(output)];
        if (op.kind == OpKind::Placeholder)
            return makeError(Errc::Unsupported,
                             fmt::format("output {} of the compute DAG is one of its inputs", op.name));
        const std::int64_t size = spatialSize(op);
        std::vector<std::byte> bytes(static_cast<std::size_t>(size * sizeOf(op.dtype)));
        for (std::int64_t e = 0; e < size; ++e)
            store(op.dtype, isFloat(op.dtype) ? machine.wideFloat(output, e) : 0,
                  isFloat(op.dtype) ? 0 : machine.wideInt(output, e), bytes.data() + e * sizeOf(op.dtype));
        results.push_back(std::move(bytes));
    }
    return results;
}

Result<std::vector<double>> Interpreter::sample(std::span<const std::span<const std::byte>> inputs, std::int32_t output,
                                                std::span<const std::vector<std::int64_t>> points) const
{
    const Dag& dag = *m_impl->dag;
    if (output < 0 || static_cast<std::size_t>(output) >= dag.outputs.size())
        return makeError(Errc::InvalidArgument, fmt::format("output {} of {}", output, dag.outputs.size()));
    const std::int32_t index = dag.outputs[static_cast<std::size_t>(output)];
    const Op& op = dag.ops[static_cast<std::size_t>(index)];
    for (const auto& point : points) {
        if (point.size() != op.shape.size())
            return makeError(Errc::InvalidArgument, fmt::format("a point with {} indices in a tensor of rank {}",
                                                                point.size(), op.shape.size()));
        for (std::size_t d = 0; d < point.size(); ++d)
            if (point[d] < 0 || point[d] >= op.shape[d])
                return makeError(Errc::InvalidArgument,
                                 fmt::format("index {} in dimension {} of extent {}", point[d], d, op.shape[d]));
    }
    Machine machine(dag, m_impl->programs);
    LATHE_TRY(machine.bind(inputs));
    const Effort effort = effortFor(dag, m_impl->programs, index, static_cast<double>(points.size()));
    for (std::size_t i = 0; i < dag.ops.size(); ++i)
        if (effort.kept[i])
            machine.keep(static_cast<std::int32_t>(i));
        else if (effort.whole[i])
            LATHE_TRY(machine.materialize(static_cast<std::int32_t>(i)));

    std::vector<double> values;
    std::vector<LaneBlock> axes(op.shape.size() + 1);
    for (std::size_t begin = 0; begin < points.size(); begin += kLanes) {
        const std::size_t lanes = std::min(kLanes, points.size() - begin);
        for (std::size_t l = 0; l < lanes; ++l)
            for (std::size_t d = 0; d < op.shape.size(); ++d)
                axes[d].i[l] = points[begin + l][d];
        LaneBlock out;
        LATHE_TRY(machine.pointsOf(index, axes.data(), lanes, out));
        for (std::size_t l = 0; l < lanes; ++l)
            values.push_back(isFloat(op.dtype) ? out.f[l] : static_cast<double>(out.i[l]));
    }
    return values;
}

} // namespace lathe::compute
