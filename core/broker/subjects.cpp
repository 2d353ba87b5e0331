#include "core/broker/subjects.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::broker {

namespace {

constexpr std::size_t kMostLetters = 64;

bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

} // namespace

bool isWord(std::string_view text)
{
    return !text.empty() && text.size() <= kMostLetters && std::ranges::all_of(text, isLetter);
}

std::string asWord(std::string_view text)
{
    std::string word(text.substr(0, kMostLetters));
    for (char& c : word)
        if (!isLetter(c))
            c = '-';
    return word.empty() ? "-" : word;
}

std::string hereSubject(std::string_view key, std::string_view device)
{
    return fmt::format("lathe.here.{}.{}", key, device);
}

std::string claimSubject(std::string_view key, std::string_view user)
{
    return fmt::format("lathe.claim.{}.{}", key, user);
}

std::string offerSubject(std::string_view user)
{
    return fmt::format("lathe.offer.{}", user);
}

std::string orderSubject(std::string_view key, std::string_view device, std::string_view user)
{
    return fmt::format("lathe.order.{}.{}.{}", key, device, user);
}

std::string toDeviceSubject(std::string_view device, std::string_view user, const Hash128& session)
{
    return fmt::format("lathe.to.{}.{}.{}", device, user, session.hex());
}

std::string fromDeviceSubject(std::string_view device, std::string_view user, const Hash128& session)
{
    return fmt::format("lathe.from.{}.{}.{}", device, user, session.hex());
}

} // namespace lathe::broker
