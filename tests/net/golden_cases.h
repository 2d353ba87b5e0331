#pragma once

#include "core/graph/task.h"
#include "core/target/target.h"
#include "tests/net/expectation.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lathe::net {

struct GoldenSet
{
    std::vector<graph::HostTensor> inputs;
    std::vector<std::optional<graph::HostTensor>> outputs; ///< of ONNX Runtime, in order; nothing: it does not give it
};

/// A model of one ONNX operator with values (goldens/make_goldens.py).
struct GoldenCase
{
    std::string name; ///< "Add of 33|float16"
    DType dtype = DType::F32; ///< that it is in
    std::string model; ///< bytes, without values
    std::vector<GoldenSet> sets;
};

std::vector<std::filesystem::path> goldenFiles(); ///< one for each operator
Result<std::vector<GoldenCase>> readGoldenCases(const std::filesystem::path& file);

struct ImportedNetwork
{
    graph::Graph imported, graph; ///< as read, and after the passes
    graph::Partition partition;
};
/// As a command reads a model file. Errors: those of importer, passes and partition.
Result<ImportedNetwork> importNetwork(const std::string& model, const Target& target);

/// The evaluation of a set beside what ONNX Runtime gave, whose own functions are approximations (what is exact
/// must be equal). Empty if they agree, or where ONNX Runtime is known to do otherwise than core/compute/README.md says.
std::string compareWithGolden(const GoldenCase& of, std::size_t set, Expected evaluated,
                              const graph::HostTensor& golden);

} // namespace lathe::net
