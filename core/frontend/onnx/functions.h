#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
} // namespace onnx

namespace lathe::frontend::onnx_detail {

/// "" for the standard's own domain, which files also call "ai.onnx".
std::string domainOf(const ::onnx::NodeProto& node);

/// The functions that a model brings along. A function is known by domain, name and overload; two domains may have
/// functions of one name. Importing writes a copy of the body in the place of each call.
class FunctionTable
{
public:
    /// `fileBytes`: of the model; bounds what all copies may come to. Errors: BadFile if two functions are the same or
    /// one is not well formed.
    static Result<FunctionTable> create(::onnx::ModelProto& model, std::int64_t fileBytes);

    /// Null if the node calls none.
    const ::onnx::FunctionProto* find(const ::onnx::NodeProto& call) const;

    /// One call under way. Functions that it calls in turn are called inside of it.
    struct Call
    {
        std::unique_ptr<::onnx::FunctionProto> body; ///< a copy for this call
        std::int64_t opset = 0; ///< of the standard's operators in it
    };

    /// Begins the call: in the copy of the body, references to the function's attributes are replaced by what the call
    /// gives or by their defaults, and are gone where there is neither; names of inputs that the call leaves out are
    /// empty. `label`: of the call, for messages; it also counts, once for each node, into what copies may come to.
    /// Errors: BadFile for recursion, deep nesting, more inputs or outputs than the function has, an attribute of
    /// another type, or copies that come to too much.
    Result<Call> enter(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& call, const std::string& label,
                       std::int64_t modelOpset);
    void leave();

private:
    using Key = std::tuple<std::string, std::string, std::string>; ///< domain, name, overload

    std::map<Key, std::shared_ptr<const ::onnx::FunctionProto>> m_functions;
    std::vector<const ::onnx::FunctionProto*> m_active;
    std::int64_t m_left = 0; ///< bytes that copies may still come to
};

} // namespace lathe::frontend::onnx_detail
