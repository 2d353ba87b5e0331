#include "core/ir/interpret.h"

#include "core/ir/nest_program.h"
#include "core/ir/scalar.h"
#include "core/ir/scratch.h"
#include "core/support/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::ir {

struct NestInterpreter::Impl
{
    LoopNest nest;
    std::vector<Instruction> phases;
    std::int32_t slots = 0;
};

namespace {

struct Memory
{
    std::vector<std::span<std::byte>> buffers;
    std::vector<std::vector<std::byte>> owned;
};

class Machine final : public NestEvaluator
{
public:
    Machine(const NestInterpreter::Impl& program, Memory& memory, std::uint32_t part, std::uint32_t parts)
        : NestEvaluator(program.nest)
        , m_memory(memory)
        , m_part(part)
        , m_parts(parts)
        , m_slots(static_cast<std::size_t>(program.slots))
    {
        m_frame = m_slots.data();
    }

    void run(const Instruction& s)
    {
        if (failed())
            return;
        switch (s.kind) {
        case StmtKind::For: {
            std::int64_t begin = evaluate(s.min).i;
            std::int64_t end = begin + evaluate(s.extent).i;
            if (s.parallel) {
                const PartRange range = partRange(end - begin, m_part, m_parts);
                end = begin + range.end;
                begin += range.begin;
            }
            for (std::int64_t i = begin; i < end && !failed(); ++i) {
                m_frame[s.slot] = i;
                run(s.body[0]);
            }
            break;
        }
        case StmtKind::Block:
            for (const Instruction& inner : s.body)
                run(inner);
            break;
        case StmtKind::If:
            if (evaluate(s.condition).i != 0)
                run(s.body[0]);
            else if (s.body.size() > 1)
                run(s.body[1]);
            break;
        case StmtKind::Store: {
            const Scalar value = evaluate(s.value);
            const Buffer& buffer = m_nest.buffers[s.buffer];
            if (std::byte* at = address(s.buffer, s.indices, "stores to"))
                storeScalar(at, buffer.dtype, value);
            break;
        }
        case StmtKind::Prefetch: // a hint; may point outside
        case StmtKind::Evaluate:
        case StmtKind::Barrier:
        case StmtKind::AsyncCopy: // of launches; verify() finds them in phases
        case StmtKind::AsyncCommit:
        case StmtKind::AsyncWait:
        case StmtKind::Shuffle: break;
        }
    }

private:
    const std::byte* read(std::int32_t buffer, const std::vector<Code>& indices) override
    {
        return address(buffer, indices, "reads");
    }

    std::byte* address(std::int32_t id, const std::vector<Code>& indices, const char* verb)
    {
        const std::int64_t at = offset(id, indices, verb);
        return at < 0 ? nullptr : m_memory.buffers[id].data() + at * sizeOf(m_nest.buffers[id].dtype);
    }

    Memory& m_memory;
    std::uint32_t m_part;
    std::uint32_t m_parts;
    std::vector<std::int64_t> m_slots;
};

} // namespace

Result<NestInterpreter> NestInterpreter::compile(const LoopNest& nest)
{
    auto impl = std::make_shared<Impl>();
    impl->nest = nest;
    LATHE_CHECK(nest.launches.empty()) << "launches have an interpreter of their own";
    NestCompiler compiler;
    for (const Stmt& phase : nest.phases) {
        if (!phase)
            continue;
        LATHE_TRY_ASSIGN(Instruction code, compiler.statement(phase));
        impl->phases.push_back(std::move(code));
    }
    impl->slots = compiler.slots();
    return NestInterpreter(std::move(impl));
}

Result<> NestInterpreter::run(std::span<const std::span<std::byte>> parameters, std::uint32_t parts) const
{
    const LoopNest& nest = m_impl->nest;
    LATHE_TRY(checkParameters(nest, parameters));
    LATHE_CHECK(parts > 0) << "a kernel runs in one part at least";
    Memory memory;
    memory.buffers.resize(nest.buffers.size());
    memory.owned.resize(nest.buffers.size());
    for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
        if (nest.buffers[b].scope == Scope::Parameter)
            continue;
        memory.owned[b].resize(static_cast<std::size_t>(elementCount(nest.buffers[b]) * sizeOf(nest.buffers[b].dtype)),
                               std::byte{0xff});
        memory.buffers[b] = memory.owned[b];
    }
    for (std::size_t p = 0; p < parameters.size(); ++p)
        memory.buffers[nest.parameters[p]] = parameters[p];
    for (const Instruction& phase : m_impl->phases) {
        for (std::uint32_t part = 0; part < parts; ++part) {
            for (std::size_t b = 0; b < nest.buffers.size(); ++b)
                if (nest.buffers[b].scope != Scope::Parameter && nest.buffers[b].scope != Scope::Team)
                    std::fill(memory.owned[b].begin(), memory.owned[b].end(), std::byte{0xff});
            Machine machine(*m_impl, memory, part, parts);
            machine.run(phase);
            if (machine.failed())
                return makeError(Errc::WrongAnswer, machine.failure());
        }
    }
    return {};
}

} // namespace lathe::ir
