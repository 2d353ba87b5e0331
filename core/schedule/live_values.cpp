#include "core/schedule/live_values.h"

#include "core/ir/async_copy.h"
#include "core/ir/bounds.h"
#include "core/ir/padded_load.h"
#include "core/ir/scratch.h"
#include "core/ir/substitute.h"
#include "core/schedule/live_pieces.h"
#include "core/schedule/live_places.h"
#include "core/schedule/unroll_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

class LiveValues
{
public:
    LiveValues(const ir::LoopNest& nest, const ir::Launch& launch, const LiveOptions& options)
        : m_nest(nest)
        , m_options(options)
        , m_places(nest, launch)
    {
        findMemory(launch.body);
        m_pieces.emplace_back();
        walk(launch.body);
        m_pieces.back().end = m_at;
    }

    std::vector<CodePiece> pieces()
    {
        const auto count = [](const auto& set) { return static_cast<std::int32_t>(set.size()); };
        std::vector<CodePiece> all;
        for (std::size_t p = 0; p < m_pieces.size(); ++p) {
            PieceFacts& facts = m_pieces[p];
            CodePiece& made = facts.made;
            if (made.statements == 0)
                continue;
            made.loops = count(facts.loops);
            made.globalAddresses = count(facts.global);
            made.sharedAddresses = count(facts.shared);
            made.allSharedAddresses = facts.loops.empty() ? 0 : count(m_stayed[facts.loops.front()].shared);
            made.outerAddresses = count(m_outside);
            countAlive(facts, static_cast<std::int32_t>(p), m_values);
            all.push_back(made);
        }
        return all;
    }

private:
    using Place = LivePlaces::Place;

    struct Stayed ///< a loop that is one still
    {
        std::int64_t begin = 0;
        std::set<std::size_t> shared; ///< addresses in it, of an outermost one
    };
    /// Of a condition, while it is held for what it guards.
    struct Predicate
    {
        std::vector<Place> compared;
        std::int64_t from = 0, last = 0; ///< it is there no earlier; the last statement that it guards
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
               && (isWritten(loop) || isShortCopy(m_nest, loop) || repeatsOf(m_nest, loop) >= trips);
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
        m_places.enter(s, trips);
        if (isWhole(s)) {
            const bool isVector = s.loop == ir::LoopKind::Vectorized && m_lane < 0;
            const std::int64_t width = !isVector ? 1 : trips % 4 == 0 ? 4 : trips % 2 == 0 ? 2 : 1;
            for (std::int64_t i = 0; i < trips && (i == 0 || m_statements < kMostStatements); i += width) {
                const std::int64_t start = m_at;
                for (std::int64_t lane = 0; lane < width; ++lane) {
                    m_places.bind(s, s.min->intValue + i + lane);
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
            m_places.unbind(s);
            return;
        }
        endPiece();
        const std::size_t here = m_stayed.size();
        m_open.push_back(here);
        m_stayed.push_back({m_at, {}});
        m_at += kStep;
        endPiece();
        const std::int64_t repeats = repeatsOf(m_nest, s);
        for (std::int64_t i = 0; i < repeats && (i == 0 || m_statements < kMostStatements); ++i) {
            m_places.copy(s, i, repeats);
            walk(s.body[0]);
        }
        m_places.endCopies(s);
        // What comes from before the loop and is used in it is alive to its end.
        for (LiveValue& value : m_values)
            if (value.begin <= m_stayed[here].begin && value.end > m_stayed[here].begin)
                value.end = std::max(value.end, m_at);
        m_open.pop_back();
        endPiece();
        m_at += kStep;
        m_pieces.back().begin = m_at;
    }

    // ---- addresses and conditions ----------------------------------------------------------------------------------

    void addCompared(const Expr& condition, std::vector<Place>& compared)
    {
        if (condition->kind == ExprKind::And || condition->kind == ExprKind::Or || condition->kind == ExprKind::Not) {
            for (const Expr& part : condition->operands)
                addCompared(part, compared);
        } else if (const auto place = m_places.comparedBy(condition)) {
            compared.push_back(*place);
        }
    }

    /// There are few predicates: what a condition guards comes no earlier than the last that one before it does.
    /// @return whether it guards anything
    bool guard(const Expr& condition)
    {
        std::vector<Place> compared;
        addCompared(condition, compared);
        if (compared.empty())
            return false;
        auto known = std::ranges::find(m_predicates, compared, &Predicate::compared);
        if (known == m_predicates.end()) {
            std::int64_t from = 0;
            if (m_predicates.size() == kPredicates) {
                const auto oldest = std::ranges::min_element(m_predicates, {}, &Predicate::last);
                from = oldest->last;
                m_predicates.erase(oldest);
            }
            m_predicates.push_back({std::move(compared), from, m_at});
            known = m_predicates.end() - 1;
        }
        known->last = m_at;
        m_earliest = std::max(m_earliest, known->from);
        return true;
    }

    void noteAddress(std::int32_t id, std::size_t address)
    {
        if (m_places.divisorOf(address) == 0) // a constant
            return;
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

    /// Made behind what the statement reads, if it is not read itself.
    std::int32_t newValue(std::int32_t words, bool isLoad)
    {
        const std::int64_t begin = isLoad ? m_at : m_at + 1;
        m_values.push_back({begin, begin, words, isLoad ? static_cast<std::int32_t>(m_pieces.size() - 1) : -1,
                            isLoad ? m_earliest : 0});
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

    /// What this piece loads already within four or two aligned words: both are one vector. -1: nothing.
    std::int32_t besideIt(std::int32_t id, const Place& place) const
    {
        if (m_lane > 0 || (bufferOf(id).scope != Scope::Shared && (m_branches > 0 || m_isGuarded)))
            return -1;
        const std::int64_t divisor = m_places.divisorOf(place.address);
        const std::int64_t width = divisor % 4 == 0 ? 4 : divisor % 2 == 0 ? 2 : 1;
        const std::int64_t first = ir::floorDivide(place.constant, width) * width;
        const auto& loaded = m_loaded.at(id);
        for (std::int64_t at = first; at < first + width; ++at)
            if (const auto found = loaded.find(Place{place.address, at}); found != loaded.end() && found->second >= 0) {
                const LiveValue& value = m_values[static_cast<std::size_t>(found->second)];
                if (value.piece == static_cast<std::int32_t>(m_pieces.size() - 1))
                    return found->second;
            }
        return -1;
    }

    void load(const Expr& e)
    {
        const std::int32_t id = e->source;
        if (isInRegisters(id)) {
            const auto found = m_elements.find({id, m_places.elementOf(e.get(), id, e->operands)});
            if (found != m_elements.end())
                use(found->second);
            return;
        }
        const std::size_t number = m_loadsHere++;
        const Place place = m_places.placeOf(e.get(), id, e->operands);
        noteAddress(id, place.address);
        const std::int32_t words = wordsOf(e->dtype);
        const auto [loaded, isNew] = m_loaded[id].try_emplace(place, -1);
        if (isNew) {
            const Scope scope = bufferOf(id).scope;
            if (m_lane > 0 && m_slot < m_vector.size() && number < m_vector[m_slot].loads.size()) {
                loaded->second = m_vector[m_slot].loads[number];
                valueOf(loaded->second).words += words;
            } else if (const std::int32_t neighbour = besideIt(id, place); neighbour >= 0) {
                loaded->second = neighbour;
                valueOf(neighbour).words += words;
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
        if (e->kind == ExprKind::Load)
            load(e);
        if (e->kind == ExprKind::Call || e->kind == ExprKind::Div)
            m_pieces.back().made.hasFunctions = true;
        const bool isChoice = e->kind == ExprKind::IfThenElse;
        const std::int64_t earliest = m_earliest;
        const bool isGuarded = m_isGuarded;
        for (std::size_t i = 0; i < e->operands.size(); ++i) {
            expression(e->operands[i]);
            if (!isChoice || i != 0)
                continue;
            m_isGuarded = guard(e->operands[0]) || m_isGuarded; // what is chosen
            if (m_isGuarded && m_branches > 0 && m_lane <= 0)
                ++m_pieces.back().made.guardedInBranches;
        }
        m_isGuarded = isGuarded;
        m_earliest = earliest;
    }

    /// What is loaded and nothing else, guarded or not: the register that it comes to is the one that it is kept in.
    static bool keepsLoad(const Expr& value) { return value->kind == ExprKind::Load || ir::isPaddedLoad(value); }

    /// The value that a statement makes; -1: it goes to memory.
    std::int32_t store(const ir::StmtNode& s)
    {
        if (!isInRegisters(s.buffer))
            return storeToMemory(s);
        const std::pair<std::int32_t, std::int64_t> place = {s.buffer, m_places.elementOf(&s, s.buffer, s.indices)};
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

    /// What is stored need not be loaded again, but for what another address may have overwritten.
    std::int32_t storeToMemory(const ir::StmtNode& s)
    {
        const Place place = m_places.placeOf(&s, s.buffer, s.indices);
        noteAddress(s.buffer, place.address);
        auto& loaded = m_loaded[s.buffer];
        std::erase_if(loaded, [&place](const auto& one) { return one.first.address != place.address; });
        const auto [known, isNew] = loaded.try_emplace(place, -1);
        if (!isNew && std::ranges::find(m_used, known->second) != m_used.end())
            return known->second;
        if (s.kind == StmtKind::Store && keepsLoad(s.value) && m_used.size() == 1) {
            known->second = m_used.front();
            return -1;
        }
        const std::int32_t words = wordsOf(bufferOf(s.buffer).dtype);
        if (m_lane > 0 && m_slot < m_vector.size() && m_vector[m_slot].made >= 0) {
            known->second = m_vector[m_slot].made;
            valueOf(known->second).words += words;
        } else {
            known->second = newValue(words, false);
            valueOf(known->second).isConstant = s.value->kind == ExprKind::FloatImm
                                                || s.value->kind == ExprKind::IntImm;
        }
        return known->second;
    }

    void noteAddend(const ir::StmtNode& s, std::int32_t made)
    {
        if (m_lane >= 0 || made < 0 || m_used.size() != 2 || s.value->kind != ExprKind::Add
            || std::ranges::any_of(s.value->operands, [](const Expr& e) { return e->kind != ExprKind::Load; }))
            return;
        LiveValue& added = valueOf(m_used[0] == made ? m_used[1] : m_used[0]);
        added.isAddend = added.piece >= 0 && added.words == 1 && !added.isShared && added.begin == m_at;
    }

    void statement(const ir::StmtNode& s)
    {
        m_used.clear();
        m_loads.clear();
        m_loadsHere = 0;
        m_isLoadAlone = false;
        expression(s.value);
        const std::int32_t made = store(s);
        noteAddend(s, made);
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
        case StmtKind::AsyncCopy: startCopy(*s); return;
        case StmtKind::Barrier: endPiece(); return;
        case StmtKind::If:
            expression(s->condition);
            // CUDA's text has no branch there; copies ahead are offered to devices that take CUDA alone.
            if (const ir::StmtNode* const copied = ir::copyOrZero(*s).copy)
                startCopy(*copied);
            else
                branch(*s);
            return;
        case StmtKind::For: loop(*s); return;
        default: walkAll(s->body);
        }
    }

    void walkAll(const std::vector<Stmt>& body)
    {
        for (const Stmt& inner : body)
            walk(inner);
    }

    /// What is loaded is not moved out of a branch, but what was loaded before it is there in it and behind it.
    void branch(const ir::StmtNode& s)
    {
        const std::int64_t earliest = m_earliest;
        if (!guard(s.condition)) {
            walkAll(s.body);
            return;
        }
        ++m_branches;
        const auto isJumpedOver = [this](const ir::StmtNode& n) {
            return n.kind == StmtKind::AsyncCopy
                   || (n.kind == StmtKind::Store && bufferOf(n.buffer).scope == Scope::Shared);
        };
        if (m_lane < 0 && std::ranges::any_of(s.body, [&](const Stmt& inner) { return holds(inner, isJumpedOver); })) {
            auto loaded = m_loaded;
            endPiece();
            m_loaded = loaded;
            m_earliest = 0;
            walkAll(s.body);
            endPiece();
            std::erase_if(loaded, [&s](const auto& known) {
                return std::ranges::any_of(s.body, [&known](const Stmt& inner) {
                    return holds(inner, [&known](const ir::StmtNode& n) { return n.buffer == known.first; });
                });
            });
            m_loaded = std::move(loaded);
        } else {
            walkAll(s.body);
        }
        --m_branches;
        m_earliest = earliest;
    }

    void startCopy(const ir::StmtNode& s)
    {
        if (!m_options.copiesAsynchronously) {
            copy(s);
            return;
        }
        noteAddress(s.buffer, m_places.placeOf(&s, s.buffer, s.indices).address);
        noteAddress(s.value->source, m_places.placeOf(s.value.get(), s.value->source, s.value->operands).address);
        stepOn();
    }

    /// All elements of an asynchronous copy at once, through registers.
    void copy(const ir::StmtNode& s)
    {
        const ir::Buffer& from = bufferOf(s.value->source);
        noteAddress(s.buffer, m_places.placeOf(&s, s.buffer, s.indices).address);
        noteAddress(s.value->source, m_places.placeOf(s.value.get(), s.value->source, s.value->operands).address);
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

    static constexpr std::size_t kPredicates = 6; ///< that guards are held in at once
    static constexpr std::int64_t kMostPromoted = 2048; ///< elements of an array that the compiler finds registers for
    static constexpr std::int64_t kMostStatements = 8192; ///< that are looked at: beyond, one copy stands for all

    const ir::LoopNest& m_nest;
    LiveOptions m_options;
    LivePlaces m_places;
    std::set<std::int32_t> m_memory; ///< arrays of a thread that are no registers
    std::set<const ir::Node*> m_whole; ///< variables of loops that are gone

    std::vector<Predicate> m_predicates;
    std::int32_t m_branches = 0; ///< around the present statement
    std::int64_t m_earliest = 0; ///< where what is guarded may come
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
    bool m_isGuarded = false; ///< what is looked at is loaded by a condition of its own
    std::int32_t m_written = -1, m_array = 0; ///< the buffer that was written last, how often it was another one
    std::int64_t m_lane = -1; ///< of a vector; -1: there is none
    std::size_t m_slot = 0; ///< the statement's number among those of a lane
    std::vector<VectorStatement> m_vector;
    std::map<std::int32_t, std::map<Place, std::int32_t>> m_loaded; ///< in this piece, by buffer: values
};

} // namespace

std::vector<CodePiece> piecesOf(const ir::LoopNest& nest, const ir::Launch& launch, const LiveOptions& options)
{
    return LiveValues(nest, launch, options).pieces();
}

} // namespace lathe::schedule
