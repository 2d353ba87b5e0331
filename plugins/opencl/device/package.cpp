#include "plugins/opencl/device/package.h"

#include "plugins/opencl/device/package_view.h"

namespace lathe::opencl {

std::vector<std::byte> pack(std::span<const PackedKernel> kernels)
{
    std::vector<KernelView> views;
    for (const PackedKernel& kernel : kernels)
        views.push_back({kernel.source, kernel.binary, kernel.madeFor, kernel.symbols});
    std::vector<std::byte> bytes(packageBytes(views.data(), views.size()));
    writePackage(views.data(), views.size(), bytes.data());
    return bytes;
}

bool unpack(std::string_view bytes, std::vector<PackedKernel>& kernels)
{
    PackageReader reader(bytes);
    KernelView view;
    while (reader.next(view))
        kernels.push_back(
            {std::string(view.source), std::string(view.binary), std::string(view.madeFor), std::string(view.symbols)});
    return reader.isGood() && reader.bytes() == bytes.size();
}

} // namespace lathe::opencl
