#include "core/schedule/live_values.h"

#include "core/ir/bounds.h"
#include "core/ir/linear_form.h"
#include "core/ir/scratch.h"
#include "core/ir/substitute.h"
#include "core/schedule/least_alive.h"
#include "core/schedule/unroll_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LinearForm;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

/// A value in registers: from where it is made to where it is used for the last time. What is loaded, computed or
/// stored as a vector is one.
struct LiveValue
{
    std::int64_t begin = 0, end = 0;
    std::int32_t words = 1;
    std::int32_t piece = -1; ///< of a load: its piece, in which it may come earlier
    bool isShared = false; ///< likewise, it comes from shared memory
    bool isConstant = false; ///< and nothing has used it so far: it is made where it is needed
};

struct PieceFacts
{
    std::int64_t begin = 0, end = 0;
    std::vector<std::size_t> loops; ///< that stay, around it, among LiveValues::m_stayed
    std::set<std::size_t> global, shared; ///< addresses
    std::vector<OrderedStatement> statements;
    CodePiece made;
};

class LiveValues
{
public:
    LiveValues(const ir::LoopNest& nest, const ir::Launch& launch, bool copiesAsynchronously)
        : m_nest(nest)
        , m_copiesAsynchronously(copiesAsynchronously)
    {
        for (std::size_t d = 0; d < 3; ++d) {
            m_ranges.setExtent(launch.blockIndex[d], launch.grid[d]);
            m_ranges.setExtent(launch.threadIndex[d], launch.block[d]);
        }
        findMemory(launch.body);
        m_pieces.emplace_back();
        walk(launch.body);
        m_pieces.back().end = m_at;
    }

    std::vector<CodePiece> pieces() const
    {
        std::vector<CodePiece> all;
        for (std::size_t p = 0; p < m_pieces.size(); ++p)
            if (m_pieces[p].made.statements > 0)
                all.push_back(piece(p));
        return all;
    }

private:
    struct Stayed ///< a loop that is one still
    {
        std::int64_t begin = 0;
        std::set<std::size_t> shared; ///< addresses in it, of an outermost one
    };
    /// Of an access: what its address is but for the constant and what loops count, and the constant.
    struct Place
    {
        std::size_t address = 0;
        std::int64_t constant = 0;
    };
    /// A statement of the first lane of a vector, which those of the other lanes go with.
    struct VectorStatement
    {
        std::size_t statement = 0; ///< of the piece
        std::vector<std::int32_t> loads;
        std::int32_t made = -1;
    };

    const ir::Buffer& bufferOf(std::int32_t id) const { return m_nest.buffers[static_cast<std::size_t>(id)]; }
    static std::int32_t wordsOf(DType dtype) { return static_cast<std::int32_t>(ir::ceilDivide(sizeOf(dtype), 4)); }

    // ---- loops -----------------------------------------------------------------------------------------------------

    bool isWhole(const ir::StmtNode& loop) const
    {
        const std::int64_t trips = tripsOf(loop);
        return loop.min->kind == ExprKind::IntImm && trips > 0
               && (isWritten(loop) || isShortCopy(m_nest, loop) || repeatsOf(loop) >= trips);
    }

    /// Arrays of a thread whose places are known only when it runs are memory.
    void findMemory(const Stmt& s)
    {
        if (!s)
            return;
        const auto look = [this](std::int32_t id, const std::vector<Expr>& indices) {
            if (bufferOf(id).scope == Scope::Local
                && (ir::elementCount(bufferOf(id)) > kMostPromoted
                    || !std::ranges::all_of(indices, [this](const Expr& e) {
                           return !ir::usesAny(e, [this](const ir::Node* v) { return !m_whole.contains(v); });
                       })))
                m_memory.insert(id);
        };
        const auto lookIn = [&look](const Expr& value) {
            if (value)
                ir::visit(value, [&look](const Expr& e) {
                    if (e->kind == ExprKind::Load)
                        look(e->source, e->operands);
                });
        };
        if (s->kind == StmtKind::For && isWhole(*s))
            m_whole.insert(s->variable.get());
        if (s->kind == StmtKind::Store || s->kind == StmtKind::Shuffle || s->kind == StmtKind::AsyncCopy)
            look(s->buffer, s->indices);
        lookIn(s->value);
        lookIn(s->condition);
        for (const Stmt& inner : s->body)
            findMemory(inner);
    }

    bool isInRegisters(std::int32_t id) const
    {
        const Scope scope = bufferOf(id).scope;
        return scope == Scope::Register || (scope == Scope::Local && !m_memory.contains(id));
    }

    void loop(const ir::StmtNode& s)
    {
        const std::int64_t trips = tripsOf(s);
        if (s.min->kind == ExprKind::IntImm && trips > 0)
            m_ranges.set(s.variable, {s.min->intValue, s.min->intValue + trips - 1});
        if (isWhole(s)) {
            const bool isVector = s.loop == ir::LoopKind::Vectorized && m_lane < 0;
            const std::int64_t width = !isVector ? 1 : trips % 4 == 0 ? 4 : trips % 2 == 0 ? 2 : 1;
            for (std::int64_t i = 0; i < trips && (i == 0 || m_statements < kMostStatements); i += width) {
                const std::int64_t start = m_at;
                for (std::int64_t lane = 0; lane < width; ++lane) {
                    m_bound[s.variable.get()] = s.min->intValue + i + lane;
                    if (width > 1) {
                        m_at = start; // lanes are one statement
                        m_lane = lane;
                        m_slot = 0;
                    }
                    walk(s.body[0]);
                }
                if (width > 1) {
                    m_lane = -1;
                    m_vector.clear();
                }
            }
            m_bound.erase(s.variable.get());
            return;
        }
        endPiece();
        const std::size_t here = m_stayed.size();
        m_open.push_back(here);
        m_stayed.push_back({m_at, {}});
        m_at += kStep;
        endPiece();
        m_loopVariables.insert(s.variable.get());
        const std::int64_t repeats = repeatsOf(s);
        for (std::int64_t i = 0; i < repeats && (i == 0 || m_statements < kMostStatements); ++i) {
            m_copy[s.variable.get()] = i;
            walk(s.body[0]);
        }
        m_copy.erase(s.variable.get());
        // What comes from before the loop and is used in it is alive to its end.
        for (LiveValue& value : m_values)
            if (value.begin <= m_stayed[here].begin && value.end > m_stayed[here].begin)
                value.end = std::max(value.end, m_at);
        m_open.pop_back();
        endPiece();
        m_at += kStep;
        m_pieces.back().begin = m_at;
    }

    // ---- addresses -------------------------------------------------------------------------------------------------

    const std::vector<Expr>& variablesOf(const Expr& atom)
    {
        const auto [known, isNew] = m_variables.try_emplace(atom.get());
        if (isNew)
            ir::visit(atom, [&known = known->second](const Expr& e) {
                if (e->kind == ExprKind::Var
                    && std::ranges::none_of(known, [&e](const Expr& other) { return other.same(e); }))
                    known.push_back(e);
            });
        return known->second;
    }

    std::size_t numberOf(const Expr& atom)
    {
        const auto [known, isNew] = m_numbers.try_emplace(atom.get(), 0);
        if (isNew) {
            const auto found = std::ranges::find_if(m_atoms,
                                                    [&atom](const Expr& other) { return ir::equal(other, atom); });
            known->second = static_cast<std::size_t>(found - m_atoms.begin());
            if (found == m_atoms.end())
                m_atoms.push_back(atom);
        }
        return known->second;
    }

    /// Of an atom that is not linear, with what loops are known to count at this place.
    const LinearForm* atPlace(const Expr& atom)
    {
        std::vector<std::int64_t> values;
        ir::Substitution known;
        for (const Expr& variable : variablesOf(atom)) {
            if (const auto bound = m_bound.find(variable.get()); bound != m_bound.end()) {
                values.push_back(bound->second);
                known[variable.get()] = ir::intImm(bound->second, variable->dtype);
            } else if (const auto repeat = m_copy.find(variable.get()); repeat != m_copy.end() && repeat->second > 0) {
                values.push_back(repeat->second);
                known[variable.get()] = variable + ir::intImm(repeat->second, variable->dtype);
            }
        }
        if (known.empty())
            return nullptr;
        const auto [form, isNew] = m_forms.try_emplace({atom.get(), std::move(values)});
        if (isNew)
            form->second = ir::linearForm(ir::substitute(atom, known), m_ranges);
        return &form->second;
    }

    Place placeOf(const void* key, std::int32_t id, const std::vector<Expr>& indices)
    {
        const ir::Buffer& buffer = bufferOf(id);
        const auto [known, isNew] = m_places.try_emplace(key);
        if (isNew)
            for (std::size_t d = 0; d < indices.size(); ++d)
                known->second.add(ir::linearForm(ir::cast(DType::I32, indices[d]), m_ranges), buffer.strides[d]);
        std::int64_t constant = known->second.constant;
        std::map<std::size_t, std::int64_t> terms;
        const auto add = [&](const auto& self, const LinearForm& form, std::int64_t factor, bool isPlaced) -> void {
            for (const LinearForm::Term& term : form.terms) {
                const ir::Node* const atom = term.atom.get();
                const std::int64_t coefficient = term.coefficient * factor;
                if (term.atom->kind == ExprKind::Var) {
                    if (const auto bound = m_bound.find(atom); bound != m_bound.end()) {
                        constant += coefficient * bound->second;
                        continue;
                    }
                    if (const auto repeat = m_copy.find(atom); repeat != m_copy.end() && !isPlaced)
                        constant += coefficient * repeat->second;
                    if (m_loopVariables.contains(atom))
                        continue;
                } else if (!isPlaced) {
                    if (const LinearForm* const placed = atPlace(term.atom)) {
                        constant += coefficient * placed->constant;
                        self(self, *placed, coefficient, true);
                        continue;
                    }
                }
                terms[numberOf(term.atom)] += coefficient;
            }
        };
        add(add, known->second, 1, false);
        std::vector<std::pair<std::size_t, std::int64_t>> all(terms.begin(), terms.end());
        const auto [address, isOther] = m_addresses.try_emplace(
            {buffer.scope == Scope::Shared ? -1 : id, std::move(all)}, m_addresses.size());
        return {address->second, constant};
    }

    void noteAddress(std::int32_t id, std::size_t address)
    {
        const Scope scope = bufferOf(id).scope;
        if (scope == Scope::Parameter || scope == Scope::Team) {
            m_pieces.back().global.insert(address);
            if (m_open.empty())
                m_outside.insert(address);
            return;
        }
        m_pieces.back().shared.insert(address);
        if (!m_open.empty())
            m_stayed[m_open.front()].shared.insert(address);
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    /// The number of an element of an array of the thread: all its indices are known here.
    std::int64_t elementOf(const void* key, std::int32_t id, const std::vector<Expr>& indices)
    {
        const auto [known, isNew] = m_places.try_emplace(key);
        if (isNew)
            for (std::size_t d = 0; d < indices.size(); ++d)
                known->second.add(ir::linearForm(ir::cast(DType::I32, indices[d]), m_ranges), bufferOf(id).strides[d]);
        std::int64_t at = known->second.constant;
        for (const LinearForm::Term& term : known->second.terms)
            if (const auto bound = m_bound.find(term.atom.get()); bound != m_bound.end())
                at += term.coefficient * bound->second;
            else if (const LinearForm* const placed = atPlace(term.atom))
                at += term.coefficient * placed->constant;
        return at;
    }

    /// Made behind what the statement reads, if it is not read itself.
    std::int32_t newValue(std::int32_t words, bool isLoad)
    {
        const std::int64_t begin = isLoad ? m_at : m_at + 1;
        m_values.push_back(
            {begin, begin, words, isLoad ? static_cast<std::int32_t>(m_pieces.size() - 1) : -1, false, false});
        return static_cast<std::int32_t>(m_values.size() - 1);
    }

    LiveValue& valueOf(std::int32_t number) { return m_values[static_cast<std::size_t>(number)]; }

    void use(std::int32_t number)
    {
        LiveValue& value = valueOf(number);
        if (value.isConstant) { // before a loop, where it changes in one
            value.isConstant = false;
            const std::int64_t since = value.begin;
            value.begin = m_at;
            for (const std::size_t open : m_open)
                if (m_stayed[open].begin > since) {
                    value.begin = m_stayed[open].begin;
                    break;
                }
        }
        value.end = std::max(value.end, m_at);
        if (std::ranges::find(m_used, number) == m_used.end())
            m_used.push_back(number);
    }

    void load(const Expr& e)
    {
        const std::int32_t id = e->source;
        if (isInRegisters(id)) {
            const auto found = m_elements.find({id, elementOf(e.get(), id, e->operands)});
            if (found != m_elements.end())
                use(found->second);
            return;
        }
        const std::size_t number = m_loadsHere++;
        const Place place = placeOf(e.get(), id, e->operands);
        noteAddress(id, place.address);
        const std::int32_t words = wordsOf(e->dtype);
        const auto [loaded, isNew] = m_loaded[id].try_emplace({place.address, place.constant}, -1);
        if (isNew) {
            const Scope scope = bufferOf(id).scope;
            if (m_lane > 0 && m_slot < m_vector.size() && number < m_vector[m_slot].loads.size()) {
                loaded->second = m_vector[m_slot].loads[number];
                valueOf(loaded->second).words += words;
            } else {
                loaded->second = newValue(words, true);
                valueOf(loaded->second).isShared = scope != Scope::Parameter && scope != Scope::Team;
            }
        }
        if (m_lane == 0)
            m_loads.push_back(loaded->second);
        use(loaded->second);
    }

    void expression(const Expr& e)
    {
        if (e.get() == nullptr)
            return;
        ir::visit(e, [this](const Expr& inner) {
            switch (inner->kind) {
            case ExprKind::Load: load(inner); break;
            case ExprKind::Call:
            case ExprKind::Div: m_pieces.back().made.hasFunctions = true; break;
            default: break;
            }
        });
    }

    /// What is loaded and nothing else, guarded or not: the register that it comes to is the one that it is kept in.
    static bool keepsLoad(const Expr& value)
    {
        return value->kind == ExprKind::Load
               || (value->kind == ExprKind::IfThenElse && value->operands[1]->kind == ExprKind::Load
                   && value->operands[2]->kind == ExprKind::FloatImm);
    }

    /// The value that a statement makes; -1: it goes to memory.
    std::int32_t store(const ir::StmtNode& s)
    {
        if (!isInRegisters(s.buffer)) {
            noteAddress(s.buffer, placeOf(&s, s.buffer, s.indices).address);
            m_loaded[s.buffer].clear();
            return -1;
        }
        const std::pair<std::int32_t, std::int64_t> place = {s.buffer, elementOf(&s, s.buffer, s.indices)};
        // A sum goes on in its register.
        if (const auto known = m_elements.find(place);
            known != m_elements.end() && std::ranges::find(m_used, known->second) != m_used.end())
            return known->second;
        const std::int32_t words = wordsOf(bufferOf(s.buffer).dtype);
        if (s.kind == StmtKind::Store && keepsLoad(s.value) && m_used.size() == 1) {
            m_isLoadAlone = true;
            return m_elements[place] = m_used.front();
        }
        if (m_lane > 0 && m_slot < m_vector.size() && m_vector[m_slot].made >= 0) {
            valueOf(m_vector[m_slot].made).words += words;
            return m_elements[place] = m_vector[m_slot].made;
        }
        const std::int32_t made = newValue(words, false);
        valueOf(made).isConstant = s.value->kind == ExprKind::FloatImm || s.value->kind == ExprKind::IntImm;
        return m_elements[place] = made;
    }

    void statement(const ir::StmtNode& s)
    {
        m_used.clear();
        m_loads.clear();
        m_loadsHere = 0;
        m_isLoadAlone = false;
        expression(s.value);
        const std::int32_t made = store(s);
        std::vector<OrderedStatement>& statements = m_pieces.back().statements;
        // Constants and loads come where they are used.
        const bool isOrdered = !m_isLoadAlone && (made < 0 || !m_used.empty());
        if (m_lane > 0 && m_slot < m_vector.size()) {
            std::vector<std::int32_t>& uses = statements[m_vector[m_slot].statement].uses;
            for (const std::int32_t value : m_used)
                if (isOrdered && std::ranges::find(uses, value) == uses.end())
                    uses.push_back(value);
        } else if (isOrdered || m_lane == 0) {
            if (m_lane == 0) {
                m_vector.resize(m_slot + 1);
                m_vector[m_slot] = {statements.size(), m_loads, made};
            }
            if (std::exchange(m_written, s.buffer) != s.buffer)
                ++m_array;
            statements.push_back(isOrdered ? OrderedStatement{m_used, made, m_array} : OrderedStatement());
        }
        ++m_slot;
        stepOn();
    }

    void stepOn()
    {
        ++m_statements;
        ++m_pieces.back().made.statements;
        m_at += kStep;
    }

    void walk(const Stmt& s)
    {
        if (!s)
            return;
        switch (s->kind) {
        case StmtKind::Store:
        case StmtKind::Shuffle: statement(*s); return;
        case StmtKind::AsyncCopy:
            if (!m_copiesAsynchronously) {
                copy(*s);
                return;
            }
            noteAddress(s->buffer, placeOf(s.get(), s->buffer, s->indices).address);
            noteAddress(s->value->source, placeOf(s->value.get(), s->value->source, s->value->operands).address);
            stepOn();
            return;
        case StmtKind::Barrier: endPiece(); return;
        case StmtKind::If:
            expression(s->condition);
            for (const Stmt& inner : s->body)
                walk(inner);
            return;
        case StmtKind::For: loop(*s); return;
        default:
            for (const Stmt& inner : s->body)
                walk(inner);
        }
    }

    /// All elements of an asynchronous copy at once, through registers.
    void copy(const ir::StmtNode& s)
    {
        const ir::Buffer& from = bufferOf(s.value->source);
        noteAddress(s.buffer, placeOf(&s, s.buffer, s.indices).address);
        noteAddress(s.value->source, placeOf(s.value.get(), s.value->source, s.value->operands).address);
        m_pieces.back().statements.push_back({{newValue(wordsOf(from.dtype) * s.count, true)}, -1, m_array});
        stepOn();
    }

    void endPiece()
    {
        PieceFacts& last = m_pieces.back();
        last.end = m_at;
        if (last.made.statements == 0)
            m_pieces.pop_back();
        m_pieces.emplace_back();
        m_pieces.back().begin = m_at;
        m_pieces.back().loops = m_open;
        m_loaded.clear();
    }

    /// The most words at once, loads as many statements earlier.
    std::int32_t mostAlive(std::size_t number, std::int64_t globalEarlier, std::int64_t sharedEarlier) const
    {
        const PieceFacts& facts = m_pieces[number];
        std::vector<std::int32_t> change(static_cast<std::size_t>(facts.end - facts.begin + 2));
        for (const LiveValue& value : m_values) {
            const bool isMoved = value.piece == static_cast<std::int32_t>(number);
            if (value.end < facts.begin || value.begin >= facts.end || (!isMoved && value.end == value.begin))
                continue;
            const std::int64_t earlier = !isMoved ? 0 : value.isShared ? sharedEarlier : globalEarlier;
            const std::int64_t from = std::max(value.begin - kStep * earlier, facts.begin);
            change[static_cast<std::size_t>(from - facts.begin)] += value.words;
            change[static_cast<std::size_t>(std::min(value.end, facts.end) - facts.begin) + 1] -= value.words;
        }
        std::int32_t now = 0, most = 0;
        for (const std::int32_t step : change)
            most = std::max(most, now += step);
        return most;
    }

    CodePiece piece(std::size_t number) const
    {
        const PieceFacts& facts = m_pieces[number];
        const auto count = [](const auto& set) { return static_cast<std::int32_t>(set.size()); };
        CodePiece made = facts.made;
        made.loops = count(facts.loops);
        made.globalAddresses = count(facts.global);
        made.sharedAddresses = count(facts.shared);
        made.allSharedAddresses = facts.loops.empty() ? 0 : count(m_stayed[facts.loops.front()].shared);
        made.outerAddresses = count(m_outside);
        made.least = made.late = mostAlive(number, 0, 0);
        made.early = mostAlive(number, facts.end, kSharedEarlier);
        if (facts.statements.size() <= kMostOrdered) {
            made.least = std::min(made.least, leastAlive(facts, -1));
            made.early = std::min(made.early, leastAlive(facts, static_cast<std::int32_t>(number)) + made.early
                                                  - mostAlive(number, facts.end, 0));
        }
        return made;
    }

    /// `early`: the piece whose loads from memory are there from its start on.
    std::int32_t leastAlive(const PieceFacts& facts, std::int32_t early) const
    {
        std::vector<OrderedValue> values;
        std::unordered_map<std::int32_t, std::int32_t> numbers;
        std::int32_t beside = 0; // words that the piece does not come to
        std::vector<OrderedStatement> statements = facts.statements;
        const auto numberOfValue = [&](std::int32_t& value) {
            const auto [known, isNew] = numbers.try_emplace(value, static_cast<std::int32_t>(values.size()));
            if (isNew) {
                const LiveValue& of = m_values[static_cast<std::size_t>(value)];
                const bool isEarly = of.piece >= 0 && of.piece == early && !of.isShared;
                values.push_back({of.words, of.begin < facts.begin || isEarly, of.end >= facts.end});
            }
            value = known->second;
        };
        for (OrderedStatement& statement : statements) {
            std::ranges::for_each(statement.uses, numberOfValue);
            if (statement.makes >= 0)
                numberOfValue(statement.makes);
        }
        for (std::size_t v = 0; v < m_values.size(); ++v)
            if (m_values[v].begin < facts.begin && m_values[v].end >= facts.begin
                && !numbers.contains(static_cast<std::int32_t>(v)))
                beside += m_values[v].words;
        return beside + schedule::leastAlive(statements, values);
    }

    static constexpr std::int64_t kStep = 2; ///< places of a statement: where it reads and where it writes
    static constexpr std::int64_t kSharedEarlier = 32; ///< statements by which loads from shared memory come earlier
    static constexpr std::int64_t kMostPromoted = 2048; ///< elements of an array that the compiler finds registers for
    static constexpr std::size_t kMostOrdered = 512; ///< statements of a piece
    static constexpr std::int64_t kMostStatements = 8192; ///< that are looked at: beyond, one copy stands for all

    const ir::LoopNest& m_nest;
    bool m_copiesAsynchronously;
    ir::Ranges m_ranges;
    std::set<std::int32_t> m_memory; ///< arrays of a thread that are no registers
    std::set<const ir::Node*> m_whole, m_loopVariables; ///< of loops that are gone; of those that stay
    std::unordered_map<const ir::Node*, std::int64_t> m_bound,
        m_copy; ///< what variables are; which copy of a body it is
    std::unordered_map<const void*, LinearForm> m_places; ///< elements from the start of the buffer
    std::unordered_map<const ir::Node*, std::vector<Expr>> m_variables; ///< of atoms
    std::unordered_map<const ir::Node*, std::size_t> m_numbers; ///< of atoms
    std::vector<Expr> m_atoms; ///< different ones
    std::map<std::pair<const ir::Node*, std::vector<std::int64_t>>, LinearForm> m_forms;
    std::map<std::pair<std::int32_t, std::vector<std::pair<std::size_t, std::int64_t>>>, std::size_t> m_addresses;

    std::int64_t m_at = 0; ///< where the walk is, in statements that are written out
    std::int64_t m_statements = 0;
    std::vector<PieceFacts> m_pieces;
    std::vector<Stayed> m_stayed;
    std::set<std::size_t> m_outside; ///< global addresses outside of all loops
    std::vector<std::size_t> m_open;
    std::vector<LiveValue> m_values;
    std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> m_elements; ///< values
    std::vector<std::int32_t> m_used, m_loads; ///< values of the present statement
    std::size_t m_loadsHere = 0; ///< of it, so far
    bool m_isLoadAlone = false; ///< it keeps what it loads
    std::int32_t m_written = -1, m_array = 0; ///< the buffer that was written last, how often it was another one
    std::int64_t m_lane = -1; ///< of a vector; -1: there is none
    std::size_t m_slot = 0; ///< the statement's number among those of a lane
    std::vector<VectorStatement> m_vector;
    std::map<std::int32_t, std::map<std::pair<std::size_t, std::int64_t>, std::int32_t>>
        m_loaded; ///< in this piece, by buffer
};

} // namespace

std::vector<CodePiece> piecesOf(const ir::LoopNest& nest, const ir::Launch& launch, bool copiesAsynchronously)
{
    return LiveValues(nest, launch, copiesAsynchronously).pieces();
}

} // namespace lathe::schedule
