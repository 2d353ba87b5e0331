#pragma once

#include "core/search/lathe/parted_sketch.h"

#include <optional>

namespace lathe::search {

// How a genome passes from one task to another of the same form, whose extents differ.

/// What two tasks' sketches have in common where genomes pass between them: the sketch's name and the names of its
/// parameters, which say what operations its phases compute.
std::string formOf(const PartedSketch& sketch);

/// The extents that the choices depend on: of each reduction its output and its reduce axes; of a DAG without one the
/// outputs.
std::vector<std::int64_t> extentsOf(const PartedSketch& sketch);

/// How far two tasks of a form lie apart: the mean over their extents of how often one must be doubled. Infinite where
/// they have not equally many.
double distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

/// What the genes stand for: tile sizes, chunks, bytes ... The genome is the sketch's.
std::vector<std::int64_t> valuesOf(const PartedSketch& sketch, const Genome& genome);

/// The legal genome closest to such values: of each parameter the choice nearest to its value (so tile sizes become
/// divisors of the new extents), and where the choices of a phase do not go together, the one change that makes it
/// legal and costs least by the estimate. Nothing: there is none, or the values are not of this form.
std::optional<Genome> adapt(const PartedSketch& sketch, std::span<const std::int64_t> values);

} // namespace lathe::search
