#include "core/broker/notices.h"
#include "core/broker/subjects.h"
#include "core/support/check.h"

#include <cstddef>
#include <cstdint>

using namespace lathe;

/// What others of a broker tell: a subject up to the first end of a line, then the text. What is taken for a notice can
/// be sent on and is then the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(all.find('\n'), all.size());
    const std::string_view subject = all.substr(0, end);
    const std::string_view text = all.substr(std::min(end + 1, all.size()));
    if (const auto claim = broker::claimIn(subject, text)) {
        LATHE_CHECK(broker::isWord(claim->key) && broker::isWord(claim->user) && broker::isWord(claim->ticket));
        const auto again = broker::claimIn(broker::claimSubject(claim->key, claim->user), broker::toText(*claim));
        LATHE_CHECK(again && broker::toText(*again) == broker::toText(*claim));
    }
    if (const auto device = broker::deviceIn(subject, text)) {
        LATHE_CHECK(broker::isWord(device->key) && broker::isWord(device->device));
        const auto again = broker::deviceIn(broker::hereSubject(device->key, device->device), broker::toText(*device));
        LATHE_CHECK(again && broker::toText(*again) == broker::toText(*device));
    }
    if (const auto offer = broker::offerIn(text)) {
        const auto again = broker::offerIn(broker::toText(*offer));
        LATHE_CHECK(again && again->session == offer->session && again->ticket == offer->ticket);
    }
    return 0;
}
