#include "core/backend/network_message.h"

#include "core/support/mapped_file.h"
#include "core/support/open_file.h"
#include "core/wire/messages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

namespace lathe::backend {

namespace {

constexpr std::uint64_t kAlignment = 64;

/// Written from its beginning on; each piece is aligned.
class ConstantsFile
{
public:
    static Result<ConstantsFile> create(const std::filesystem::path& path)
    {
        ConstantsFile file;
        file.m_path = path.string();
        file.m_file = OpenFile(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (file.m_file.get() < 0)
            return file.failed(errno);
        return file;
    }

    /// Where the bytes begin.
    Result<std::uint64_t> append(std::span<const std::byte> bytes)
    {
        const std::uint64_t begin = (m_end + kAlignment - 1) / kAlignment * kAlignment;
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t n = ::pwrite(m_file.get(), bytes.data() + done, bytes.size() - done,
                                       static_cast<off_t>(begin + done));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return failed(errno);
            done += static_cast<std::size_t>(n);
        }
        m_end = begin + bytes.size();
        return begin;
    }

private:
    Error failed(int code) const
    {
        return makeError(Errc::StoreFailed,
                         fmt::format("cannot write the network's constants to {}: {}", m_path, std::strerror(code)));
    }

    OpenFile m_file{-1};
    std::string m_path;
    std::uint64_t m_end = 0;
};

void setAttribute(const graph::Attr& value, wire::NetworkAttribute& out)
{
    struct
    {
        wire::NetworkAttribute& out;
        void operator()(std::int64_t v) const { out.set_whole(v); }
        void operator()(double v) const { out.set_real(v); }
        void operator()(const std::string& v) const { out.set_text(v); }
        void operator()(const std::vector<std::int64_t>& v) const
        {
            out.mutable_wholes()->mutable_values()->Assign(v.begin(), v.end());
        }
        void operator()(const std::vector<double>& v) const
        {
            out.mutable_reals()->mutable_values()->Assign(v.begin(), v.end());
        }
        void operator()(const std::vector<std::string>& v) const
        {
            out.mutable_texts();
            for (const std::string& text : v)
                out.mutable_texts()->add_values(text);
        }
    } set{out};
    std::visit(set, value);
}

Result<graph::Attr> attributeOf(const wire::NetworkAttribute& in)
{
    switch (in.value_case()) {
    case wire::NetworkAttribute::kWhole: return graph::Attr(std::int64_t{in.whole()});
    case wire::NetworkAttribute::kReal: return graph::Attr(in.real());
    case wire::NetworkAttribute::kText: return graph::Attr(std::string(in.text()));
    case wire::NetworkAttribute::kWholes:
        return graph::Attr(std::vector<std::int64_t>(in.wholes().values().begin(), in.wholes().values().end()));
    case wire::NetworkAttribute::kReals:
        return graph::Attr(std::vector<double>(in.reals().values().begin(), in.reals().values().end()));
    case wire::NetworkAttribute::kTexts:
        return graph::Attr(std::vector<std::string>(in.texts().values().begin(), in.texts().values().end()));
    default: return makeError(Errc::BadFile, fmt::format("a network's attribute '{}' has no value", in.name()));
    }
}

using Written = std::map<const graph::ConstData*, std::uint64_t>; // where contents are: values share constants

/// A network or a body of one.
Result<> writeGraph(const graph::Graph& network, ConstantsFile& file, Written& written, wire::Network& message)
{
    message.set_name(network.name);
    std::vector<bool> isRead(network.values.size(), false); // what passes left behind is not looked at
    for (const graph::Node& node : network.nodes)
        for (const graph::ValueId id : node.inputs)
            if (id.valid())
                isRead[static_cast<std::size_t>(id.value)] = true;
    for (const graph::ValueId id : network.results())
        isRead[static_cast<std::size_t>(id.value)] = true;
    for (const graph::Value& value : network.values) {
        auto& out = *message.add_values();
        out.set_name(value.name);
        out.set_dtype(static_cast<std::uint32_t>(value.dtype));
        out.mutable_shape()->Assign(value.shape.begin(), value.shape.end());
        out.set_producer(value.producer.value);
        if (!value.constant || !isRead[static_cast<std::size_t>(message.values_size() - 1)])
            continue;
        auto place = written.find(value.constant.get());
        if (place == written.end()) {
            LATHE_TRY_ASSIGN(const graph::ConstBytes contents, graph::contentsOf(*value.constant));
            LATHE_TRY_ASSIGN(const std::uint64_t begin, file.append(contents.bytes));
            LATHE_TRY(graph::stillThere(*value.constant));
            place = written.emplace(value.constant.get(), begin).first;
        }
        out.set_constant(true);
        out.set_offset(place->second);
        out.set_size(value.constant->bytes);
    }
    for (const graph::Node& node : network.nodes) {
        auto& out = *message.add_nodes();
        out.set_name(node.name);
        out.set_op(node.op);
        out.set_origin(node.origin);
        for (const auto& [name, value] : node.attrs) {
            auto& attribute = *out.add_attributes();
            attribute.set_name(name);
            setAttribute(value, attribute);
        }
        for (const graph::ValueId id : node.inputs)
            out.add_inputs(id.value);
        for (const graph::ValueId id : node.outputs)
            out.add_outputs(id.value);
        for (const auto& body : node.bodies)
            LATHE_TRY(writeGraph(*body, file, written, *out.add_bodies()));
    }
    for (const graph::ValueId id : network.inputs)
        message.add_inputs(id.value);
    for (const graph::ValueId id : network.outputs)
        message.add_outputs(id.value);
    for (const std::string& name : network.outputNames)
        message.add_output_names(name);
    for (const graph::OutputExtent& extent : network.outputExtents) {
        auto& out = *message.add_extents();
        out.set_output(extent.output);
        out.set_axis(extent.axis);
        out.set_count(extent.count.value);
    }
    return {};
}

/// Of a message that was parsed: it is not deeper than the parser allows.
Result<graph::Graph> readGraph(const wire::Network& message, const std::shared_ptr<const MappedFile>& file)
{
    graph::Graph network;
    network.name = message.name();
    for (const auto& in : message.values()) {
        graph::Value value;
        value.name = in.name();
        if (in.dtype() > static_cast<std::uint32_t>(DType::F64))
            return makeError(Errc::BadFile,
                             fmt::format("value '{}' of a network has no type that is known", value.name));
        value.dtype = static_cast<DType>(in.dtype());
        value.shape.assign(in.shape().begin(), in.shape().end());
        value.producer = graph::NodeId{in.producer()};
        if (in.constant()) {
            const auto bytes = file->bytes();
            if (in.offset() > bytes.size() || in.size() > bytes.size() - in.offset())
                return makeError(Errc::BadFile,
                                 fmt::format("constant '{}' of a network is not in its file", value.name));
            graph::ConstData data;
            data.data = bytes.data() + in.offset();
            data.bytes = in.size();
            data.owner = file;
            data.mapped = true;
            value.constant = std::make_shared<const graph::ConstData>(std::move(data));
        }
        network.values.push_back(std::move(value));
    }
    for (const auto& in : message.nodes()) {
        graph::Node node;
        node.name = in.name();
        node.op = in.op();
        node.origin = in.origin();
        for (const auto& attribute : in.attributes()) {
            LATHE_TRY_ASSIGN(graph::Attr value, attributeOf(attribute));
            node.attrs.emplace(attribute.name(), std::move(value));
        }
        for (const std::int32_t id : in.inputs())
            node.inputs.push_back(graph::ValueId{id});
        for (const std::int32_t id : in.outputs())
            node.outputs.push_back(graph::ValueId{id});
        for (const auto& body : in.bodies()) {
            LATHE_TRY_ASSIGN(graph::Graph inside, readGraph(body, file));
            node.bodies.push_back(std::make_shared<const graph::Graph>(std::move(inside)));
        }
        network.nodes.push_back(std::move(node));
    }
    for (const std::int32_t id : message.inputs())
        network.inputs.push_back(graph::ValueId{id});
    for (const std::int32_t id : message.outputs())
        network.outputs.push_back(graph::ValueId{id});
    network.outputNames.assign(message.output_names().begin(), message.output_names().end());
    for (const auto& in : message.extents())
        network.outputExtents.push_back({in.output(), in.axis(), graph::ValueId{in.count()}});
    return network;
}

} // namespace

Result<> writeNetwork(const graph::Graph& network, const std::filesystem::path& constants, wire::Network& message)
{
    LATHE_TRY_ASSIGN(ConstantsFile file, ConstantsFile::create(constants));
    message.set_constants_file(std::filesystem::absolute(constants).string());
    Written written;
    return writeGraph(network, file, written, message);
}

Result<graph::Graph> readNetwork(const wire::Network& message)
{
    LATHE_TRY_ASSIGN(const MappedFile mapped, MappedFile::open(message.constants_file()));
    LATHE_TRY_ASSIGN(graph::Graph network, readGraph(message, std::make_shared<const MappedFile>(mapped)));
    LATHE_TRY(graph::verify(network));
    return network;
}

} // namespace lathe::backend
