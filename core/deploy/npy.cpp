#include "core/deploy/npy.h"

#include "core/support/element_count.h"
#include "core/support/files.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

namespace lathe::deploy {

namespace {

struct Descr
{
    DType dtype;
    const char* text;
};

constexpr std::size_t kMostDimensions = 64; ///< as in NumPy

constexpr Descr kTypes[] = {{DType::Bool, "|b1"}, {DType::I8, "|i1"},  {DType::U8, "|u1"},  {DType::I16, "<i2"},
                            {DType::U16, "<u2"},  {DType::I32, "<i4"}, {DType::U32, "<u4"}, {DType::I64, "<i8"},
                            {DType::U64, "<u8"},  {DType::F16, "<f2"}, {DType::F32, "<f4"}, {DType::F64, "<f8"},
                            {DType::BF16, "<V2"}, {DType::BF16, "|V2"}};

/// The text after 'key': in the header's dictionary.
std::string_view headerValue(std::string_view header, std::string_view key)
{
    const std::size_t at = header.find(fmt::format("'{}':", key));
    if (at == std::string_view::npos)
        return {};
    std::string_view rest = header.substr(at + key.size() + 3);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest;
}

/// The first word of a header's value, for a sentence: '<c16'.
std::string plainWord(std::string_view text)
{
    constexpr std::size_t kMost = 20;
    std::string word;
    for (const char c : text.substr(0, std::min(text.find(','), kMost)))
        word += c >= ' ' && c <= '~' ? c : '?';
    return word;
}

std::string tensorText(const graph::TensorType& type)
{
    return fmt::format("{} [{}]", toString(type.dtype), fmt::join(type.shape, ", "));
}

} // namespace

DType npyTypeOf(DType dtype)
{
    return dtype == DType::BF16 ? DType::U16 : dtype;
}

Result<graph::HostTensor> readNpy(const std::filesystem::path& file, const PortInfo& port)
{
    LATHE_TRY_ASSIGN(graph::HostTensor tensor, readNpy(file));
    const graph::TensorType given = tensor.type;
    if (given.dtype == npyTypeOf(port.type.dtype))
        tensor.type.dtype = port.type.dtype;
    bool fits = tensor.type.dtype == port.type.dtype && tensor.type.shape.size() == port.type.shape.size();
    for (std::size_t d = 0; fits && d < tensor.type.shape.size(); ++d) {
        const bool isDynamic = std::ranges::find(port.dynamicAxes, static_cast<std::int32_t>(d))
                               != port.dynamicAxes.end();
        fits = isDynamic ? tensor.type.shape[d] <= port.type.shape[d] : tensor.type.shape[d] == port.type.shape[d];
    }
    if (!fits)
        return makeError(Errc::InvalidArgument,
                         say(Msg::NpyOfOtherType, file.string(), tensorText(given), port.name, tensorText(port.type)));
    return tensor;
}

Result<graph::HostTensor> readNpy(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::string bytes, readFile(file));
    return parseNpy(bytes, file.string());
}

Result<graph::HostTensor> parseNpy(std::string_view bytes, std::string_view name)
{
    const auto bad = [name](Message why) {
        return makeError(Errc::BadFile, say(Msg::NpyUnreadable, name, std::move(why)));
    };
    if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0)
        return bad(say(Msg::NpyBeginning));
    const int major = bytes[6];
    std::size_t headerBytes = 0;
    std::size_t start = 0;
    if (major == 1) {
        std::uint16_t n = 0;
        std::memcpy(&n, &bytes[8], 2);
        headerBytes = n;
        start = 10;
    } else if (major == 2 || major == 3) {
        std::uint32_t n = 0;
        std::memcpy(&n, &bytes[8], 4);
        headerBytes = n;
        start = 12;
    } else {
        return bad(say(Msg::NpyVersion));
    }
    if (start + headerBytes > bytes.size())
        return bad(say(Msg::NpyCut));
    const std::string_view header(bytes.data() + start, headerBytes);
    if (!headerValue(header, "fortran_order").starts_with("False"))
        return makeError(Errc::Unsupported, say(Msg::NpyOrder, name));
    const std::string_view descr = headerValue(header, "descr");
    graph::TensorType type;
    bool known = false;
    for (const Descr& d : kTypes) {
        if (descr.size() > 4 && descr.substr(1, 3) == d.text) {
            type.dtype = d.dtype;
            known = true;
        }
    }
    if (!known)
        return makeError(Errc::Unsupported, say(Msg::NpyType, name, plainWord(descr)));
    std::string_view shape = headerValue(header, "shape");
    if (!shape.starts_with('('))
        return bad(say(Msg::NpyNoShape));
    for (std::size_t at = 1; at < shape.size() && shape[at] != ')';) {
        if (shape[at] == ',' || shape[at] == ' ') {
            ++at;
            continue;
        }
        std::int64_t dim = 0;
        const auto [end, error] = std::from_chars(shape.data() + at, shape.data() + shape.size(), dim);
        if (error != std::errc())
            return bad(say(Msg::NpyShape));
        if (type.shape.size() == kMostDimensions)
            return bad(say(Msg::NpyRank));
        type.shape.push_back(dim);
        at = static_cast<std::size_t>(end - shape.data());
    }
    const auto count = checkedElementCount(type.shape);
    if (!count)
        return bad(say(Msg::NpyShape));
    if (static_cast<std::uint64_t>(*count * sizeOf(type.dtype)) != bytes.size() - start - headerBytes)
        return bad(say(Msg::NpySize));
    graph::HostTensor tensor = graph::HostTensor::zeros(type);
    std::ranges::copy(std::as_bytes(std::span(bytes)).subspan(start + headerBytes),
                      tensor.bytes.begin()); // of either, none may be there
    return tensor;
}

Result<> writeNpy(const std::filesystem::path& file, const graph::HostTensor& tensor)
{
    LATHE_TRY_ASSIGN(const std::string bytes, formatNpy(tensor));
    return writeFileAtomically(file, std::string_view(bytes));
}

std::string npyHeader(const graph::TensorType& type)
{
    std::string_view descr;
    for (const Descr& d : kTypes)
        if (d.dtype == npyTypeOf(type.dtype))
            descr = d.text;
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                     fmt::join(type.shape, ", "), type.shape.size() == 1 ? "," : "");
    header.append(63 - (header.size() + 10) % 64, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    const auto size = static_cast<std::uint16_t>(header.size());
    bytes.append(reinterpret_cast<const char*>(&size), 2);
    return bytes + header;
}

Result<std::string> formatNpy(const graph::HostTensor& tensor)
{
    std::string bytes = npyHeader(tensor.type);
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    return bytes;
}

std::vector<std::string> npyFileNames(const std::vector<deploy::PortInfo>& ports)
{
    std::vector<std::string> names;
    for (const deploy::PortInfo& port : ports) {
        std::string stem = port.name.empty() ? std::string("tensor") : port.name;
        for (char& c : stem)
            if (c == '/' || c == '\0')
                c = '_';
        std::string name = stem + ".npy";
        for (int i = 2; std::find(names.begin(), names.end(), name) != names.end(); ++i)
            name = fmt::format("{}-{}.npy", stem, i);
        names.push_back(std::move(name));
    }
    return names;
}

Result<std::vector<std::optional<graph::HostTensor>>> readInputs(const std::vector<PortInfo>& ports,
                                                                 const std::vector<std::string>& words)
{
    std::vector<std::optional<graph::HostTensor>> tensors(ports.size());
    for (const std::string& word : words) {
        // A name may hold '=' itself: the longest that is one counts.
        std::size_t found = ports.size();
        for (std::size_t i = 0; i < ports.size(); ++i)
            if (word.starts_with(ports[i].name + "=")
                && (found == ports.size() || ports[i].name.size() > ports[found].name.size()))
                found = i;
        if (found == ports.size()) {
            const std::size_t equals = word.find('=');
            if (equals == std::string::npos || equals == 0)
                return makeError(Errc::InvalidArgument, say(Msg::InputForm, word));
            std::vector<std::string> names;
            for (const PortInfo& port : ports)
                names.push_back(port.name);
            return makeError(Errc::InvalidArgument, say(Msg::InputUnknown, word.substr(0, equals), std::move(names)));
        }
        if (tensors[found])
            return makeError(Errc::InvalidArgument, say(Msg::InputTwice, ports[found].name));
        LATHE_TRY_ASSIGN(tensors[found], readNpy(word.substr(ports[found].name.size() + 1), ports[found]));
    }
    return tensors;
}

} // namespace lathe::deploy
