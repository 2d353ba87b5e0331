#include "tests/cuda_driver/ptx/slots.h"

#include <algorithm>
#include <string>

// Liveness by the usual backward iteration over basic blocks, then one linear scan over intervals [first, last] of
// positions. An interval covers all places where its register lives, holes included: a register that lives around a
// loop is live at the ends of each block of the loop, and so in all of it.

namespace lathe::ptx {

namespace {

struct Access
{
    uint32_t at;
    bool write; // of all lanes: what is written under a guard is read, too
};

void collect(const Operand& operand, bool write, std::vector<Access>& into)
{
    if (operand.kind == Operand::Kind::Register)
        into.push_back({operand.index, write});
    const bool within = write && operand.kind == Operand::Kind::Vector;
    for (const Operand& element : operand.elements)
        collect(element, within, into);
    if (operand.second)
        collect(*operand.second, write, into);
}

std::vector<Access> accessesOf(const Statement& statement)
{
    std::vector<Access> all;
    const unsigned written = writtenOperands(statement);
    for (size_t i = 0; i < statement.operands.size(); ++i)
        collect(statement.operands[i], i < written && statement.guard < 0, all);
    if (statement.guard >= 0)
        all.push_back({static_cast<uint32_t>(statement.guard), false});
    return all;
}

bool endsBlock(std::string_view name)
{
    return name == "bra" || name == "brx" || name == "ret" || name == "exit" || name == "trap";
}

class Allocator
{
public:
    explicit Allocator(const Function& function)
        : m_function(function)
        , m_count(function.registers.size())
        , m_first(m_count, UINT32_MAX)
        , m_last(m_count, 0)
    {
    }

    Slots run()
    {
        cut();
        // A hostile text could ask for more bits than there is memory: each register then lives everywhere.
        if (m_count * m_begins.size() > (size_t(1) << 30)) {
            std::fill(m_first.begin(), m_first.end(), 0);
            std::fill(m_last.begin(), m_last.end(), UINT32_MAX);
        } else {
            flow();
            intervals();
        }
        return scan();
    }

private:
    using Bits = std::vector<bool>;

    void cut()
    {
        const auto& statements = m_function.statements;
        std::vector<bool> begins(statements.size() + 1, false);
        begins[0] = true;
        for (const Scope& scope : m_function.scopes)
            for (const auto& [name, at] : scope.labels)
                begins[at] = true;
        for (size_t i = 0; i < statements.size(); ++i)
            if (endsBlock(statements[i].opcode[0]))
                begins[i + 1] = true;
        m_blockAt.resize(statements.size() + 1);
        for (uint32_t i = 0; i < statements.size(); ++i) {
            if (begins[i])
                m_begins.push_back(i);
            m_blockAt[i] = static_cast<uint32_t>(m_begins.size() - 1);
        }
        m_blockAt[statements.size()] = UINT32_MAX;
        m_begins.push_back(static_cast<uint32_t>(statements.size()));
    }

    uint32_t blockOfLabel(unsigned scope, const std::string& name) const
    {
        for (int32_t at = static_cast<int32_t>(scope); at >= 0; at = m_function.scopes[at].parent)
            if (const auto found = m_function.scopes[at].labels.find(name); found != m_function.scopes[at].labels.end())
                return m_blockAt[found->second];
        return UINT32_MAX; // refused when it is decoded
    }

    std::vector<uint32_t> successors(size_t block) const
    {
        std::vector<uint32_t> made;
        const Statement& last = m_function.statements[m_begins[block + 1] - 1];
        const bool ends = endsBlock(last.opcode[0]);
        if ((!ends || last.guard >= 0) && block + 2 < m_begins.size())
            made.push_back(static_cast<uint32_t>(block + 1));
        if (!ends)
            return made;
        for (const Operand& operand : last.operands) {
            if (operand.kind != Operand::Kind::Name)
                continue;
            made.push_back(blockOfLabel(last.scope, operand.name));
            for (int32_t at = static_cast<int32_t>(last.scope); at >= 0; at = m_function.scopes[at].parent)
                if (const auto found = m_function.scopes[at].targets.find(operand.name);
                    found != m_function.scopes[at].targets.end())
                    for (const std::string& label : found->second)
                        made.push_back(blockOfLabel(last.scope, label));
        }
        std::erase(made, UINT32_MAX);
        return made;
    }

    void flow()
    {
        const size_t blocks = m_begins.size() - 1;
        m_liveIn.assign(blocks, Bits(m_count));
        m_liveOut.assign(blocks, Bits(m_count));
        std::vector<Bits> defined(blocks, Bits(m_count));
        std::vector<std::vector<uint32_t>> next(blocks);
        for (size_t b = 0; b < blocks; ++b) {
            for (uint32_t i = m_begins[b]; i < m_begins[b + 1]; ++i) {
                const auto accesses = accessesOf(m_function.statements[i]);
                for (const Access& access : accesses)
                    if (!access.write && !defined[b][access.at])
                        m_liveIn[b][access.at] = true;
                for (const Access& access : accesses)
                    if (access.write)
                        defined[b][access.at] = true;
            }
            next[b] = successors(b);
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t b = blocks; b-- > 0;) {
                bool grew = false;
                for (const uint32_t after : next[b])
                    for (size_t r = 0; r < m_count; ++r)
                        if (m_liveIn[after][r] && !m_liveOut[b][r])
                            m_liveOut[b][r] = grew = true;
                for (size_t r = 0; grew && r < m_count; ++r)
                    if (m_liveOut[b][r] && !defined[b][r] && !m_liveIn[b][r])
                        m_liveIn[b][r] = true;
                changed |= grew;
            }
        }
    }

    void reach(size_t r, uint32_t at)
    {
        m_first[r] = std::min(m_first[r], at);
        m_last[r] = std::max(m_last[r], at);
    }

    void intervals()
    {
        for (size_t b = 0; b + 1 < m_begins.size(); ++b) {
            for (size_t r = 0; r < m_count; ++r) {
                if (m_liveIn[b][r])
                    reach(r, m_begins[b]);
                if (m_liveOut[b][r])
                    reach(r, m_begins[b + 1]);
            }
            for (uint32_t i = m_begins[b]; i < m_begins[b + 1]; ++i)
                for (const Access& access : accessesOf(m_function.statements[i]))
                    reach(access.at, i);
        }
        // What a guarded instruction alone writes has no write above; what is read before it was written has no write
        // at all.
    }

    Slots scan()
    {
        Slots made;
        made.row.assign(m_count, 0);
        std::vector<uint32_t> order(m_count);
        for (uint32_t r = 0; r < m_count; ++r)
            order[r] = r;
        std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return m_first[a] < m_first[b]; });
        const auto later = [this](uint32_t a, uint32_t b) { return m_last[a] > m_last[b]; };
        std::vector<uint32_t> active; // a heap, the first to end on top
        // A predicate keeps all lanes in one word. Where lanes go apart, some may write it in a row that others have
        // long used for something else: so predicates share rows among each other only.
        std::vector<uint32_t> free[3];
        uint32_t live = 0;
        const auto units = [this](uint32_t r) { return sizeOf(m_function.registers[r]) == 8 ? 2u : 1u; };
        const auto listOf = [&](uint32_t r) -> std::vector<uint32_t>& {
            return free[m_function.registers[r] == Type::Pred ? 2 : units(r) - 1];
        };
        const auto counted = [&](uint32_t r) { return m_function.registers[r] == Type::Pred ? 0u : units(r); };
        for (const uint32_t r : order) {
            if (m_first[r] == UINT32_MAX)
                continue; // never named
            while (!active.empty() && m_last[active.front()] < m_first[r]) {
                std::pop_heap(active.begin(), active.end(), later);
                listOf(active.back()).push_back(made.row[active.back()]);
                live -= counted(active.back());
                active.pop_back();
            }
            std::vector<uint32_t>& list = listOf(r);
            if (list.empty()) {
                made.row[r] = made.rows;
                made.rows += units(r);
            } else {
                made.row[r] = list.back();
                list.pop_back();
            }
            live += counted(r);
            made.live = std::max(made.live, live);
            active.push_back(r);
            std::push_heap(active.begin(), active.end(), later);
        }
        return made;
    }

    const Function& m_function;
    size_t m_count;
    std::vector<uint32_t> m_begins; // of the blocks; the number of statements behind them
    std::vector<uint32_t> m_blockAt; // of each statement
    std::vector<Bits> m_liveIn, m_liveOut;
    std::vector<uint32_t> m_first, m_last;
};

} // namespace

unsigned writtenOperands(const Statement& statement)
{
    const std::string_view name = statement.opcode[0];
    for (const std::string_view none : {"st", "red", "bra", "brx", "ret", "exit", "trap", "call", "membar", "fence",
                                        "cp", "prefetch", "prefetchu", "nanosleep", "applypriority", "discard"})
        if (name == none)
            return 0;
    if (name == "bar" || name == "barrier")
        return std::find(statement.opcode.begin(), statement.opcode.end(), "red") != statement.opcode.end() ? 1 : 0;
    return 1;
}

Slots allocateSlots(const Function& function)
{
    if (function.statements.empty())
        return {std::vector<uint32_t>(function.registers.size()), 0, 0};
    return Allocator(function).run();
}

} // namespace lathe::ptx
