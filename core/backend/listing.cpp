#include "core/backend/listing.h"

#include "core/support/message.h"

#include <nlohmann/json.hpp>

namespace lathe::backend {

namespace {

using nlohmann::json;

/// A number of lines from a text of another process.
std::int32_t lineOf(const json& value)
{
    return value.get<std::int32_t>();
}

} // namespace

std::string encode(const Listing& listing)
{
    json marks = json::array();
    for (const MarkedLines& m : listing.marks)
        marks.push_back({static_cast<int>(m.mark), m.first, m.last});
    const json out = {{"name", listing.name},
                      {"language", listing.language},
                      {"text", listing.text},
                      {"program", listing.program},
                      {"statements", listing.statements},
                      {"marks", std::move(marks)},
                      {"vector_registers", {listing.vectorRegisters, listing.vectorRegistersOf}},
                      {"general_registers", {listing.generalRegisters, listing.generalRegistersOf}}};
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Listing> decodeListing(std::string_view text)
{
    Listing listing;
    try { // the library's way to say that a text is of another form
        const json in = json::parse(text);
        listing.name = in.at("name");
        listing.language = in.at("language");
        listing.text = in.at("text");
        listing.program = in.at("program");
        listing.statements = in.at("statements").get<std::vector<std::int32_t>>();
        for (const json& mark : in.at("marks")) {
            const int kind = mark.at(0).get<int>();
            if (kind < 0 || kind > static_cast<int>(LineMark::Reload))
                return makeError(Errc::BadFile, say(Msg::ListingOfOtherForm));
            listing.marks.push_back({static_cast<LineMark>(kind), lineOf(mark.at(1)), lineOf(mark.at(2))});
        }
        listing.vectorRegisters = lineOf(in.at("vector_registers").at(0));
        listing.vectorRegistersOf = lineOf(in.at("vector_registers").at(1));
        listing.generalRegisters = lineOf(in.at("general_registers").at(0));
        listing.generalRegistersOf = lineOf(in.at("general_registers").at(1));
    } catch (const json::exception&) {
        return makeError(Errc::BadFile, say(Msg::ListingOfOtherForm));
    }
    return listing;
}

} // namespace lathe::backend
