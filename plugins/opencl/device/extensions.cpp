#include "plugins/opencl/device/extensions.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace lathe::opencl {

char* listExtensions(const Driver& driver, cl_device_id device)
{
    std::size_t bytes = 0;
    if (driver.getDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &bytes) != CL_SUCCESS)
        return nullptr;
    auto* const listed = static_cast<char*>(std::calloc(bytes + 1, 1));
    if (listed == nullptr)
        return nullptr;
    if (driver.getDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, listed, nullptr) == CL_SUCCESS)
        return listed;
    std::free(listed);
    return nullptr;
}

bool listsExtension(const char* listed, const char* name)
{
    const std::size_t length = std::strlen(name);
    for (const char* at = listed; (at = std::strstr(at, name)) != nullptr; at += length)
        if ((at == listed || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

} // namespace lathe::opencl
