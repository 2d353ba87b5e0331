#include "core/wire/failure.h"

#include "core/wire/messages.h"

namespace lathe::wire {

void setFailure(Failure* failure, const Error& error)
{
    failure->set_code(static_cast<std::uint32_t>(error.code));
    failure->set_text(error.message);
}

} // namespace lathe::wire
