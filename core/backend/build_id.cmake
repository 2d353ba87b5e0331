# Writes OUTPUT with a hash of everything that decides how C++ types look to a plugin: the headers of the rooms that codegen
# halves use, the compiler, its flags.
set(headers "")
foreach(room IN LISTS ROOMS)
    file(GLOB_RECURSE found "${SOURCE_DIR}/core/${room}/*.h")
    list(APPEND headers ${found})
endforeach()
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
