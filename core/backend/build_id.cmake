# Writes OUTPUT with a hash of everything that decides how C++ types look to a plugin: our headers, the compiler, its flags.
file(GLOB_RECURSE headers "${SOURCE_DIR}/core/*.h")
list(SORT headers)
set(text "${COMPILER} ${FLAGS}")
foreach(header IN LISTS headers)
    file(SHA256 "${header}" hash)
    string(APPEND text " ${hash}")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING "${id}" 0 32 id)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
#include "core/backend/codegen.h"

namespace lathe::backend {

const char* buildId()
{
    return "@VERSION@-@id@";
}

} // namespace lathe::backend
]] @ONLY)
