#pragma once

#include "core/compute/dag.h"
#include "core/compute/name_era.h"

#include <string>
#include <vector>

namespace lathe::test {

/// A task of the two networks of auto-scheduler.md 2.5 and 2.6, built from operator definitions alone.
struct ReferenceTask
{
    std::string name;
    compute::DagPtr dag;
    double flop = 0; ///< as the reference printed it
    std::string md5; ///< of the flat and nested keys
    std::string hashFormMd5; ///< of the hash-only key, where known
};

/// resnet-18 NHWC batch 1 on cuda, tasks 0 to 23. The names are the same for hash-only and flat keys.
std::vector<ReferenceTask> resnet18Tasks();
/// mobilenet NHWC batch 1 on Mali, tasks 0 to 21.
std::vector<ReferenceTask> mobilenetTasks();

} // namespace lathe::test
