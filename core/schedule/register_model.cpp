#include "core/schedule/register_model.h"

#include "core/ir/bounds.h"
#include "core/ir/linear_form.h"
#include "core/ir/scratch.h"
#include "core/ir/substitute.h"
#include "core/schedule/unroll_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>
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

// LLVM's rules for unrolling, in its units: instructions.
constexpr double kPart = 145;
constexpr double kOfLoop = 1.5, kOfPlace = 4, kOfOtherPlace = 3, kOfStore = 3, kOfExp = 14, kOfDivision = 13,
                 kOfMax = 4, kOfBranch = 2, kOfQuotient = 4, kOfSplat = 1.6;
constexpr std::int64_t kMostAtRunTime = 8; ///< copies of a loop whose trips are known when it runs
// Addresses: what an instruction adds to one by itself, in bytes, and what is loaded at once.
constexpr std::int64_t kReach = 2048, kVector = 16;
// Registers.
constexpr double kOwn = 2, kPerExp = 4, kPerDivision = 2, kPerLoop = 2, kMostShared = 64;
constexpr std::int64_t kUniform = 64, kWave = 32, kMostWaves = 16, kUnits = 4, kShared = 65536, kMostGroups = 32,
                       kAll = 1024, kMost = 256, kGrain = 16;

/// Registers of a thread that leave as many waves at once as shared memory does.
double limitOf(std::int64_t threads, std::int64_t sharedBytes)
{
    const std::int64_t waves = ir::ceilDivide(threads, kWave);
    std::int64_t groups = waves == 1 ? kMostWaves * kUnits : std::min(kMostWaves * kUnits / waves, kMostGroups);
    if (sharedBytes > 0)
        groups = std::min(groups, kShared / sharedBytes);
    const std::int64_t each = std::clamp<std::int64_t>(
        ir::ceilDivide(std::max<std::int64_t>(1, groups) * waves, kUnits), 1, kMostWaves);
    return static_cast<double>(std::min(kMost, kAll / each / kGrain * kGrain));
}

/// A load of a piece of straight code.
struct Place
{
    std::size_t base = 0; ///< among RegisterModel::m_bases
    std::int64_t copy = 0; ///< of a loop: each has an address of its own that no constant makes from another's
    std::int64_t offset = 0; ///< bytes beyond the base

    auto operator<=>(const Place&) const = default;
};

/// What is loaded into registers between two places where nothing is held back.
struct Piece
{
    std::map<Place, std::int64_t> global, shared; ///< bytes
    double temporaries = 0;
};

/// What is alike of addresses: all but the constant.
struct Base
{
    std::int32_t buffer = -1;
    std::vector<LinearForm::Term> terms;
    bool isShared = false;
};

class RegisterModel
{
public:
    RegisterModel(const ir::LoopNest& nest, const ir::Launch& launch)
        : m_nest(nest)
        , m_launch(launch)
        , m_limit(limitOf(launch.block[0] * launch.block[1] * launch.block[2], ir::sharedBytes(nest, launch)))
    {
        for (std::size_t d = 0; d < 3; ++d) {
            m_ranges.setExtent(launch.blockIndex[d], launch.grid[d]);
            m_ranges.setExtent(launch.threadIndex[d], launch.block[d]);
        }
        for (const std::int32_t id : ir::buffersOf(launch.body))
            if (const ir::Buffer& buffer = nest.buffers[static_cast<std::size_t>(id)]; buffer.scope == Scope::Register)
                m_tile += static_cast<double>(ir::elementCount(buffer) * sizeOf(buffer.dtype)) / 4;
    }

    std::int32_t registers()
    {
        walk(m_launch.body);
        endPiece();
        m_isCounting = false;
        m_sunk = 0;
        walk(m_launch.body);
        endPiece();
        return static_cast<std::int32_t>(std::lround(std::clamp(
            m_most, kOwn + m_tile, static_cast<double>(std::max<std::int64_t>(kMost, std::lround(kOwn + m_tile))))));
    }

private:
    struct Loop
    {
        const ir::StmtNode* node = nullptr;
        std::int64_t copies = 1; ///< of its body
        bool isWhole = false; ///< nothing of the loop stays
        std::set<std::size_t> kept; ///< bases that are alive all through it
    };

    static bool stays(const Loop& loop) { return !loop.isWhole && !isWritten(*loop.node); }
    double copiesOfAll() const
    {
        double copies = 1;
        for (const Loop& loop : m_loops)
            copies *= static_cast<double>(loop.copies);
        return copies;
    }
    const ir::Buffer& bufferOf(std::int32_t id) const { return m_nest.buffers[static_cast<std::size_t>(id)]; }

    /// One value for all threads of a wave: held once for all of them. A quotient of the index along x is, where waves
    /// lie within it.
    bool isUniform(const Expr& e) const
    {
        if (e->kind == ExprKind::FloorDiv && e->operands[0].same(m_launch.threadIndex[0])
            && e->operands[1]->kind == ExprKind::IntImm && e->operands[1]->intValue % kUniform == 0
            && std::has_single_bit(static_cast<std::uint64_t>(e->operands[1]->intValue)))
            return true;
        if (e->kind == ExprKind::Var)
            return std::ranges::none_of(m_launch.threadIndex, [&e](const Expr& index) { return index.same(e); });
        return std::ranges::all_of(e->operands, [this](const Expr& operand) { return isUniform(operand); });
    }

    bool usesThread(const Expr& e) const
    {
        return ir::usesAny(e, [this](const ir::Node* v) {
            return std::ranges::any_of(m_launch.threadIndex, [v](const Expr& index) { return index.get() == v; });
        });
    }

    /// Elements from the start of the buffer, made once: the ranges of the loops around are known when it is met.
    const LinearForm& placeOf(const Expr& load)
    {
        const auto [known, isNew] = m_places.try_emplace(load.get());
        if (isNew)
            for (std::size_t d = 0; d < load->operands.size(); ++d)
                known->second.add(ir::linearForm(ir::cast(DType::I32, load->operands[d]), m_ranges),
                                  bufferOf(load->source).strides[d]);
        return known->second;
    }
    std::size_t baseOf(Base base)
    {
        const auto isSame = [&base](const Base& other) {
            return other.buffer == base.buffer
                   && std::ranges::equal(other.terms, base.terms, [](const auto& a, const auto& b) {
                          return a.coefficient == b.coefficient && ir::equal(a.atom, b.atom);
                      });
        };
        const auto found = std::ranges::find_if(m_bases, isSame);
        const auto at = static_cast<std::size_t>(found - m_bases.begin());
        if (found == m_bases.end())
            m_bases.push_back(std::move(base));
        return at;
    }

    static bool uses(const LinearForm& form, const Expr& variable)
    {
        return std::ranges::any_of(form.terms, [&variable](const auto& t) { return ir::uses(t.atom, variable); });
    }
    /// Whether the sum that a place is keeps the bits of a loop's term to themselves: then the places of the next
    /// iterations are this one and a constant.
    bool isDisjoint(const LinearForm& form, const LinearForm::Term& of) const
    {
        if (of.coefficient == 1)
            return true;
        if (of.coefficient < 0 || !std::has_single_bit(static_cast<std::uint64_t>(of.coefficient)))
            return false;
        const ir::Interval range = m_ranges.of(of.atom.get());
        const auto span = static_cast<std::int64_t>(std::bit_ceil(
            static_cast<std::uint64_t>(of.coefficient * (std::min<std::int64_t>(range.hi, 1 << 20) + 1))));
        ir::Interval below = ir::Interval::point(0);
        for (const LinearForm::Term& term : form.terms)
            if (!term.atom.same(of.atom) && term.coefficient % span != 0)
                below = below + ir::boundsOf(term.atom, m_ranges) * term.coefficient;
        return below.lo >= 0 && below.hi < of.coefficient;
    }

    /// Notes a load with all its copies; returns its cost.
    double load(const Expr& e, bool isAlone)
    {
        const ir::Buffer& buffer = bufferOf(e->source);
        if (buffer.scope == Scope::Register || buffer.scope == Scope::Local)
            return 0;
        const bool isShared = buffer.scope == Scope::Shared;
        const LinearForm& form = placeOf(e);
        Base base{isShared ? -1 : e->source, {}, isShared};
        struct Step
        {
            std::int64_t coefficient = 0, copies = 1;
            bool isOwn = false;
        };
        std::vector<Step> steps;
        bool isPerLane = isShared;
        const bool isInLoop = std::ranges::any_of(m_loops, stays);
        for (const LinearForm::Term& term : form.terms) {
            isPerLane = isPerLane || !isUniform(term.atom) || (isInLoop && usesThread(term.atom));
            const auto loop = std::ranges::find_if(m_loops,
                                                   [&](const Loop& l) { return l.node->variable.same(term.atom); });
            if (loop == m_loops.end() || stays(*loop))
                base.terms.push_back(term);
            if (loop == m_loops.end() || loop->copies == 1 || loop - m_loops.begin() < m_branchedFrom)
                continue;
            const bool isMade = loop->isWhole || isWritten(*loop->node) || isShared || isDisjoint(form, term);
            steps.push_back({term.coefficient, loop->copies, !isMade});
        }
        for (const Loop& loop : m_loops) // in a quotient or a remainder: each copy has its own
            if (loop.copies > 1 && &loop - m_loops.data() >= m_branchedFrom
                && form.coefficientOf(loop.node->variable) == 0 && uses(form, loop.node->variable))
                steps.push_back({0, loop.copies, true});
        const std::size_t at = baseOf(std::move(base));
        const bool isInvariant = m_isDry && m_sizedFrom < m_loops.size()
                                 && std::none_of(m_loops.begin() + static_cast<std::ptrdiff_t>(m_sizedFrom),
                                                 m_loops.end(), [&form](const Loop& loop) {
                                                     return !isWritten(*loop.node) && uses(form, loop.node->variable);
                                                 });
        const double first = !isInvariant ? kOfPlace : isShared ? 1 : 0, other = !isInvariant ? kOfOtherPlace : first;
        double cost = other;
        for (std::size_t i = m_sizedFrom; i < m_loops.size(); ++i)
            if (m_loops[i].node->loop == ir::LoopKind::Unrolled && uses(form, m_loops[i].node->variable))
                cost *= static_cast<double>(m_loops[i].copies);
        cost = m_seen.insert({at, form.constant}).second ? cost + first - other : 0;
        if (!m_loops.empty() && m_loops.back().node->loop == ir::LoopKind::Vectorized && cost > 0
            && !uses(form, m_loops.back().node->variable))
            cost *= kOfSplat;
        if (!isPerLane)
            return cost;
        for (auto loop = m_loops.rbegin(); loop != m_loops.rend(); ++loop)
            if (stays(*loop))
                loop->kept.insert(at);
        if (isAlone || m_isDry)
            return cost;
        std::map<Place, std::int64_t>& places = isShared ? m_piece.shared : m_piece.global;
        const std::int64_t size = sizeOf(e->dtype);
        std::vector<Place> all = {{at, 0, form.constant * size + (isShared ? e->source * kApart : 0)}};
        for (const Step& step : steps) {
            const std::size_t count = all.size();
            const auto room = static_cast<std::int64_t>(kMostCopies / count); // beyond it nothing fits anyhow
            for (std::int64_t i = 1; i < std::min(step.copies, room); ++i)
                for (std::size_t j = 0; j < count; ++j) {
                    Place place = all[j];
                    place.offset += i * step.coefficient * size;
                    if (step.isOwn)
                        place.copy = place.copy * step.copies + i;
                    all.push_back(place);
                }
        }
        for (const Place& place : all)
            places.emplace(place, size);
        return cost;
    }

    /// Whether the loop whose body is sized makes it anew; what it does not comes before the loop.
    bool varies(const Expr& e) const
    {
        return !m_isDry
               || std::any_of(
                   m_loops.begin() + static_cast<std::ptrdiff_t>(m_sizedFrom), m_loops.end(),
                   [&e](const Loop& loop) { return !isWritten(*loop.node) && ir::uses(e, loop.node->variable); });
    }

    double costOf(const Expr& e, double lanes, bool isAlone)
    {
        if (e->dtype != DType::F32 && !varies(e))
            return 0;
        double cost = 0;
        bool isGuard = false;
        switch (e->kind) {
        case ExprKind::Load: return load(e, isAlone);
        case ExprKind::Call:
            cost = lanes * (e->dtype == DType::F32 ? kOfExp : 1);
            if (e->name == "exp" || e->name == "sigmoid" || e->name == "tanh" || e->name == "erf" || e->name == "pow")
                m_piece.temporaries += kPerExp * copiesOfAll();
            break;
        case ExprKind::Div:
            m_piece.temporaries += kPerDivision * copiesOfAll();
            cost = lanes * kOfDivision;
            break;
        case ExprKind::Max:
        case ExprKind::Min: cost = lanes * (e->dtype == DType::F32 ? kOfMax : 2); break;
        case ExprKind::IfThenElse:
            cost = kOfBranch;
            isGuard = true;
            break;
        case ExprKind::FloorDiv:
        case ExprKind::FloorMod: cost = kOfQuotient; break;
        case ExprKind::Mul: cost = 0; break; // goes with a sum
        case ExprKind::Var:
        case ExprKind::IntImm:
        case ExprKind::FloatImm: return 0;
        default: cost = lanes;
        }
        for (const Expr& operand : e->operands)
            cost += costOf(operand, lanes, isAlone || isGuard);
        return cost;
    }

    /// An address in shared memory that is the thread's index takes none of its own.
    double registersOf(const Base& base) const
    {
        if (!base.isShared)
            return 2;
        return base.terms.size() > 1 || (base.terms.size() == 1 && base.terms[0].atom->kind != ExprKind::Var) ? 1 : 0;
    }

    /// Ends straight code: what it holds counts, and nothing of it is left.
    void endPiece()
    {
        if (m_isDry) {
            m_piece = {};
            return;
        }
        std::set<std::size_t> used;
        for (const auto* places : {&m_piece.global, &m_piece.shared})
            for (const auto& [place, size] : *places)
                used.insert(place.base);
        double words = 0;
        for (const auto& [place, size] : m_piece.shared)
            words += static_cast<double>(ir::ceilDivide(size, 4));
        m_mostShared = std::max(m_mostShared, words);
        if (m_isCounting) {
            for (const std::size_t at : used)
                ++m_pieces[at];
            m_piece = {};
            return;
        }
        std::set<std::size_t> kept;
        for (const auto& [at, count] : m_pieces)
            if (count > 1)
                kept.insert(at);
        bool isInLoop = false;
        for (const Loop& loop : m_loops) {
            isInLoop = isInLoop || stays(loop);
            kept.insert(loop.kept.begin(), loop.kept.end());
        }
        double base = 0;
        for (const std::size_t at : kept)
            base += registersOf(m_bases[at]);
        const bool isBranched = std::any_of(m_loops.begin(), m_loops.begin() + m_branchedFrom, stays);
        double global = 0, shared = 0;
        std::map<Place, std::int64_t> windows; // offset: of the window
        std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> lowest;
        for (const auto& [place, size] : m_piece.global) {
            const auto [low, isNew] = lowest.try_emplace({place.base, place.copy}, place.offset);
            const std::int64_t far = place.offset - low->second;
            const std::int64_t window = far < kReach ? 0 : isInLoop ? far / kVector : far / kReach;
            windows[{place.base, place.copy, window}] += size;
        }
        for (const auto& [place, size] : windows) {
            const auto held = static_cast<double>(ir::ceilDivide(size, 4));
            const bool isOnBase = kept.contains(place.base) && place.copy == 0 && place.offset == 0;
            if (isOnBase && isBranched)
                global += 2; // its end is made anew in each branch
            global += isOnBase ? held : std::max(2.0, held);
        }
        std::set<std::size_t> sharedBases;
        for (const auto& [place, size] : m_piece.shared) {
            shared += static_cast<double>(ir::ceilDivide(size, 4));
            if (!kept.contains(place.base))
                sharedBases.insert(place.base);
        }
        const double least = kOwn + m_tile + base + static_cast<double>(m_compared.size()) + m_inLoops;
        // Where all of it fits, all is loaded first; where it does not, the scheduler begins anew and holds back.
        if (least + shared > m_limit)
            shared = std::min(shared, kMostShared);
        const double limit = shared > 0 ? m_limit + kOverLimit : m_limit - kUnderLimit;
        shared += static_cast<double>(sharedBases.size());
        const double all = least + std::max(global + shared, m_piece.temporaries);
        // What does not fit anyhow is not held back either.
        const double most = least + kLeastLoaded > m_limit - kUnderLimit ? all : std::min(all, limit);
        m_most = std::max(m_most, most + m_sunk);
        m_piece = {};
    }

    /// What conditions of branches compare is alive until the last of them, but for what each copy of a loop makes
    /// anew.
    void noteCondition(const Expr& condition)
    {
        ir::visit(condition, [this](const Expr& e) {
            const auto isOf = [&e](const Loop& loop) { return !stays(loop) && ir::uses(e, loop.node->variable); };
            if ((e->kind == ExprKind::FloorDiv || e->kind == ExprKind::FloorMod) && !isUniform(e)
                && std::ranges::none_of(m_loops, isOf)
                && std::ranges::none_of(m_compared, [&e](const Expr& other) { return ir::equal(other, e); }))
                m_compared.push_back(e);
        });
    }

    double statement(const Stmt& s)
    {
        double lanes = 1;
        for (const Loop& loop : m_loops)
            if (loop.node->loop == ir::LoopKind::Vectorized)
                lanes *= static_cast<double>(loop.copies);
        const Scope scope = bufferOf(s->buffer).scope;
        double copies = 1;
        for (std::size_t i = m_sizedFrom; i < m_loops.size(); ++i)
            if (m_loops[i].node->loop == ir::LoopKind::Unrolled)
                copies *= static_cast<double>(m_loops[i].copies);
        double cost = costOf(s->value, lanes * copies, false);
        if (scope == Scope::Register)
            return cost;
        bool isVarying = m_sizedFrom == m_loops.size();
        for (const Expr& index : s->indices) {
            isVarying = isVarying || varies(index);
            ir::visit(index, [&cost, this](const Expr& e) {
                if ((e->kind == ExprKind::FloorDiv || e->kind == ExprKind::FloorMod) && varies(e))
                    cost += kOfQuotient;
            });
        }
        return cost + (isVarying ? kOfStore : 1) * copies;
    }

    double walk(const Stmt& s)
    {
        if (!s)
            return 0;
        double cost = 0;
        switch (s->kind) {
        case StmtKind::Store:
        case StmtKind::Shuffle: return statement(s);
        case StmtKind::Barrier: endPiece(); return 1;
        case StmtKind::AsyncCopy: return kOfStore; // past the registers
        case StmtKind::If:
            endPiece();
            cost = kOfBranch + costOf(s->condition, 1, true);
            noteCondition(s->condition);
            {
                const std::ptrdiff_t from = std::exchange(m_branchedFrom, std::ssize(m_loops));
                for (const Stmt& inner : s->body) {
                    cost += walk(inner);
                    endPiece();
                }
                m_branchedFrom = from;
            }
            return cost;
        case StmtKind::For: return loop(s);
        default:
            for (const Stmt& inner : s->body)
                cost += walk(inner);
            return cost;
        }
    }

    double loop(const Stmt& s)
    {
        const std::int64_t trips = tripsOf(*s);
        if (s->min->kind == ExprKind::IntImm && trips > 0)
            m_ranges.set(s->variable, {s->min->intValue, s->min->intValue + trips - 1});
        Loop here{s.get(), 1, false, {}};
        if (isWritten(*s)) {
            here.copies = std::max<std::int64_t>(1, trips);
            m_loops.push_back(here);
            const double cost = walk(s->body[0]);
            m_loops.pop_back();
            return cost;
        }
        const double body = sizeOfBody(s);
        const bool isReady = isWhole(*s);
        if (isReady) {
            here.copies = trips;
            here.isWhole = true;
        } else if (!holdsLoop(s->body[0])) {
            const auto most = static_cast<std::int64_t>(kPart / body);
            if (trips > 0)
                for (here.copies = std::clamp<std::int64_t>(most, 1, trips); trips % here.copies != 0;)
                    --here.copies;
            else if (!isCostly(s->extent) && ir::boundsOf(s->extent, m_ranges).hi > kMostAtRunTime)
                here.copies = static_cast<std::int64_t>(
                    std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(most, 1, kMostAtRunTime))));
        }
        if (!here.isWhole)
            endPiece();
        const bool holdsBarrier = holds(s->body[0], [](const ir::StmtNode& n) { return n.kind == StmtKind::Barrier; });
        if (here.isWhole && holdsBarrier)
            here.copies = 1; // each copy is a piece of its own
        if (!here.isWhole && !m_isDry)
            keepBases(s, here);
        const bool isCounted = trips == 0 && !(isUniform(s->extent) && isUniform(s->min));
        m_inLoops += isCounted ? kPerLoop : 0;
        const double shared = std::exchange(m_mostShared, 0.0);
        m_loops.push_back(here);
        walk(s->body[0]);
        if (!here.isWhole || holdsBarrier)
            endPiece();
        m_loops.pop_back();
        m_inLoops -= isCounted ? kPerLoop : 0;
        if (isReady && !m_isDry && holdsBarrier && holdsBranch(s->body[0]))
            m_sunk = std::max(m_sunk, static_cast<double>(trips - 1) * m_mostShared);
        m_mostShared = std::max(shared, m_mostShared);
        return here.isWhole ? body * static_cast<double>(trips) : body * static_cast<double>(here.copies) + kOfLoop;
    }

    /// Fills in what is alive all through a loop that stays: bases of the addresses in it.
    void keepBases(const Stmt& s, Loop& here)
    {
        const bool was = std::exchange(m_isDry, true);
        const Piece piece = std::exchange(m_piece, {});
        m_loops.push_back(here);
        walk(s->body[0]);
        here.kept = m_loops.back().kept;
        m_loops.pop_back();
        m_piece = piece;
        m_isDry = was;
    }
    double sizeOfBody(const Stmt& s)
    {
        if (const auto known = m_sizes.find(s.get()); known != m_sizes.end())
            return known->second;
        const bool was = std::exchange(m_isDry, true);
        const Piece piece = std::exchange(m_piece, {});
        const auto seen = std::exchange(m_seen, {});
        const std::size_t from = std::exchange(m_sizedFrom, m_loops.size());
        m_loops.push_back({s.get(), 1, false, {}});
        const double size = walk(s->body[0]) + kOfLoop;
        m_loops.pop_back();
        m_seen = seen;
        m_sizedFrom = from;
        m_piece = piece;
        m_isDry = was;
        return m_sizes[s.get()] = size;
    }

    bool holdsLoop(const Stmt& s)
    {
        return holds(s,
                     [this](const ir::StmtNode& n) { return n.kind == StmtKind::For && !isWritten(n) && !isWhole(n); });
    }
    double thresholdOf(const ir::StmtNode& loop) const
    {
        const auto stays = [&loop](const Loop& around) {
            return !around.isWhole && !isWritten(*around.node) && around.node != &loop;
        };
        const auto depth = 1 + static_cast<int>(std::ranges::count_if(m_loops, stays));
        return unrollThreshold(m_nest, loop, depth, [this](const ir::StmtNode& inner) { return isWhole(inner); });
    }
    /// Of a loop within the one that is looked at, whose size is known.
    bool isWhole(const ir::StmtNode& loop) const
    {
        const auto size = m_sizes.find(&loop);
        const std::int64_t trips = tripsOf(loop);
        return trips > 0 && size != m_sizes.end() && static_cast<double>(trips) * size->second <= thresholdOf(loop);
    }

    static constexpr std::int64_t kApart = std::int64_t{1} << 32; ///< between buffers in shared memory
    static constexpr std::size_t kMostCopies = 512;
    static constexpr double kLeastLoaded = 8, kOverLimit = 8, kUnderLimit = 2; ///< found: what comes out of scheduling

    const ir::LoopNest& m_nest;
    const ir::Launch& m_launch;
    double m_limit = 0, m_tile = 0, m_most = 0, m_sunk = 0;
    ir::Ranges m_ranges; ///< of the axes
    std::unordered_map<const ir::Node*, LinearForm> m_places; ///< of loads
    std::vector<Base> m_bases;
    std::vector<Loop> m_loops; ///< around where the walk is
    std::map<const ir::StmtNode*, double> m_sizes; ///< of loops' bodies
    std::set<std::pair<std::size_t, std::int64_t>> m_seen; ///< places, by base and constant, that cost already counts
    std::size_t m_sizedFrom = 0; ///< the loop whose body is sized
    Piece m_piece;
    std::ptrdiff_t m_branchedFrom = 0; ///< loops from here on are within the branch where the walk is
    std::vector<Expr> m_compared;
    std::map<std::size_t, int> m_pieces; ///< in how many pieces a base is used
    double m_inLoops = 0; ///< registers of loops that each thread counts by itself
    double m_mostShared = 0; ///< of a piece of the loop that is walked
    bool m_isCounting = true; ///< pieces that use a base, before anything is estimated
    bool m_isDry = false; ///< only costs and bases are wanted
};

} // namespace

std::int32_t estimateRegisters(const ir::LoopNest& nest, const ir::Launch& launch)
{
    return RegisterModel(nest, launch).registers();
}

} // namespace lathe::schedule
