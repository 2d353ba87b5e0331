#include "plugins/cpu/codegen/link.h"
#include "plugins/cpu/codegen/section_object.h"

#include <fmt/format.h>

namespace lathe::cpu {

Result<> linkDeployLibrary(const backend::LibraryRequest& request, const std::string& triple)
{
    static_cast<void>(request);
    return makeError(Errc::Unsupported, fmt::format("deploy libraries for '{}'", triple));
}

} // namespace lathe::cpu
