#pragma once

#include "core/compute/dag.h"

#include <string>

namespace lathe::compute {

enum class PrintMode : std::uint8_t
{
    Full, ///< every body in full, placeholders with shapes
    Display, ///< as Full, lines over 256 characters shortened in the middle
    Simple ///< the text that flat and nested workload keys hash: no shapes, calls at the root by name alone
};

/// A line per operation body, each ended by a line feed, in stage order.
std::string print(const Dag& dag, PrintMode mode = PrintMode::Full);

/// The body as the reference writes it. It pads a maximum, and begins one, with the lowest finite number of the type;
/// we do so with -infinity, which is right for infinite data too, and keep its text and its keys.
ir::Expr referenceBody(const Op& op, const ir::Expr& body);

/// The reference's spelling of an expression of the DAG: "(yy*2)", "tir.exp(x)", "placeholder[i, k]".
std::string printExpr(const Dag& dag, const ir::Expr& e);

} // namespace lathe::compute
