#pragma once

#include "core/backend/source_language.h"
#include "core/backend/source_scopes.h"
#include "core/ir/bounds.h"
#include "core/ir/loop_nest.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lathe::backend {

/// The expressions of a printed kernel: what variables and buffers are called, and which helpers a text needs. Vectors:
/// while m_lanes has a variable, what depends on it is an expression of `width` elements, one for each of its values.
class SourceText
{
protected:
    SourceText(const ir::LoopNest& nest, const SourceLanguage& language);

    /// A name of letters, digits and underscores that no other has.
    std::string identifier(const std::string& name, std::set<std::string>& taken) const;
    void problem(const std::string& what);
    std::string typeText(DType dtype); ///< its name; the text says before what the language asks for

    std::string text(const ir::Expr& e);
    std::string element(std::int32_t id, const std::vector<ir::Expr>& indices);
    /// What a Shuffle takes from another lane, in a block of so many threads.
    std::string shuffleText(const ir::StmtNode& shuffle, std::int64_t threads);
    /// Of an integer that is a place in memory: the sums of what belongs to each of the blocks around it get names
    /// there.
    std::string offsetText(const ir::Expr& offset);
    /// A variable is bound in the present block.
    void bind(const ir::Expr& variable, const std::string& name);
    void forget(const ir::Expr& variable); ///< behind the block that binds it

    // ---- vectors (source_vectors.cpp)

    struct Lanes
    {
        ir::Expr variable; ///< empty: none
        std::int64_t width = 1;
        DType dtype = DType::F32; ///< of all elements
    };
    /// How the body of a loop over lanes is written on vectors of at most 16 bytes; nothing where it must be written
    /// lane by lane: types of several sizes, conditions by lane, integers that are computed with.
    std::optional<Lanes> lanesOf(const ir::StmtNode& loop) const;
    bool usesLanes(const ir::Expr& e) const;
    std::string vectorType(DType dtype, std::int64_t width);
    std::string vectorText(const ir::Expr& e); ///< of m_lanes.width elements, whether it depends on the lane or not
    /// The lines that store a vector.
    std::vector<std::string> vectorStore(const ir::StmtNode& store);
    /// Which registers of a kernel are only ever accessed as whole vectors: they are declared so.
    void findVectorRegisters(const ir::Stmt& body);
    std::int64_t registerWidth(std::int32_t buffer) const; ///< 1: elements
    /// Ahead of a loop of two or four steps that is written out: what they read side by side, each at a place that is
    /// known there, as one vector whose elements they take. Compilers do that by themselves only where they know where
    /// buffers begin, and to the tens of loads.
    void loadTogether(const ir::StmtNode& loop);

    // ---- remainders of loops' variables

    /// (variable + offset) % modulus under a name that the loop counts.
    struct Remainder
    {
        const ir::Node* variable;
        std::int64_t offset, modulus; ///< 0 <= offset < modulus
        std::string name;

        bool isSame(const Remainder& other) const
        {
            return variable == other.variable && offset == other.offset && modulus == other.modulus;
        }
    };
    /// What `e` is the remainder of, without a name; nothing if it is no remainder of one variable and a number.
    std::optional<Remainder> remainderOf(const ir::Expr& e) const;
    /// All remainders of the loop's variable in its body, each once, named.
    std::vector<Remainder> remaindersOf(const ir::StmtNode& loop);

    // ---- asynchronous copies (source_copies.cpp)

    /// The line of a statement of theirs, in a language that has them.
    std::string copyLine(const ir::StmtNode& s);
    /// Of a branch; empty: it is none that copies or stores zeros, or the language has no form for it.
    std::string copyOrZeroLine(const ir::StmtNode& branch);

    const ir::LoopNest& m_nest;
    const SourceLanguage& m_language;
    std::set<std::string> m_taken, m_takenHere;
    std::vector<std::string> m_bufferNames;
    std::unordered_map<const ir::Node*, std::string> m_names; ///< of variables
    std::unordered_map<const ir::Node*, std::size_t> m_levels; ///< of variables: of the blocks that bind them
    SourceScopes m_scopes;
    std::vector<Remainder> m_remainders; ///< of the loops around the present statement
    int m_written = 0; ///< loops around the present statement that are written out
    ir::Ranges m_ranges;
    std::set<DType> m_types; ///< that the text names
    std::set<std::pair<int, std::string>> m_helpers; ///< those of a higher number call those of lower ones
    std::string m_problem;
    Lanes m_lanes;

private:
    std::string plainText(const ir::Expr& e);
    bool isPlace(const ir::Expr& e) const;
    std::size_t levelOf(const ir::Expr& e) const;
    /// Whether `e`, which reads memory, may be read once for a run of statements.
    bool isShared(const ir::Expr& e) const;
    std::string helper(std::string_view name, const std::string& type);
    /// Two operands. As arguments of a call they number the names of what they load in the order in which the compiler
    /// of this program has it, as ever: symbols are hashes of the text, and users have caches of them.
    static std::vector<std::string> both(std::string a, std::string b);
    std::string arithmetic(const ir::Expr& e, const char* sign);
    std::string division(const ir::Expr& e);
    std::string conversion(const ir::Expr& e);
    // Functions (source_functions.cpp).
    std::string callText(const ir::Expr& e);
    const SourceFunction* findFunction(std::string_view ours) const; ///< null: the language has none
    /// A call of what the language, or a helper, has under that name.
    std::string functionText(std::string_view name, DType dtype, bool areLanes,
                             const std::vector<std::string>& arguments);
    std::string product(const ir::Expr& x, const ir::Expr& y); ///< rounded for itself
    std::string integerCall(const ir::Node& e, const std::vector<std::string>& arguments);
    /// Where an element lies, in elements from the buffer's begin.
    ir::Expr offsetOf(std::int32_t id, const std::vector<ir::Expr>& indices) const;

    struct VectorPlace
    {
        ir::Expr first; ///< offset of lane 0
        bool isContiguous = false, isAligned = false;
    };
    VectorPlace vectorPlace(std::int32_t id, const std::vector<ir::Expr>& indices, const Lanes& lanes) const;
    bool fitsLanes(const ir::Expr& e, const Lanes& lanes) const;
    bool fitsLanes(const ir::Stmt& s, const Lanes& lanes) const;
    std::string vectorAt(std::int32_t id, const ir::Expr& first, bool isConst); ///< an aligned one, to read or write
    std::string vectorLoad(const ir::Expr& e);
    void noteAccesses(const ir::Stmt& s, const Lanes& lanes);
    /// A helper for a language that does not compute with vectors: of a vector of that type, each of whose elements is
    /// `element` with its lane in place of @, and its number in place of #.
    void laneWise(const std::string& heading, const std::string& type, std::string_view element);
    /// That a sign of arithmetic stands between operands of m_lanes, of which some are single numbers.
    void noteOperator(const char* sign, bool isVectorLeft, bool isVectorRight);
    void noteVectorStore(); ///< that elements of m_lanes are stored to any place
    std::string spread(const std::string& value); ///< a vector of equal elements

    int m_within = 0; ///< expressions around the present one that have a name, or a condition, of their own
    std::unordered_map<std::int32_t, std::int64_t> m_registerWidths; ///< of registers; 1: elements
};

} // namespace lathe::backend
