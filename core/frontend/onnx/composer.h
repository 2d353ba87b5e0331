#pragma once

#include "core/frontend/onnx/importer.h"

#include <initializer_list>
#include <optional>

namespace lathe::frontend::onnx_detail {

/// Writes an operator out in those that Lathe has. After the first error every call does nothing, and finish() gives
/// that error; so a converter reads like the formula.
class Composer
{
public:
    explicit Composer(Builder& builder)
        : m_builder(builder)
    {
    }

    ValueId op(std::string_view name, std::initializer_list<ValueId> inputs, Attrs attrs = {});
    ValueId op(std::string_view name, const std::vector<ValueId>& inputs, Attrs attrs = {});

    ValueId number(DType dtype, double value) { return m_builder.scalar(dtype, value); }
    ValueId ints(const Ints& values) { return m_builder.ints(values); } ///< I64 vector
    /// 0, 1, 2 ... or ... 2, 1, 0: I64 vector, one for all that count as far. A file may say any `count`: it is
    /// charged.
    ValueId range(std::int64_t count, bool backward = false);
    ValueId like(ValueId x, double value) { return m_builder.scalar(dtype(x), value); } ///< of x's type
    ValueId add(ValueId a, ValueId b) { return op("add", {a, b}); }
    ValueId sub(ValueId a, ValueId b) { return op("subtract", {a, b}); }
    ValueId mul(ValueId a, ValueId b) { return op("multiply", {a, b}); }
    ValueId div(ValueId a, ValueId b) { return op("divide", {a, b}); }
    ValueId where(ValueId condition, ValueId yes, ValueId no) { return op("where", {condition, yes, no}); }
    ValueId cast(ValueId x, DType dtype);
    ValueId reshape(ValueId x, Ints shape);
    ValueId broadcast(ValueId x, Ints shape); ///< no node if it has the shape
    ValueId transpose(ValueId x, Ints axes);
    ValueId slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1);
    ValueId concat(const std::vector<ValueId>& parts, std::int64_t axis);
    ValueId take(ValueId x, const Ints& positions, std::int64_t axis); ///< known positions
    ValueId reduce(std::string_view name, ValueId x, Ints axes, bool keepDims = true);
    ValueId softmax(ValueId x, std::int64_t axis) { return op("softmax", {x}, {{"axis", axis}}); }
    ValueId matmul(ValueId a, ValueId b) { return op("matmul", {a, b}); }
    /// before and after for each dimension in turn.
    ValueId pad(ValueId x, Ints widths, double value = 0);

    /// Ones while there is an error, so that arithmetic on shapes needs no checks of its own.
    const Ints& shape(ValueId x) const;
    std::int64_t rank(ValueId x) const { return static_cast<std::int64_t>(shape(x).size()); }
    std::int64_t extent(ValueId x, std::int64_t axis) const; ///< of a negative axis too
    bool isZero(ValueId x) const; ///< known to be 0 everywhere
    DType dtype(ValueId x) const { return x.valid() ? m_builder.dtype(x) : DType::F32; }

    ValueId fail(Error error); ///< keeps the first
    ValueId unsupported(std::string what) { return fail(makeError(Errc::Unsupported, std::move(what))); }
    ValueId unsupported(Message what) { return fail(makeError(Errc::Unsupported, std::move(what))); }
    ValueId bad(std::string what) { return fail(makeError(Errc::BadFile, std::move(what))); }
    ValueId bad(Message what) { return fail(makeError(Errc::BadFile, std::move(what))); }
    bool failed() const { return m_error.has_value(); }
    Result<std::vector<ValueId>> finish(std::vector<ValueId> outputs) const;

private:
    ValueId keep(Result<ValueId> result);

    Builder& m_builder;
    std::optional<Error> m_error;
};

} // namespace lathe::frontend::onnx_detail
