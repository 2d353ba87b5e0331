#include "core/templates/workload_args.h"

#include "core/support/message.h"

#include <algorithm>

namespace lathe::templates {
namespace {

/// What keeps the arithmetic of extents within 64 bits.
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 24;

using List = JsonValue::List;

Error badArgument(const Workload& workload, std::string part, std::string wanted)
{
    return makeError(Errc::InvalidArgument, say(Msg::TemplateWrong, std::move(part), std::move(wanted)))
        .note(workload.task);
}

bool hasLayouts(const Workload& workload)
{
    return workload.task.find("NCHWc") != std::string::npos;
}

/// Fixed counts of whole numbers from `least` up.
template<std::size_t Count>
bool takeFixed(const JsonValue& arg, std::int64_t least, std::array<std::int64_t, Count>& out)
{
    const List* list = arg.list();
    if (list == nullptr || list->size() != Count)
        return false;
    for (std::size_t i = 0; i < Count; ++i) {
        const std::int64_t* whole = (*list)[i].whole();
        if (whole == nullptr || *whole < least || *whole > kMaxDimension)
            return false;
        out[i] = *whole;
    }
    return true;
}

bool takePadding(const JsonValue& arg, std::array<std::int64_t, 4>& out)
{
    std::array<std::int64_t, 2> two{};
    if (!takeFixed(arg, 0, two))
        return takeFixed(arg, 0, out);
    out = {two[0], two[1], two[0], two[1]};
    return true;
}

/// [N, C/c, H, W, c] as [N, C, H, W], [O/o, I/i, KH, KW, i, o] as [O, I, KH, KW].
bool unpack(std::vector<std::int64_t>& data, std::vector<std::int64_t>& kernel)
{
    if (data.size() == 4 && kernel.size() == 4)
        return true;
    if (data.size() != 5 || kernel.size() != 6)
        return false;
    data = {data[0], data[1] * data[4], data[2], data[3]};
    kernel = {kernel[0] * kernel[5], kernel[1] * kernel[4], kernel[2], kernel[3]};
    return data[1] <= kMaxDimension && kernel[0] <= kMaxDimension && kernel[1] <= kMaxDimension;
}

std::int64_t outExtent(std::int64_t extent, std::int64_t padding, std::int64_t kernel, std::int64_t dilation,
                       std::int64_t stride)
{
    const std::int64_t room = extent + padding - ((kernel - 1) * dilation + 1);
    return room < 0 ? 0 : room / stride + 1;
}

} // namespace

std::int64_t ConvArgs::outHeight() const
{
    return outExtent(height, padding[0] + padding[2], kernelHeight, dilation[0], strides[0]);
}

std::int64_t ConvArgs::outWidth() const
{
    return outExtent(width, padding[1] + padding[3], kernelWidth, dilation[1], strides[1]);
}

Result<TensorArg> tensorArg(const JsonValue& arg, const std::string& place)
{
    const auto off = [&place] {
        return makeError(Errc::InvalidArgument,
                         say(Msg::TemplateWrong, place, "a tensor with extents from 1 to 16777216"));
    };
    const List* list = arg.list();
    if (list == nullptr || list->size() != 3 || !((*list)[0] == JsonValue{std::string("TENSOR")}))
        return off();
    const List* shape = (*list)[1].list();
    const std::string* dtype = (*list)[2].text();
    if (shape == nullptr || shape->size() > 8 || dtype == nullptr)
        return off();
    TensorArg tensor;
    tensor.dtype = *dtype;
    for (const JsonValue& item : *shape) {
        const std::int64_t* extent = item.whole();
        if (extent == nullptr || *extent < 1 || *extent > kMaxDimension)
            return off();
        tensor.shape.push_back(*extent);
    }
    return tensor;
}

JsonValue tensorJson(const TensorArg& tensor)
{
    return {List{{std::string("TENSOR")}, jsonWholes(tensor.shape), {tensor.dtype}}};
}

Result<ConvArgs> convArgs(const Workload& workload)
{
    const std::vector<JsonValue>& args = workload.args;
    const std::size_t count = hasLayouts(workload) ? 8 : 6;
    if (args.size() != count)
        return badArgument(workload, "args", "a list of " + std::to_string(count));
    LATHE_TRY_ASSIGN(TensorArg data, tensorArg(args[0], "args[0]"));
    LATHE_TRY_ASSIGN(TensorArg kernel, tensorArg(args[1], "args[1]"));
    const bool packed = data.shape.size() == 5 || kernel.shape.size() == 6;
    if (!unpack(data.shape, kernel.shape) || (packed && count == 6))
        return badArgument(workload, "args[0], args[1]", "data and kernel in four dimensions, or packed");

    ConvArgs conv;
    conv.batch = data.shape[0];
    conv.inChannels = data.shape[1];
    conv.height = data.shape[2];
    conv.width = data.shape[3];
    conv.depthwise = workload.task.starts_with("depthwise");
    conv.outChannels = conv.depthwise ? kernel.shape[0] * kernel.shape[1] : kernel.shape[0];
    conv.kernelHeight = kernel.shape[2];
    conv.kernelWidth = kernel.shape[3];
    conv.dtype = data.dtype;
    if (conv.inChannels != (conv.depthwise ? kernel.shape[0] : kernel.shape[1]) || conv.outChannels > kMaxDimension)
        return badArgument(workload, "args[1]", "a kernel for " + std::to_string(conv.inChannels) + " channels");
    if (!takeFixed(args[2], 1, conv.strides))
        return badArgument(workload, "args[2]", "two strides");
    if (!takePadding(args[3], conv.padding))
        return badArgument(workload, "args[3]", "a padding [top, left, bottom, right]");
    if (!takeFixed(args[4], 1, conv.dilation))
        return badArgument(workload, "args[4]", "two dilations");
    const JsonValue& outDtype = args.back();
    if (!outDtype.isNull() && outDtype.text() == nullptr)
        return badArgument(workload, "args[" + std::to_string(count - 1) + ']', "a dtype");
    conv.outDtype = outDtype.isNull() ? conv.dtype : *outDtype.text();
    if (count == 8 && (args[5].text() == nullptr || args[6].text() == nullptr))
        return badArgument(workload, "args[5], args[6]", "layouts");
    if (conv.outHeight() < 1 || conv.outWidth() < 1)
        return badArgument(workload, "args[0]", "as large as the kernel");
    return conv;
}

Result<DenseArgs> denseArgs(const Workload& workload)
{
    const std::vector<JsonValue>& args = workload.args;
    if (args.size() != 4)
        return badArgument(workload, "args", "a list of 4");
    LATHE_TRY_ASSIGN(const TensorArg data, tensorArg(args[0], "args[0]"));
    LATHE_TRY_ASSIGN(const TensorArg weight, tensorArg(args[1], "args[1]"));
    if (data.shape.size() != 2 || weight.shape.size() != 2 || data.shape[1] != weight.shape[1])
        return badArgument(workload, "args[0], args[1]", "data [M, K] and weight [N, K]");
    DenseArgs dense;
    dense.m = data.shape[0];
    dense.k = data.shape[1];
    dense.n = weight.shape[0];
    dense.dtype = data.dtype;
    dense.bias = !args[2].isNull();
    if (dense.bias) {
        LATHE_TRY_ASSIGN(const TensorArg bias, tensorArg(args[2], "args[2]"));
        if (bias.shape != std::vector<std::int64_t>{dense.n})
            return badArgument(workload, "args[2]", "a bias [N] or null");
    }
    if (!args[3].isNull() && args[3].text() == nullptr)
        return badArgument(workload, "args[3]", "a dtype");
    dense.outDtype = args[3].isNull() ? dense.dtype : *args[3].text();
    return dense;
}

Workload convWorkload(std::string task, const ConvArgs& args)
{
    Workload workload{std::move(task), {}};
    std::vector<std::int64_t> kernel = {args.outChannels, args.inChannels, args.kernelHeight, args.kernelWidth};
    if (args.depthwise) {
        kernel[0] = args.inChannels;
        kernel[1] = args.outChannels / args.inChannels;
    }
    workload.args = {tensorJson({{args.batch, args.inChannels, args.height, args.width}, args.dtype}),
                     tensorJson({std::move(kernel), args.dtype}), jsonWholes(args.strides), jsonWholes(args.padding),
                     jsonWholes(args.dilation)};
    if (hasLayouts(workload))
        workload.args.insert(workload.args.end(), 2, {std::string("NCHW")});
    workload.args.push_back({args.outDtype});
    return workload;
}

Workload denseWorkload(std::string task, const DenseArgs& args)
{
    return {std::move(task),
            {tensorJson({{args.m, args.k}, args.dtype}),
             tensorJson({{args.n, args.k}, args.dtype}),
             args.bias ? tensorJson({{args.n}, args.dtype}) : JsonValue{},
             {args.outDtype}}};
}

Workload unpacked(const Workload& workload)
{
    if (const auto conv = convArgs(workload))
        return convWorkload(workload.task, *conv);
    if (auto dense = denseArgs(workload)) {
        dense->bias = false; // an operator of its own behind the product
        return denseWorkload(workload.task, *dense);
    }
    return workload;
}

} // namespace lathe::templates
