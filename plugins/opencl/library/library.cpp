#include "plugins/opencl/library/library.h"

#include "plugins/opencl/library/queue.h"

using namespace lathe::opencl;

const lathe::runtime::DeviceDriver lathe_driver_opencl = {
    .kind = "opencl",
    .isHere = isHere,
    .open = openContext,
    .close = closeContext,
    .name = nameOf,
    .allocate = allocate,
    .adopt = adopt,
    .fits = fits,
    .overlaps = overlap,
    .share = share,
    .release = release,
    .start = startQueue,
    .end = endQueue,
    .prepare = prepareLaunch,
    .point = pointLaunch,
    .forget = forgetLaunch,
    .launch = enqueueLaunch,
    .copy = enqueueCopy,
    .write = enqueueWrite,
    .read = enqueueRead,
    .map = enqueueMap,
    .unmap = enqueueUnmap,
    .finish = finishQueue,
};
