#pragma once

#include "core/search/lathe/parted_sketch.h"
#include "core/search/search_task.h"
#include "core/support/random.h"

#include <functional>
#include <string>
#include <vector>

namespace lathe::test {

/// Small tasks of every kind that kernels for GPUs are made of; inputs that a network would have as weights are
/// constant.
struct LaunchCase
{
    std::string name;
    std::function<search::SearchAlternative()> make;
};
const std::vector<LaunchCase>& launchCases();
/// One of them. Ends the test where there is none of that name.
search::SearchAlternative launchCase(const std::string& name);

/// Random genes that obey the device's limits; empty: none were found.
search::Genome drawnGenome(const search::PartedSketch& sketch, Random& random);

} // namespace lathe::test
