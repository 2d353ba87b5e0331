#pragma once

#include "core/ir/loop_nest.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lathe::backend {

/// The text of a kernel while it is written: blocks in braces, each of which begins with the places in memory that its
/// statements share. What is computed or loaded twice gets a name, so that a text with thousands of unrolled statements
/// can be read, and a driver's compiler has less to do: it took 40 % less time for a tile of a winograd product.
class SourceScopes
{
public:
    /// Whether it is kept for the names that are given here.
    static bool isName(std::string_view name);

    /// Starts over, with the block of a kernel.
    void begin();
    /// The text of the kernel's block, names first.
    std::string end();

    /// A loop "for (...) {", and its block.
    void openLoop(const std::string& line) { open({line, {}, {}, {}, {}, nullptr, true, false}); }
    /// A branch "if (...) {", and its block. Neighbouring branches of one condition become one where it is `isFixed`:
    /// reads no memory.
    void openBranch(const std::string& line, bool isFixed);
    void otherwise(); ///< "} else {"
    void close();
    void line(const std::string& text);

    /// How many blocks are around the present place; the kernel's has level 1.
    std::size_t level() const { return m_blocks.size(); }
    /// A name for an integer that is the same all over the block of this level: where it lies in the text does not
    /// matter, as computing it reads no memory.
    std::string place(std::size_t level, const std::string& text);

    /// A name for what statements without a loop between them load: the same one until a buffer of it is stored to.
    std::string value(const std::string& type, const std::string& text, const std::set<std::int32_t>& buffers);
    /// That what such a text loads has a name already, until a buffer of it is stored to.
    void nameValue(const std::string& type, const std::string& text, std::string name,
                   const std::set<std::int32_t>& buffers);
    void stored(std::int32_t buffer);
    void forgetValues();

private:
    struct Value
    {
        std::string name;
        std::set<std::int32_t> buffers;
    };
    struct Block
    {
        std::string opening, places, body;
        std::unordered_map<std::string, std::string> names; ///< of places, by their text
        std::unordered_map<std::string, Value> values; ///< by type and text
        /// A branch at the end of the body, not yet written there: the next statement may belong into it.
        std::shared_ptr<Block> branch;
        bool isLoop = false, isFixed = false;
    };

    static void append(std::string& text, std::size_t level, const std::string& line);
    void open(Block block);
    void writeBranch(); ///< of the innermost block

    std::vector<Block> m_blocks;
    std::size_t m_places = 0, m_loads = 0; ///< names so far
};

} // namespace lathe::backend
