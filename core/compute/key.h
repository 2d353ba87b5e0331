#pragma once

#include "core/compute/dag.h"
#include "core/compute/name_era.h"

#include <string>
#include <string_view>

namespace lathe::compute {

/// The text that the reference hashed for the keys of a generation. The DAG's names must be of the same era.
std::string workloadText(const Dag& dag, NameEra form);

/// The reference's workload key: ["<md5>"], ["<md5>", 1, 7, ...] or ["<md5>", [1, 7, ...], ...].
std::string workloadKey(const Dag& dag, NameEra form);

/// Lower-case hexadecimal MD5.
std::string md5Hex(std::string_view text);

/// Text that is equal for two DAGs exactly if they compute the same with the same names left out of account:
/// dtypes, shapes, attributes and full bodies, operations by position.
std::string strongText(const Dag& dag);

/// Factor by which a time measured for `candidate` is scaled to estimate `target` ("compatible" reuse): infinite when
/// the keys do not match, 1 when they are equal after flattening. Errors: BadFile for text that is no workload key.
Result<double> distanceFactor(std::string_view target, std::string_view candidate);

} // namespace lathe::compute
