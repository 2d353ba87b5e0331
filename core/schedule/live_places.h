#pragma once

#include "core/ir/bounds.h"
#include "core/ir/linear_form.h"
#include "core/ir/loop_nest.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lathe::schedule {

/// Where the accesses of a launch lie, while its loops are written out and repeated: which addresses a constant makes
/// from each other, and which conditions are decided.
class LivePlaces
{
public:
    /// The number of all that an address is made of but for its constant, and the constant, in elements.
    struct Place
    {
        std::size_t address = 0;
        std::int64_t constant = 0;

        friend auto operator<=>(const Place&, const Place&) = default;
    };

    LivePlaces(const ir::LoopNest& nest, const ir::Launch& launch);

    /// What the variable of a loop with so many trips counts; 0: they are known only when it runs.
    void enter(const ir::StmtNode& loop, std::int64_t trips);
    /// In a loop that is written out: its variable is a number.
    void bind(const ir::StmtNode& loop, std::int64_t value) { m_bound[loop.variable.get()] = value; }
    void unbind(const ir::StmtNode& loop) { m_bound.erase(loop.variable.get()); }
    /// In a loop that stays one: which copy of its body this is, of as many.
    void copy(const ir::StmtNode& loop, std::int64_t number, std::int64_t copies);
    void endCopies(const ir::StmtNode& loop) { m_copy.erase(loop.variable.get()); }

    /// @param key  the same for the same access
    Place placeOf(const void* key, std::int32_t buffer, const std::vector<ir::Expr>& indices);
    /// What divides an address but for its constant; 0: nothing but the constant is left of it.
    std::int64_t divisorOf(std::size_t address) const { return m_divisors[address]; }
    /// The number of an element of an array of the thread, where all indices are known.
    std::int64_t elementOf(const void* key, std::int32_t buffer, const std::vector<ir::Expr>& indices);
    /// What a comparison of integers compares with a constant. Nothing: it is none, or comes out alike whenever the
    /// launch gets here, so that no text has it.
    std::optional<Place> comparedBy(const ir::Expr& comparison);

private:
    const std::vector<ir::Expr>& variablesOf(const ir::Expr& atom);
    std::size_t numberOf(const ir::Expr& atom);
    const ir::LinearForm* atPlace(const ir::Expr& atom);
    const ir::LinearForm& formOf(const void* key, std::int32_t buffer, const std::vector<ir::Expr>& indices);
    Place placeOf(const ir::LinearForm& form, std::int32_t of);

    const ir::LoopNest& m_nest;
    ir::Ranges m_ranges;
    std::unordered_map<const ir::Node*, std::int64_t> m_bound; ///< what variables are
    std::unordered_map<const ir::Node*, std::int64_t> m_copy; ///< which copy of a body it is
    std::unordered_map<const ir::Node*, std::int64_t> m_steps; ///< of loops that stay
    std::unordered_map<const void*, ir::LinearForm> m_forms; ///< elements from the start of the buffer; comparisons
    std::unordered_map<const ir::Node*, std::vector<ir::Expr>> m_variables; ///< of atoms
    std::unordered_map<const ir::Node*, std::size_t> m_numbers; ///< of atoms
    std::vector<ir::Expr> m_atoms; ///< different ones
    std::map<std::pair<const ir::Node*, std::vector<std::int64_t>>, ir::LinearForm> m_placed; ///< atoms at places
    std::map<std::pair<std::int32_t, std::vector<std::pair<std::size_t, std::int64_t>>>, std::size_t> m_addresses;
    std::vector<std::int64_t> m_divisors; ///< by address
};

} // namespace lathe::schedule
