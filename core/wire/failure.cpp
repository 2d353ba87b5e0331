#include "core/wire/failure.h"

#include "core/support/message.h"
#include "core/wire/messages.h"

#include <algorithm>

namespace lathe::wire {

void setFailure(Failure* failure, const Error& error)
{
    failure->set_code(static_cast<std::uint32_t>(error.code));
    failure->set_text(error.message);
    failure->set_about(toJsonText(error.about));
}

Error errorOf(const Failure& failure)
{
    const auto known = std::min<std::uint32_t>(failure.code(), static_cast<std::uint32_t>(Errc::Internal));
    Error error = makeError(static_cast<Errc>(known), failure.text());
    error.about = aboutFromJsonText(failure.about());
    return error;
}

} // namespace lathe::wire
