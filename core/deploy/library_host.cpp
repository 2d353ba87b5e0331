#include "core/deploy/library_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lathe::deploy {

Result<> LibraryHost::check(const LibraryRunRequest& request) const
{
    if (!request.inputs.empty() && request.inputs.size() != inputs().size())
        return makeError(Errc::InvalidArgument, fmt::format("{} inputs were given, the network has {}",
                                                            request.inputs.size(), inputs().size()));
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
        const PortInfo& port = inputs()[i];
        const graph::TensorType& given = request.inputs[i].type;
        if (!(given == port.type))
            return makeError(Errc::InvalidArgument, fmt::format("input '{}' is {} {}, what was given is {} {}",
                                                                port.name, toString(port.type.dtype), port.type.shape,
                                                                toString(given.dtype), given.shape));
    }
    return {};
}

Result<LibraryRun> LibraryHost::run(const LibraryRunRequest& request)
{
    LATHE_TRY(check(request));
    return runChecked(request);
}

} // namespace lathe::deploy
