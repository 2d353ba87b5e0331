#pragma once

#include "core/support/random.h"
#include "tests/core/frontend/wire_writer.h"
#include "tests/net/random_network.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lathe::net {

/// A tensor of a network under construction.
struct NetworkValue
{
    std::string name;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    /// Steps of arithmetic that still keep its numbers exact: multiples of a power of two that few digits hold.
    int exactSteps = 0;
    bool used = false;
    bool open =
        false; ///< the first extent depends on data: it is what it can be at most; a result of the network alone
};

/// Draws a network: a few inputs, then step by step an operator on what there is. A step that finds nothing that it
/// could work on adds nothing.
class NetworkMaker
{
public:
    NetworkMaker(std::uint64_t seed, std::string prefix)
        : m_random(seed)
        , m_prefix(std::move(prefix))
    {
        m_network.seed = seed;
    }

    /// One network in `kWithControl` has branches, loops and scans.
    RandomNetwork make();

private:
    using Shape = std::vector<std::int64_t>;
    static constexpr std::int64_t kMostElements = 400;
    static constexpr std::uint64_t kWithControl = 5;
    static std::int64_t countOf(const Shape& shape);

    std::uint64_t below(std::uint64_t n) { return m_random.below(n); }
    template<typename T>
    const T& oneOf(const std::vector<T>& all)
    {
        return all[below(all.size())];
    }
    std::string fresh();

    DType pickType();
    std::int64_t pickExtent();
    Shape pickShape();
    graph::HostTensor drawn(DType dtype, const Shape& shape, bool exact);
    void addInput(DType dtype);
    static int stepsOf(DType dtype, bool exact);
    std::size_t addConstant(const graph::HostTensor& tensor, bool exact);
    std::size_t constant(DType dtype, const Shape& shape, bool exact = false);
    std::string ints(const Shape& numbers);
    std::string scalarInt(std::int64_t number);
    void emit(const std::string& op, const std::vector<std::size_t>& operands, DType dtype, const Shape& shape,
              int exactSteps, const std::string& attributes = {}, const std::vector<std::string>& more = {});
    std::optional<std::size_t> pick(const std::function<bool(const NetworkValue&)>& fits);

    // Steps: random_steps_numbers.cpp, random_steps_shapes.cpp.
    void tryStep();
    void tryControl();
    void unary();
    void jump();
    /// A second operand that broadcasts with the first, or into it.
    std::size_t partner(std::size_t x, bool exact);
    void binary();
    void compare();
    void choose();
    void reduce();
    void softmax();
    void product();
    void convert();
    void rank();
    void runningSum();
    void move();
    void join();
    void part();
    void gather();
    void pad();
    std::optional<std::size_t> image();
    /// An image of what there is, by a reshape, so that convolutions are not rare.
    std::optional<std::size_t> madeImage();
    void convolve();
    void pool();
    void normalize();

    // Control flow: random_steps_control.cpp.
    void branch();
    void loop();
    void scan();
    std::size_t scalarInput(DType dtype, std::int64_t number);
    /// A bool: a constant, an input, or computed from numbers that are exact.
    std::size_t condition();
    /// What is put aside while a body is made: the nodes around it, and how many values there are.
    struct Around
    {
        std::vector<std::string> nodes;
        std::size_t values = 0;
    };
    Around beginBody();
    /// The body as a graph. Its values are gone afterwards.
    std::string endBody(Around around, const std::vector<std::size_t>& inputs, const std::vector<std::size_t>& outputs);
    std::size_t bodyInput(DType dtype, const Shape& shape);
    void bodySteps(std::uint64_t count);
    /// The latest of the values behind `from` that nodes of the body made, else a new one.
    std::size_t bodyResult(std::size_t from);
    std::size_t bodyResult(std::size_t from, DType dtype, const Shape& shape);
    static bool isMade(const NetworkValue& value) { return value.name.find("_v") != std::string::npos; }
    void emitControl(const std::string& op, const std::vector<std::string>& operands,
                     const std::vector<NetworkValue>& results, const std::string& attributes);

    Random m_random;
    std::string m_prefix;
    RandomNetwork m_network;
    std::vector<NetworkValue> m_values;
    int m_count = 0;
    int m_depth = 0; ///< bodies around what is being made
};

/// As files name it.
wire::DataType wireType(DType dtype);

} // namespace lathe::net
