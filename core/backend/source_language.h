#pragma once

#include "core/runtime/dtype.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lathe::backend {

struct SourceType
{
    std::string_view name; ///< empty: the language has none
    std::string declaration; ///< what a text must say before it names the type; empty: nothing
};

/// What a function of the intermediate representation is called, of f32 (and narrower floats) and of f64. With TYPE in
/// the name it is a helper of ours (source_functions.h), with the name of the type in its place.
struct SourceFunction
{
    std::string_view ours, ofF32, ofF64;
};

/// A small function of ours that a text may need before its kernels: what core/compute/README.md asks for and the
/// language leaves open, or has otherwise.
struct SourceHelper
{
    std::string_view name; ///< with TYPE in place of the type's name
    std::string_view text; ///< TYPE as above, WIDE: the type of 64 bits without a sign
};

/// What languages of kernels have different words for. The printer (c_source.h, source_text.h) writes what they have in
/// common, which is nearly all of C. Braces mark what fmt::format() puts in.
struct SourceLanguage
{
    std::string_view name; ///< for people
    std::array<SourceType, 13> types; ///< by DType. The integer without a sign to a type X is called uX
    std::string_view words; ///< that no variable may be called, with blanks between them
    std::span<const SourceFunction> functions;
    std::span<const SourceHelper> helpers; ///< before those that all languages share
    std::string_view helperPrefix; ///< before each helper

    // ---- kernels
    /// Up to the symbol; {0} to {2}: threads of a block along x, y, z, {3}: all of them, with the blocks that a core is
    /// to have room for behind a comma where they are counted, {4}: what requires warps.
    std::string_view kernel;
    std::string_view globalPointer, sharedPointer; ///< before the type of what a pointer points to
    std::string_view restrict;
    std::string_view sharedArray; ///< before the type of an array of the block
    std::string_view alignedBefore, alignedAfter; ///< around the declaration of an array that vectors are read from
    std::array<std::string_view, 3> blockIndex, threadIndex;
    std::string_view barrier;

    // ---- what a thread of the same warp has
    std::string_view shuffleDeclaration; ///< what a text must say before
    /// {0}: the value, {1}: a bit for each lane that comes, {2}: the distance. Of integers of at least 32 bits and
    /// floats.
    std::string_view shuffle;
    std::string_view shuffleNarrow; ///< the same of floats of 16 bits: a helper's name; empty: as others
    std::int32_t warp; ///< lanes of its warps; 0: each kernel requires its own
    std::string_view requiredWarp; ///< {0}: lanes
    /// The number of a thread's warp in the block, that of its lane in the warp, and how many lanes that warp has:
    /// where the language leaves open which threads are in which warp, those that shuffle are numbered by these. Empty:
    /// it does not.
    std::string_view warpIndex, laneIndex, laneCount;

    std::int64_t mostSharedBytes; ///< of a block, that a text may declare with their sizes
    std::string_view unsizedShared; ///< declares bytes {0} without a size
    /// Whether what steps that are written out read side by side is loaded as a vector.
    bool loadsTogether;
    /// Whether a compiler joins products with sums of other statements: then each product that is not added to
    /// something at once is asked to be rounded.
    bool joinsStatements;

    // ---- numbers
    /// A quotient or a rest that an int is made of; {0}: a sum of variables that is not negative, {1}: the sign.
    std::string_view quotientOfSum;
    /// Whether loops that are left to the compiler say how often it is to repeat their bodies. Where it would choose by
    /// itself it writes out whole loops with hundreds of statements, for half a minute, and then has no registers.
    bool unrollsLoops;
    /// Whether the remainder of a loop's variable, the tile of a ring that a step uses, is counted along with the loop
    /// instead of being divided for in each pass.
    bool countsRemainders;
    std::string_view suffixOfI64, suffixOfU64, lowestI32, lowestI64;
    std::array<std::string_view, 2> notANumber, infinity; ///< of f32 and of f64
    bool hasNarrowFloats; ///< numbers become f16 where one is needed; else each is cast
    /// The text of a function `name` for the table's row "float to integer".
    std::string (*toInteger)(DType from, DType to, const std::string& name);
    std::string_view absoluteInteger; ///< {0}: the type, {1}: the number; or a helper's name

    // ---- vectors of two or four elements, called like their elements' type with the number behind it
    bool computesVectors; ///< operators and functions take vectors and mix them with single numbers; else helpers do
    std::string_view vectorOf; ///< {0}: the type, {1}: elements, with commas
    std::string_view spread; ///< {0}: the type, {1}: what all elements are
    std::string_view loadVector; ///< from any place; {0}: the type, {1}: the width, {2}: the address
    std::string_view storeVector; ///< {3}: the value
    std::array<std::string_view, 4> lanes; ///< behind a vector
    std::span<const std::string_view> wrongOfVectors; ///< functions that compilers get wrong there

    // ---- asynchronous copies (core/ir/async_copy.h); empty: none, they are made at once and nothing is waited for
    std::string_view copy; ///< a statement; {0}: bytes, {1}: the address in the block's memory, {2}: that in global one
    std::string_view copyOrZero; ///< likewise, {3}: a condition, where it does not hold zeros are stored
    std::string_view commitCopies, waitForCopies; ///< {0}: groups that may still be on their way
    /// Functions that these call: copies of 4, 8, 16 bytes, the same with a condition, and what commits and waits.
    std::span<const std::string> copyHelpers;

    std::string_view typeName(DType dtype) const { return types[static_cast<std::size_t>(dtype)].name; }
    std::string floatLiteral(double value, DType dtype) const;
    std::string intLiteral(std::int64_t value, DType dtype) const;
};

const SourceLanguage& openClLanguage(); ///< OpenCL C 1.2
const SourceLanguage& cudaLanguage(); ///< CUDA C++ without headers

} // namespace lathe::backend
