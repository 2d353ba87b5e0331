#include "core/schedule/register_model_nvidia.h"

#include "core/ir/bounds.h"
#include "core/ir/linear_form.h"
#include "core/ir/scratch.h"
#include "core/ir/substitute.h"
#include "core/schedule/unroll_rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LinearForm;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

// Set by the compiler's output, see the header.
constexpr double kOfThread = 6.85, kPerElement = 0.97, kPerCounter = 1.87, kPerGlobal = 0.66, kPerShared = 3.73,
                 kMostAddresses = 20.3, kPerLoad = 1.02, kPerSharedLoad = 0.65, kMostEarly = 53.8, kPerTemporary = 0.24,
                 kNeeded = 0.2;
/// Registers of a thread with which more warps fit than with one more.
constexpr double kWarpSteps[] = {32, 40, 48, 56, 64, 72, 80, 96, 128, 168, 255};

/// Of a launch, in registers of a thread where nothing else is said.
struct RegisterFacts
{
    double threads = 0;
    double tile = 0; ///< the largest array: others are done with before, or come after
    double global = 0; ///< the most that straight code loads from memory
    double shared = 0; ///< of that which loads most, from shared memory
    double globalAddresses = 0, sharedAddresses = 0; ///< that no constant makes from each other
    double temporaries = 0; ///< of functions and divisions
    double loops = 0; ///< that stay
};

/// What stands between two places across which nothing is moved: barriers, ends of loops.
struct StraightCode
{
    std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> global, shared; ///< words, by address and constant
    std::set<std::size_t> globalAddresses, sharedAddresses;
    double temporaries = 0;
};

class NvidiaModel
{
public:
    NvidiaModel(const ir::LoopNest& nest, const ir::Launch& launch)
        : m_nest(nest)
        , m_launch(launch)
    {
        for (std::size_t d = 0; d < 3; ++d) {
            m_ranges.setExtent(launch.blockIndex[d], launch.grid[d]);
            m_ranges.setExtent(launch.threadIndex[d], launch.block[d]);
        }
        for (const std::int32_t id : ir::buffersOf(launch.body))
            if (const ir::Buffer& buffer = nest.buffers[static_cast<std::size_t>(id)];
                buffer.scope == Scope::Register
                || (buffer.scope == Scope::Local && ir::elementCount(buffer) <= kMostPromoted))
                m_facts.tile = std::max(m_facts.tile,
                                        static_cast<double>(ir::elementCount(buffer) * sizeOf(buffer.dtype)) / 4);
        m_facts.threads = static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]);
    }

    RegisterFacts facts()
    {
        walk(m_launch.body);
        endCode();
        return m_facts;
    }

private:
    struct Loop
    {
        Expr variable;
        std::int64_t copies = 1;
        bool isVectorized = false;
    };

    const ir::Buffer& bufferOf(std::int32_t id) const { return m_nest.buffers[static_cast<std::size_t>(id)]; }

    double copiesOfAll() const
    {
        double copies = 1;
        for (const Loop& loop : m_copied)
            copies *= static_cast<double>(loop.copies);
        return copies;
    }

    std::size_t addressOf(std::int32_t buffer, const std::vector<LinearForm::Term>& terms)
    {
        const auto isSame = [&](const auto& other) {
            return other.first == buffer && std::ranges::equal(other.second, terms, [](const auto& a, const auto& b) {
                       return a.coefficient == b.coefficient && ir::equal(a.atom, b.atom);
                   });
        };
        const auto found = std::ranges::find_if(m_addresses, isSame);
        const auto at = static_cast<std::size_t>(found - m_addresses.begin());
        if (found == m_addresses.end())
            m_addresses.emplace_back(buffer, terms);
        return at * kCopies;
    }

    void access(std::int32_t id, const std::vector<Expr>& indices, bool isLoad)
    {
        const ir::Buffer& buffer = bufferOf(id);
        if (buffer.scope == Scope::Register || buffer.scope == Scope::Local)
            return;
        const bool isShared = buffer.scope == Scope::Shared;
        LinearForm form;
        for (std::size_t d = 0; d < indices.size(); ++d)
            form.add(ir::linearForm(ir::cast(DType::I32, indices[d]), m_ranges), buffer.strides[d]);
        std::vector<LinearForm::Term> terms;
        std::vector<std::pair<std::int64_t, std::int64_t>> steps; // elements, copies
        std::int64_t own = 1; // addresses of copies that no constant makes from each other
        for (const LinearForm::Term& term : form.terms) {
            const auto loop = std::ranges::find_if(m_copied, [&](const Loop& l) { return l.variable.same(term.atom); });
            if (loop == m_copied.end())
                terms.push_back(term);
            else
                steps.emplace_back(term.coefficient, loop->copies);
        }
        for (const Loop& loop : m_copied)
            if (!loop.isVectorized
                && std::ranges::any_of(terms, [&](const auto& t) { return ir::uses(t.atom, loop.variable); }))
                own = std::min<std::int64_t>(own * loop.copies, kCopies);
        const std::size_t at = addressOf(isShared ? -1 : id, terms);
        const double words = static_cast<double>(ir::ceilDivide(sizeOf(buffer.dtype), 4));
        std::vector<std::int64_t> all = {form.constant + (isShared ? id * kApart : 0)};
        for (const auto& [elements, copies] : steps) {
            const std::size_t count = all.size();
            for (std::int64_t i = 1; i < std::min<std::int64_t>(copies, 512 / static_cast<std::int64_t>(count)); ++i)
                for (std::size_t j = 0; j < count; ++j)
                    all.push_back(all[j] + i * elements);
        }
        for (std::int64_t copy = 0; copy < own; ++copy) {
            const std::size_t key = at + static_cast<std::size_t>(copy);
            (isShared ? m_code.sharedAddresses : m_code.globalAddresses).insert(key);
            if (isLoad)
                for (const std::int64_t place : all)
                    (isShared ? m_code.shared : m_code.global)[{key, place}] = static_cast<std::int64_t>(words);
        }
    }

    void expression(const Expr& e)
    {
        ir::visit(e, [&](const Expr& inner) {
            switch (inner->kind) {
            case ExprKind::Load: access(inner->source, inner->operands, true); break;
            case ExprKind::Call: m_code.temporaries += kPerCall * copiesOfAll(); break;
            case ExprKind::Div: m_code.temporaries += kPerDivision * copiesOfAll(); break;
            default: break;
            }
        });
    }

    void walk(const Stmt& s)
    {
        if (!s)
            return;
        switch (s->kind) {
        case StmtKind::Store:
            expression(s->value);
            access(s->buffer, s->indices, false);
            return;
        case StmtKind::AsyncCopy: // past the registers
            access(s->buffer, s->indices, false);
            ir::visit(s->value, [this](const Expr& e) {
                if (e->kind == ExprKind::Load)
                    access(e->source, e->operands, false);
            });
            return;
        case StmtKind::Barrier: endCode(); return;
        case StmtKind::If:
            for (const Stmt& inner : s->body)
                walk(inner);
            return;
        case StmtKind::For: loop(*s); return;
        default:
            for (const Stmt& inner : s->body)
                walk(inner);
        }
    }

    void loop(const ir::StmtNode& s)
    {
        const std::int64_t trips = tripsOf(s);
        if (s.min->kind == ExprKind::IntImm && trips > 0)
            m_ranges.set(s.variable, {s.min->intValue, s.min->intValue + trips - 1});
        const bool isWhole = trips > 0 && (isWritten(s) || isShortCopy(m_nest, s));
        if (isWhole) {
            m_copied.push_back({s.variable, trips, s.loop == ir::LoopKind::Vectorized});
            walk(s.body[0]);
            m_copied.pop_back();
            return;
        }
        endCode();
        ++m_facts.loops;
        const std::int64_t repeats = repeatsOf(s);
        if (repeats > 1)
            m_copied.push_back({s.variable, repeats, false});
        walk(s.body[0]);
        endCode();
        if (repeats > 1)
            m_copied.pop_back();
    }

    void endCode()
    {
        double global = 0, shared = 0;
        for (const auto& [place, words] : m_code.global)
            global += static_cast<double>(words);
        for (const auto& [place, words] : m_code.shared)
            shared += static_cast<double>(words);
        if (global + shared > m_most) {
            m_most = global + shared;
            m_facts.shared = shared;
        }
        m_facts.globalAddresses = std::max(m_facts.globalAddresses, static_cast<double>(m_code.globalAddresses.size()));
        m_facts.sharedAddresses = std::max(m_facts.sharedAddresses, static_cast<double>(m_code.sharedAddresses.size()));
        m_facts.temporaries = std::max(m_facts.temporaries, m_code.temporaries);
        m_facts.global = std::max(m_facts.global, global);
        m_code = {};
    }

    static constexpr std::int64_t kMostPromoted = 128; ///< elements of an array that the compiler finds registers for
    static constexpr std::size_t kCopies = 64;
    static constexpr std::int64_t kApart = std::int64_t{1} << 32; ///< between buffers in shared memory
    static constexpr double kPerCall = 4, kPerDivision = 4;

    const ir::LoopNest& m_nest;
    const ir::Launch& m_launch;
    ir::Ranges m_ranges;
    std::vector<std::pair<std::int32_t, std::vector<LinearForm::Term>>> m_addresses;
    std::vector<Loop> m_copied; ///< loops around that are written out or repeated
    StraightCode m_code;
    RegisterFacts m_facts;
    double m_most = 0; ///< loads of straight code so far
};

} // namespace

std::int32_t estimateNvidiaRegisters(const ir::LoopNest& nest, const ir::Launch& launch)
{
    const RegisterFacts facts = NvidiaModel(nest, launch).facts();
    const double addresses = std::min(kPerGlobal * facts.globalAddresses + kPerShared * facts.sharedAddresses,
                                      kMostAddresses);
    const double least = kOfThread + kPerElement * facts.tile + addresses + kPerCounter * facts.loops;
    const double early = std::min(kPerLoad * facts.global + kPerSharedLoad * facts.shared, kMostEarly)
                         + kPerTemporary * facts.temporaries;
    const double room = std::min(255.0, 65536 / std::max(facts.threads, 32.0));
    const double wanted = std::min(least + early, room);
    double taken = wanted;
    if (wanted > kWarpSteps[0]) {
        const double needed = least + kNeeded * (wanted - least);
        const auto* const step = std::ranges::find_if(kWarpSteps, [needed](double count) { return count >= needed; });
        taken = step == std::end(kWarpSteps) ? 255 : std::min(*step, wanted);
    }
    return static_cast<std::int32_t>(std::lround(taken));
}

} // namespace lathe::schedule
