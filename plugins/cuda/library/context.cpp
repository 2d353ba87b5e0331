#include "plugins/cuda/library/context.h"

#include "core/runtime/array.h"
#include "plugins/cuda/library/refusal.h"

namespace lathe::cuda {

using runtime::ContextRequest;
using runtime::DeviceContext;
using runtime::ErrorText;
using runtime::Status;

namespace {

/// Null: `error` says what is wrong with the caller's context, or what is missing.
const Gpu* chooseGpu(const Driver& driver, const Gpus& gpus, const ContextRequest& request, ErrorText& error)
{
    if (request.context == nullptr)
        return gpus.choose(request.key, request.target, error);
    const Current current(driver, static_cast<Context>(request.context));
    DeviceNumber number = 0;
    int code = current.code();
    if (code == kSuccess)
        code = driver.contextGetDevice(&number);
    if (code == kSuccess)
        return gpus.chooseNumber(number, request.key, request.target, error);
    refused(error, driver, code, "the caller's context");
    return nullptr;
}

/// The caller's, or the device's primary one, which all libraries of this process share with the CUDA runtime.
Status takeContext(const ContextRequest& request, DeviceContext& made, ErrorText& error)
{
    const Driver& driver = *made.driver;
    if (request.context != nullptr) {
        made.context = static_cast<Context>(request.context);
        made.isCallers = true;
        return Status::Ok;
    }
    const int code = driver.primaryContextRetain(&made.context, made.gpu.number);
    if (code == kSuccess)
        return Status::Ok;
    made.context = nullptr;
    return refused(error, driver, code, "a context on %.150s", made.gpu.name);
}

Status fill(const ContextRequest& request, DeviceContext& made, ErrorText& error)
{
    if (const Status status = takeContext(request, made, error); status != Status::Ok)
        return status;
    const Driver& driver = *made.driver;
    const Current current(driver, made.context);
    int code = current.code();
    if (code == kSuccess)
        code = driver.streamCreate(&made.uploads, kOwnOrder);
    if (code != kSuccess) {
        made.uploads = nullptr;
        return refused(error, driver, code, "a stream on %.150s", made.gpu.name);
    }
    return made.programs.load(driver, made.context, made.gpu,
                              {reinterpret_cast<const char*>(request.code), request.codeBytes}, error);
}

} // namespace

bool isHere(const char* target, ErrorText& missing)
{
    Gpus gpus;
    return gpus.list(missing) != nullptr && gpus.choose(nullptr, target, missing) != nullptr;
}

Status openContext(const ContextRequest& request, DeviceContext** context, ErrorText& error)
{
    Gpus gpus;
    const Driver* const driver = gpus.list(error);
    if (driver == nullptr)
        return Status::InvalidArgument;
    const Gpu* const gpu = chooseGpu(*driver, gpus, request, error);
    if (gpu == nullptr)
        return Status::InvalidArgument;
    auto* const made = runtime::makeArray<DeviceContext>(1);
    if (made == nullptr)
        return noHostMemory(error);
    made->driver = driver;
    made->gpu = *gpu;
    const Status status = fill(request, *made, error);
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
    const DeviceNumber number = context->gpu.number;
    const bool isRetained = context->context != nullptr && !context->isCallers;
    if (context->uploads != nullptr) {
        const Current current(driver, context->context);
        driver.streamDestroy(context->uploads);
    }
    runtime::freeArray(context, 1); // its programs first
    if (isRetained)
        driver.primaryContextRelease(number);
}

const char* nameOf(const DeviceContext* context)
{
    return context->gpu.name;
}

} // namespace lathe::cuda
