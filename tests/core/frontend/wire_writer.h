#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

/// Writes ONNX files field by field, so that tests can say what no library would write.
namespace wire {

inline std::string varint(std::uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
        bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
    return bytes;
}

inline std::string number(std::uint32_t field, std::int64_t value)
{
    return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}

inline std::string bytes(std::uint32_t field, const std::string& value)
{
    return varint(field << 3 | 2) + varint(value.size()) + value;
}

// Field numbers are those of the published schema.
enum DataType
{
    Float = 1,
    Uint8 = 2,
    Int8 = 3,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Double = 11,
    Uint32 = 12,
    Uint64 = 13,
    Float8E4M3FN = 17,
    Int4 = 22
};

inline std::string tensor(const std::string& name, DataType type, const std::vector<std::int64_t>& dims,
                          const std::string& raw)
{
    std::string text;
    for (const std::int64_t dim : dims)
        text += number(1, dim);
    return text + number(2, type) + bytes(8, name) + bytes(9, raw);
}

inline std::string floats(const std::vector<float>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

inline std::string ints(const std::vector<std::int64_t>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)};
}

inline std::string external(const std::string& name, const std::vector<std::int64_t>& dims,
                            const std::vector<std::pair<std::string, std::string>>& entries, DataType type = Float)
{
    std::string text;
    for (const std::int64_t dim : dims)
        text += number(1, dim);
    text += number(2, type) + bytes(8, name);
    for (const auto& [key, value] : entries)
        text += bytes(13, bytes(1, key) + bytes(2, value));
    return text + number(14, 1);
}

/// A dimension above 0 is fixed; the texts are symbols.
struct Dim
{
    Dim(std::int64_t v)
        : value(v)
    {
    } // NOLINT(google-explicit-constructor): lists of dimensions read well
    Dim(const char* s)
        : symbol(s)
    {
    } // NOLINT(google-explicit-constructor)
    std::int64_t value = 0;
    std::string symbol;
};

inline std::string info(const std::string& name, const std::vector<Dim>& dims, DataType type = Float)
{
    std::string shape;
    for (const Dim& dim : dims)
        shape += bytes(1, dim.symbol.empty() ? number(1, dim.value) : bytes(2, dim.symbol));
    return bytes(1, name) + bytes(2, bytes(1, number(1, type) + bytes(2, shape)));
}

/// An attribute without the number of its field: nodes have it in 5, functions in 11.
inline std::string intBody(const std::string& name, std::int64_t value)
{
    return bytes(1, name) + number(3, value) + number(20, 2);
}

inline std::string intAttribute(const std::string& name, std::int64_t value)
{
    return bytes(5, intBody(name, value));
}

inline std::string textAttribute(const std::string& name, const std::string& value)
{
    return bytes(5, bytes(1, name) + bytes(4, value) + number(20, 3));
}

inline std::string intsAttribute(const std::string& name, const std::vector<std::int64_t>& values)
{
    std::string text = bytes(1, name);
    for (const std::int64_t value : values)
        text += number(8, value);
    return bytes(5, text + number(20, 7));
}

inline std::string node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& name = {},
                        const std::string& attributes = {}, const std::string& domain = {})
{
    std::string text;
    for (const std::string& input : inputs)
        text += bytes(1, input);
    for (const std::string& output : outputs)
        text += bytes(2, output);
    if (!name.empty())
        text += bytes(3, name);
    text += bytes(4, op) + attributes;
    return domain.empty() ? text : text + bytes(7, domain);
}

/// An attribute of a function's node that the call gives.
inline std::string reference(const std::string& name, const std::string& ofFunction, std::int64_t type)
{
    return bytes(5, bytes(1, name) + number(20, type) + bytes(21, ofFunction));
}

struct Function
{
    std::string domain, name;
    std::vector<std::string> inputs, outputs, nodes;
    std::int64_t opset = 17;
    std::vector<std::string> attributes; ///< names of those without a default
    std::vector<std::string> defaults; ///< bodies of attributes
    std::string overload;

    std::string write() const
    {
        std::string text = bytes(1, name);
        for (const auto& [field, list] :
             {std::pair{4, &inputs}, std::pair{5, &outputs}, std::pair{6, &attributes}, std::pair{7, &nodes}}) {
            for (const std::string& entry : *list)
                text += bytes(static_cast<std::uint32_t>(field), entry);
        }
        text += bytes(9, number(2, opset)) + bytes(10, domain);
        for (const std::string& body : defaults)
            text += bytes(11, body);
        return overload.empty() ? text : text + bytes(13, overload);
    }
};

struct Model
{
    std::vector<std::string> nodes, initializers, inputs, outputs;
    std::int64_t opset = 17;
    std::vector<Function> functions = {};

    std::string write() const
    {
        std::string graph = bytes(2, "net");
        for (const auto& [field, list] :
             {std::pair{1, &nodes}, std::pair{5, &initializers}, std::pair{11, &inputs}, std::pair{12, &outputs}}) {
            for (const std::string& entry : *list)
                graph += bytes(static_cast<std::uint32_t>(field), entry);
        }
        std::string text = number(1, 8) + bytes(8, number(2, opset)) + bytes(7, graph);
        for (const Function& function : functions)
            text += bytes(25, function.write());
        return text;
    }
};

} // namespace wire
