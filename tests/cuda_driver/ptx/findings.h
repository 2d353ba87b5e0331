#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace lathe::ptx {

/// What a real device would not tell, or not so well.
struct Finding
{
    enum class Kind : uint8_t
    {
        Race,
        UninitializedRead,
        DivergentBarrier,
        DivergentShuffle,
        AsyncCopy, // touched before it was waited for, or results that depend on when it arrives
    };
    Kind kind = Kind::Race;
    unsigned line = 0; // of the PTX
    unsigned otherLine = 0; // of the access on the other side; 0: none
    uint64_t count = 0; // how often it was seen
    std::string text; // one sentence, of the first time
};

const char* nameOf(Finding::Kind kind);

/// The findings of a launch: each pair of lines once.
class Findings
{
public:
    /// True for the first time: the text is to be set then.
    Finding* add(Finding::Kind kind, unsigned line, unsigned otherLine);
    const std::vector<Finding>& all() const { return m_all; }
    void take(const Findings& others);

private:
    static constexpr size_t kMost = 100;
    std::vector<Finding> m_all;
    std::map<std::tuple<Finding::Kind, unsigned, unsigned>, size_t> m_known;
};

/// Why a launch ended before its end, as a device would report it.
enum class FaultKind : uint8_t
{
    IllegalAddress,
    MisalignedAddress,
    InvalidAddressSpace,
    InvalidProgramCounter,
    Trap,
    Timeout,
};

/// Thrown by handlers; Machine::run() makes a value of it.
class Fault : public std::runtime_error
{
public:
    Fault(FaultKind ofKind, unsigned atLine, const std::string& text)
        : std::runtime_error(text)
        , kind(ofKind)
        , line(atLine)
    {
    }

    FaultKind kind;
    unsigned line;
};

} // namespace lathe::ptx
