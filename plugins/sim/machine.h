#pragma once

#include "plugins/sim/values.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::sim {

/// Where the arrays of a checked program are.
struct ProgramView
{
    const Buffer* buffers; ///< of the kernel
    const Node* nodes;
    const std::int32_t* children;
    const Launch* launches; ///< of the kernel
    const char* texts;
};

/// Computes expressions over one frame of variables. What goes wrong is noted once; after that results mean nothing.
class Machine
{
public:
    explicit Machine(const ProgramView& program)
        : m_program(program)
    {
    }
    virtual ~Machine() = default;
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    const std::string& problem() const { return m_problem; }

protected:
    /// The element of a buffer that a Load or a Store names by its first `indices` children; null if there is none, or
    /// it may not be touched now, which is the problem then.
    virtual char* element(const Node& node, std::uint32_t indices) = 0;

    bool ok() const { return m_problem.empty(); }
    Value evaluate(std::int32_t index);
    /// Elements from the buffer's begin; -1 outside of it, which is the problem then.
    std::int64_t offset(const Node& node, std::uint32_t indices);
    /// Evaluates and stores the value of a Store whose element is `at`.
    static void store(char* at, DType dtype, Value value, DType from);

    ProgramView m_program;
    std::int64_t* m_frame = nullptr; ///< variables, by slot
    std::string m_problem;

private:
    Value call(const Node& node);
};

/// Runs phases, one statement after the other, as a single part.
class PhaseMachine final : public Machine
{
public:
    PhaseMachine(const Kernel& kernel, const ProgramView& program, void* const* parameters);
    void execute(std::int32_t index);

private:
    char* element(const Node& node, std::uint32_t indices) override;

    std::vector<std::int64_t> m_variables;
    std::vector<char*> m_data; ///< by buffer
    std::vector<std::vector<char>> m_scratch;
};

} // namespace lathe::sim
