#include "plugins/opencl/device/package.h"

#include "plugins/opencl/device/package_view.h"

namespace lathe::opencl {

std::vector<std::byte> pack(std::span<const PackedProgram> programs)
{
    std::vector<ProgramView> views;
    for (const PackedProgram& program : programs)
        views.push_back({program.source, program.binary, program.madeFor, program.symbols});
    std::vector<std::byte> bytes(packageBytes(views.data(), views.size()));
    writePackage(views.data(), views.size(), bytes.data());
    return bytes;
}

bool unpack(std::string_view bytes, std::vector<PackedProgram>& programs)
{
    PackageReader reader(bytes);
    ProgramView view;
    while (reader.next(view))
        programs.push_back(
            {std::string(view.source), std::string(view.binary), std::string(view.madeFor), std::string(view.symbols)});
    return reader.isGood() && reader.bytes() == bytes.size();
}

} // namespace lathe::opencl
