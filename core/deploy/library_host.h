#pragma once

#include "core/deploy/port_info.h"
#include "core/support/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lathe::deploy {

struct LibraryRunRequest
{
    std::vector<graph::HostTensor> inputs; ///< in order; empty: values from the seed, as trials have them
    std::uint64_t seed = 1;
    bool returnInputs = false;
    bool returnOutputs = true;
    std::vector<std::string> observe; ///< tensors inside that come back too, by name
};

struct LibraryRun
{
    double seconds = 0;
    std::vector<graph::HostTensor> inputs, outputs;
    std::vector<std::pair<std::string, graph::HostTensor>> observed; ///< in the order of execution, each name once
};

/// An exported network that was loaded somewhere.
class LibraryHost
{
public:
    LibraryHost() = default;
    virtual ~LibraryHost() = default;
    LibraryHost(const LibraryHost&) = delete;
    LibraryHost& operator=(const LibraryHost&) = delete;

    virtual const std::vector<PortInfo>& inputs() const = 0;
    virtual const std::vector<PortInfo>& outputs() const = 0;
    /// Errors: InvalidArgument naming the input and what is off; Internal with the library's words; those of the place
    /// where it is loaded.
    Result<LibraryRun> run(const LibraryRunRequest& request);

protected:
    /// Errors: InvalidArgument, as of run().
    Result<> check(const LibraryRunRequest& request) const;

private:
    virtual Result<LibraryRun> runChecked(const LibraryRunRequest& request) = 0;
};

} // namespace lathe::deploy
