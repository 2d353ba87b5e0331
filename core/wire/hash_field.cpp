#include "core/wire/hash_field.h"

#include "core/wire/messages.h"

namespace lathe::wire {

Hash128 fromWire(const Hash& hash)
{
    return {hash.high(), hash.low()};
}

void toWire(const Hash128& hash, Hash* out)
{
    out->set_high(hash.high);
    out->set_low(hash.low);
}

} // namespace lathe::wire
