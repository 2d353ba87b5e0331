#pragma once

#include "core/graph/input_ranges.h"
#include "core/graph/operator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::deploy {

/// What the made-up inputs of a network hold.
enum class InputKind : std::uint8_t
{
    Normal, ///< floats of [-1, 1), small integers
    Large, ///< floats of both signs whose magnitudes are spread from 1e-4 to 1e4 (float16: from 1e-3 to 1e2)
    Zeros, ///< floats that are 0 and -0 in turn; integers that are 0, or the nearest that suits
    Integers, ///< integers over their whole range, with its ends
    NotANumber ///< as Normal, but some floats are NaN: outputs must be NaN at the same places
};
inline constexpr InputKind kInputKinds[] = {InputKind::Normal, InputKind::Large, InputKind::Zeros, InputKind::Integers,
                                            InputKind::NotANumber};

std::string_view toString(InputKind kind); ///< "normal", "large", "zeros", "integers", "nan"
std::optional<InputKind> inputKindOf(std::string_view word);

/// Those that differ from each other for inputs of such types, Normal first.
std::vector<InputKind> kindsThatSuit(const std::vector<graph::TensorType>& inputs);

/// One tensor for each input, within the range that it has. `ranges` may be empty. The same seed gives the same values;
/// Normal without a range gives those that a library makes for itself.
std::vector<graph::HostTensor> makeTestInputs(const std::vector<graph::TensorType>& inputs,
                                              const std::vector<graph::InputRange>& ranges, InputKind kind,
                                              std::uint64_t seed);

/// Normal ones, where some of them are given. Empty if none is and any values will do: a library then makes its own.
std::vector<graph::HostTensor> runInputs(const std::vector<graph::TensorType>& inputs,
                                         const std::vector<graph::InputRange>& ranges,
                                         const std::vector<std::optional<graph::HostTensor>>& given = {},
                                         std::uint64_t seed = 1);

std::vector<graph::TensorType> inputTypesOf(const graph::Graph& network);

} // namespace lathe::deploy
