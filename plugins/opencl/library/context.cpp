#include "plugins/opencl/library/context.h"

#include "core/runtime/array.h"
#include "plugins/opencl/library/refusal.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lathe::opencl {

using runtime::ContextRequest;
using runtime::DeviceContext;
using runtime::ErrorText;
using runtime::Status;

namespace {

/// A device's key, or a part of its name. Whoever uses a program that others made picks its device by this.
constexpr const char* kChoice = "LATHE_OPENCL_DEVICE";

/// Devices to choose from; freed with its owner.
struct Choice
{
    Choice() = default;
    ~Choice() { runtime::freeArray(devices, count); }
    Choice(const Choice&) = delete;
    Choice& operator=(const Choice&) = delete;

    DeviceFacts* devices = nullptr;
    std::size_t count = 0;

    const DeviceFacts* byKey(const char* key) const
    {
        for (std::size_t d = 0; d < count; ++d)
            if (std::strcmp(devices[d].key, key) == 0)
                return &devices[d];
        return nullptr;
    }
    const DeviceFacts* byName(const char* part) const
    {
        for (std::size_t d = 0; d < count; ++d)
            if (::strcasestr(devices[d].name, part) != nullptr)
                return &devices[d];
        return nullptr;
    }
    /// A device that is not the processor, if there is one: that has code of its own.
    const DeviceFacts* usual() const
    {
        for (std::size_t d = 0; d < count; ++d)
            if (!devices[d].isProcessor)
                return &devices[d];
        return devices;
    }
    /// Leaves those of a context of the caller's. False: it tells none.
    bool keepThoseOf(const Driver& driver, cl_context context)
    {
        std::size_t bytes = 0;
        if (driver.getContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes) != CL_SUCCESS)
            return false;
        const std::size_t held = bytes / sizeof(cl_device_id);
        cl_device_id* const ids = runtime::makeArray<cl_device_id>(held);
        DeviceFacts* const kept = runtime::makeArray<DeviceFacts>(held);
        const bool isKnown = held > 0 && ids != nullptr && kept != nullptr
                             && driver.getContextInfo(context, CL_CONTEXT_DEVICES, bytes, ids, nullptr) == CL_SUCCESS;
        for (std::size_t i = 0; i < held && isKnown; ++i)
            kept[i] = known(driver, ids[i]);
        runtime::freeArray(ids, held);
        if (!isKnown) {
            runtime::freeArray(kept, held);
            return false;
        }
        runtime::freeArray(devices, count);
        devices = kept;
        count = held;
        return true;
    }

private:
    /// Parts of devices are in no list and have no key.
    DeviceFacts known(const Driver& driver, cl_device_id id) const
    {
        for (std::size_t d = 0; d < count; ++d)
            if (devices[d].id == id)
                return devices[d];
        cl_platform_id platform = nullptr;
        driver.getDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
        return readFacts(driver, platform, id);
    }
};

/// "cl0 (Iris Xe), cl1 (Arc A770)": those that are there to be named, cut.
void listKeys(const Choice& choice, char (&text)[256])
{
    std::size_t length = 0;
    for (std::size_t d = 0; d < choice.count && length + 1 < sizeof text; ++d) {
        const DeviceFacts& device = choice.devices[d];
        const int more = std::snprintf(text + length, sizeof text - length, "%s%s (%.48s)", length > 0 ? ", " : "",
                                       device.key[0] != '\0' ? device.key : "without a key", device.name);
        length += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
}

/// Null: `error` says what is missing.
const DeviceFacts* choose(const Choice& choice, const char* key, bool isOfCaller, ErrorText& error)
{
    if (key != nullptr) {
        const DeviceFacts* const found = choice.byKey(key);
        if (found == nullptr) {
            char keys[256] = "";
            listKeys(choice, keys);
            error.set(isOfCaller ? "the caller's OpenCL context has no device with the key %.64s; it has %s"
                                 : "no OpenCL device has the key %.64s; there are %s",
                      key, keys);
        }
        return found;
    }
    const char* const wanted = isOfCaller ? nullptr : ::secure_getenv(kChoice);
    if (wanted == nullptr || wanted[0] == '\0')
        return choice.usual();
    const DeviceFacts* const keyed = choice.byKey(wanted);
    const DeviceFacts* const found = keyed != nullptr ? keyed : choice.byName(wanted);
    if (found == nullptr) {
        char keys[256] = "";
        listKeys(choice, keys);
        error.set("%s is \"%.100s\", which is neither the key nor a part of the name of an OpenCL device; there are %s",
                  kChoice, wanted, keys);
    }
    return found;
}

const Driver* listAll(Choice& choice, ErrorText& error)
{
    const char* problem = "";
    const Driver* const driver = openDriver(problem);
    if (driver != nullptr)
        choice.devices = readDevices(*driver, choice.count);
    if (choice.count > 0)
        return driver;
    error.set("%s", driver == nullptr ? problem : kNoDevices);
    return nullptr;
}

/// The caller's, or a new one.
Status takeContext(const ContextRequest& request, DeviceContext& made, ErrorText& error)
{
    cl_int code = CL_SUCCESS;
    if (request.context != nullptr) {
        auto* const callers = static_cast<cl_context>(request.context);
        code = made.driver->retainContext(callers);
        made.context = code == CL_SUCCESS ? callers : nullptr;
    } else {
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                    reinterpret_cast<cl_context_properties>(made.device.platform), 0};
        made.context = made.driver->createContext(properties, 1, &made.device.id, nullptr, nullptr, &code);
    }
    return made.context != nullptr ? Status::Ok : refused(error, code, "a context on %.200s", made.device.name);
}

} // namespace

bool isHere(const char*, ErrorText& missing)
{
    Choice choice;
    return listAll(choice, missing) != nullptr && choose(choice, nullptr, false, missing) != nullptr;
}

Status openContext(const ContextRequest& request, DeviceContext** context, ErrorText& error)
{
    Choice choice;
    const Driver* const driver = listAll(choice, error);
    if (driver == nullptr)
        return Status::InvalidArgument;
    if (request.context != nullptr && !choice.keepThoseOf(*driver, static_cast<cl_context>(request.context))) {
        error.set("the caller's OpenCL context does not tell its devices");
        return Status::InvalidArgument;
    }
    const DeviceFacts* const device = choose(choice, request.key, request.context != nullptr, error);
    if (device == nullptr)
        return Status::InvalidArgument;
    DeviceContext* const made = runtime::makeArray<DeviceContext>(1);
    if (made == nullptr)
        return noHostMemory(error);
    made->driver = driver;
    made->device = *device;
    Status status = takeContext(request, *made, error);
    if (status == Status::Ok)
        status = made->programs.load(*driver, made->context, made->device,
                                     {reinterpret_cast<const char*>(request.code), request.codeBytes}, error);
    if (status == Status::Ok)
        *context = made;
    else
        closeContext(made);
    return status;
}

void closeContext(DeviceContext* context)
{
    if (context == nullptr)
        return;
    const Driver& driver = *context->driver;
    cl_context const held = context->context;
    runtime::freeArray(context, 1); // its programs first
    if (held != nullptr)
        driver.releaseContext(held);
}

const char* nameOf(const DeviceContext* context)
{
    return context->device.name;
}

} // namespace lathe::opencl
