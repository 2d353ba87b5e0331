#pragma once

#include "tests/cuda_driver/ptx/syntax.h"

#include <vector>

namespace lathe::ptx {

/// Where the registers of a function lie in the register file of a warp, in rows of 32 lanes x 4 bytes.
struct Slots
{
    std::vector<uint32_t> row; // of each register; registers of 64 bits have two rows
    uint32_t rows = 0; // all together
    uint32_t live = 0; // the most registers of 32 bits that live at once (predicates not counted)
};

/// PTX has a register for every value: thousands in an unrolled loop. Registers that do not live at the same time share
/// rows, so that the file of a warp stays in the cache, and the most that live at once is an estimate of what a
/// compiler would need. Two registers of one instruction never share a row, whether read or written.
Slots allocateSlots(const Function& function);

/// How many operands, from the front, an instruction writes.
unsigned writtenOperands(const Statement& statement);

} // namespace lathe::ptx
