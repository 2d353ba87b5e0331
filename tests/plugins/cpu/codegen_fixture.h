#pragma once

#include "plugins/cpu/codegen/cpu_codegen.h"
#include "tests/plugins/cpu/loaded_kernel.h"
#include "tests/plugins/cpu/nests.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lathe::test {

std::unique_ptr<backend::Codegen> codegenFor(const std::string& target = "cpu");

struct Comparison
{
    double tolerance = 1e-5; ///< |difference| <= tolerance * (1 + |wanted|), for floats; integers must be equal
    std::uint64_t seed = 1;
    double low = -4, high = 4; ///< of random floats
    std::vector<unsigned> parts{1, 3};
};

/// Builds `kernel`, runs it and the nest interpreter on equal random inputs in guarded memory, and compares all
/// outputs. Outputs start with the same random contents on both sides. @return empty if all agree, else what differs.
std::string compareWithInterpreter(const schedule::LoweredKernel& kernel, backend::Codegen& codegen,
                                   const Comparison& comparison = {});

} // namespace lathe::test
