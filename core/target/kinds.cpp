#include "core/target/kinds.h"

#include "core/target/reference_kinds.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>

namespace lathe {
namespace {

/// Never destroyed: what plugins added may be asked for while the program ends.
struct KindTable
{
    std::mutex mutex;
    std::vector<TargetKindPtr> kinds;

    KindTable()
    {
        for (TargetKind& kind : referenceKinds())
            kinds.push_back(std::make_shared<const TargetKind>(std::move(kind)));
    }
};

KindTable& table()
{
    static KindTable& kinds = *new KindTable; // NOLINT(cppcoreguidelines-owning-memory): see KindTable
    return kinds;
}

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

TargetWord threadsWord()
{
    return {"threads", [](std::string_view value) -> std::string {
                const auto number = wholeNumber(value);
                return number && *number >= 1 && *number <= 4096 ? "" : "a number of threads from 1 to 4096";
            }};
}

TargetWord integerWord(std::string key)
{
    return {std::move(key),
            [](std::string_view value) -> std::string { return wholeNumber(value) ? "" : "an integer"; }};
}

TargetWord choiceWord(std::string key, std::vector<std::string> values)
{
    std::string wants;
    for (std::size_t i = 0; i < values.size(); ++i)
        wants += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
    return {std::move(key), [values = std::move(values), wants = std::move(wants)](std::string_view value) {
                return std::find(values.begin(), values.end(), value) != values.end() ? std::string() : wants;
            }};
}

std::vector<ListingKind> listingsOf(const Target& target)
{
    const TargetKindPtr kind = findTargetKind(target.kind());
    std::vector<ListingKind> listings;
    for (const ListingKind& listing : kind ? kind->listings : std::vector<ListingKind>())
        if (!listing.form || *listing.form == target.traits().form)
            listings.push_back(listing);
    return listings;
}

void addTargetKind(TargetKind kind)
{
    auto added = std::make_shared<const TargetKind>(std::move(kind));
    KindTable& known = table();
    const std::scoped_lock lock(known.mutex);
    const auto same = std::find_if(known.kinds.begin(), known.kinds.end(),
                                   [&added](const TargetKindPtr& k) { return k->name == added->name; });
    if (same != known.kinds.end())
        *same = std::move(added);
    else
        known.kinds.push_back(std::move(added));
}

TargetKindPtr findTargetKind(std::string_view name)
{
    KindTable& known = table();
    const std::scoped_lock lock(known.mutex);
    const auto found = std::find_if(known.kinds.begin(), known.kinds.end(),
                                    [name](const TargetKindPtr& k) { return k->name == name; });
    return found == known.kinds.end() ? nullptr : *found;
}

std::vector<TargetKindPtr> targetKinds()
{
    KindTable& known = table();
    const std::scoped_lock lock(known.mutex);
    return known.kinds;
}

} // namespace lathe
