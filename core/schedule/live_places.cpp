#include "core/schedule/live_places.h"

#include "core/ir/substitute.h"

#include <algorithm>
#include <numeric>

namespace lathe::schedule {

using ir::Expr;
using ir::ExprKind;
using ir::LinearForm;

namespace {

// In place of a buffer: the block's memory is one, whatever is kept in it; what conditions compare is no address.
constexpr std::int32_t kOfBlock = -1, kOfConditions = -2;

} // namespace

LivePlaces::LivePlaces(const ir::LoopNest& nest, const ir::Launch& launch)
    : m_nest(nest)
{
    for (std::size_t d = 0; d < 3; ++d) {
        m_ranges.setExtent(launch.blockIndex[d], launch.grid[d]);
        m_ranges.setExtent(launch.threadIndex[d], launch.block[d]);
    }
}

void LivePlaces::enter(const ir::StmtNode& loop, std::int64_t trips)
{
    if (loop.min->kind == ExprKind::IntImm && trips > 0)
        m_ranges.set(loop.variable, {loop.min->intValue, loop.min->intValue + trips - 1});
}

void LivePlaces::copy(const ir::StmtNode& loop, std::int64_t number, std::int64_t copies)
{
    m_copy[loop.variable.get()] = number;
    m_steps[loop.variable.get()] = loop.min->kind == ExprKind::IntImm && loop.min->intValue % copies == 0 ? copies : 1;
}

const std::vector<Expr>& LivePlaces::variablesOf(const Expr& atom)
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

std::size_t LivePlaces::numberOf(const Expr& atom)
{
    const auto [known, isNew] = m_numbers.try_emplace(atom.get(), 0);
    if (isNew) {
        const auto found = std::ranges::find_if(m_atoms, [&atom](const Expr& other) { return ir::equal(other, atom); });
        known->second = static_cast<std::size_t>(found - m_atoms.begin());
        if (found == m_atoms.end())
            m_atoms.push_back(atom);
    }
    return known->second;
}

/// Of an atom that is not linear, with what loops are known to count at this place. Null: nothing is known of it.
const LinearForm* LivePlaces::atPlace(const Expr& atom)
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
    const auto [form, isNew] = m_placed.try_emplace({atom.get(), std::move(values)});
    if (isNew)
        form->second = ir::linearForm(ir::substitute(atom, known), m_ranges);
    return &form->second;
}

const LinearForm& LivePlaces::formOf(const void* key, std::int32_t buffer, const std::vector<Expr>& indices)
{
    const auto [known, isNew] = m_forms.try_emplace(key);
    if (isNew) {
        const std::vector<std::int64_t>& strides = m_nest.buffers[static_cast<std::size_t>(buffer)].strides;
        for (std::size_t d = 0; d < indices.size(); ++d)
            known->second.add(ir::linearForm(ir::cast(DType::I32, indices[d]), m_ranges), strides[d]);
    }
    return known->second;
}

LivePlaces::Place LivePlaces::placeOf(const LinearForm& form, std::int32_t of)
{
    std::int64_t constant = form.constant, divisor = 0;
    std::map<std::size_t, std::int64_t> terms;
    const auto add = [&](const auto& self, const LinearForm& part, std::int64_t factor, bool isPlaced) -> void {
        for (const LinearForm::Term& term : part.terms) {
            const ir::Node* const atom = term.atom.get();
            const std::int64_t coefficient = term.coefficient * factor;
            std::int64_t step = 1;
            if (term.atom->kind == ExprKind::Var) {
                if (const auto bound = m_bound.find(atom); bound != m_bound.end()) {
                    constant += coefficient * bound->second;
                    continue;
                }
                if (const auto repeat = m_copy.find(atom); repeat != m_copy.end() && !isPlaced)
                    constant += coefficient * repeat->second;
                if (const auto stays = m_steps.find(atom); stays != m_steps.end())
                    step = stays->second;
            } else if (!isPlaced) {
                if (const LinearForm* const placed = atPlace(term.atom)) {
                    constant += coefficient * placed->constant;
                    self(self, *placed, coefficient, true);
                    continue;
                }
            }
            divisor = std::gcd(divisor, coefficient * step);
            terms[numberOf(term.atom)] += coefficient;
        }
    };
    add(add, form, 1, false);
    std::vector<std::pair<std::size_t, std::int64_t>> all(terms.begin(), terms.end());
    const auto [known, isNew] = m_addresses.try_emplace({of, std::move(all)}, m_divisors.size());
    if (isNew)
        m_divisors.push_back(divisor);
    return {known->second, constant};
}

LivePlaces::Place LivePlaces::placeOf(const void* key, std::int32_t buffer, const std::vector<Expr>& indices)
{
    const bool isOfBlock = m_nest.buffers[static_cast<std::size_t>(buffer)].scope == ir::Scope::Shared;
    return placeOf(formOf(key, buffer, indices), isOfBlock ? kOfBlock : buffer);
}

std::int64_t LivePlaces::elementOf(const void* key, std::int32_t buffer, const std::vector<Expr>& indices)
{
    const LinearForm& form = formOf(key, buffer, indices);
    std::int64_t at = form.constant;
    for (const LinearForm::Term& term : form.terms)
        if (const auto bound = m_bound.find(term.atom.get()); bound != m_bound.end())
            at += term.coefficient * bound->second;
        else if (const LinearForm* const placed = atPlace(term.atom))
            at += term.coefficient * placed->constant;
    return at;
}

std::optional<LivePlaces::Place> LivePlaces::comparedBy(const Expr& comparison)
{
    const bool isEquality = comparison->kind == ExprKind::Eq || comparison->kind == ExprKind::Ne;
    const auto [known, isNew] = m_forms.try_emplace(comparison.get());
    if (isNew && isEquality && ir::isIndexType(comparison->operands[0]->dtype)) {
        known->second = ir::linearForm(comparison->operands[0], m_ranges);
        known->second.add(ir::linearForm(comparison->operands[1], m_ranges), -1);
    } else if (isNew && (isEquality || !ir::asInequality(comparison, m_ranges, known->second))) {
        known->second = {};
    }
    LinearForm here;
    here.constant = known->second.constant;
    for (const LinearForm::Term& term : known->second.terms)
        if (const auto bound = m_bound.find(term.atom.get()); bound != m_bound.end())
            here.constant += term.coefficient * bound->second;
        else if (const LinearForm* const placed = atPlace(term.atom))
            here.add(*placed, term.coefficient);
        else
            here.add(term.atom, term.coefficient);
    const ir::Interval bounds = ir::exactBoundsOf(here, m_ranges);
    if (isEquality ? bounds.lo == bounds.hi || bounds.lo > 0 || bounds.hi < 0 : bounds.lo >= 0 || bounds.hi < 0)
        return std::nullopt;
    return placeOf(known->second, kOfConditions);
}

} // namespace lathe::schedule
