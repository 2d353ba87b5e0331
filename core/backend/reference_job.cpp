#include "core/backend/reference_job.h"

#include "core/backend/network_message.h"
#include "core/graph/passes.h"
#include "core/support/message.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <cstring>

namespace lathe::backend {

Result<std::vector<graph::HostTensor>> evaluateReference(const wire::ReferenceJob& job, wire::BlobStore& blobs)
{
    const wire::Blob described = blobs.find(wire::fromWire(job.network()));
    wire::Network structure;
    if (!described || !structure.ParseFromString(*described))
        return makeError(Errc::BadFile, say(Msg::NetworkDoesNotParse));
    LATHE_TRY_ASSIGN(const graph::Graph network, readNetwork(structure));
    if (static_cast<std::size_t>(job.inputs_size()) != network.inputs.size())
        return makeError(Errc::InvalidArgument, "the network was given another number of inputs than it takes");
    std::vector<graph::HostTensor> inputs;
    for (int i = 0; i < job.inputs_size(); ++i) {
        const graph::Value& port = network.value(network.inputs[static_cast<std::size_t>(i)]);
        const wire::Blob blob = blobs.find(wire::fromWire(job.inputs(i)));
        graph::HostTensor tensor = graph::HostTensor::zeros({port.dtype, port.shape});
        if (!blob || blob->size() != tensor.bytes.size())
            return makeError(Errc::InvalidArgument,
                             "input '" + port.name + "' of the network was given in another size");
        std::memcpy(tensor.bytes.data(), blob->data(), blob->size());
        inputs.push_back(std::move(tensor));
    }
    return graph::interpret(network, std::move(inputs));
}

} // namespace lathe::backend
