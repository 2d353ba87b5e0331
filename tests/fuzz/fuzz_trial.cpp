#include "core/serve/trial_run.h"
#include "core/support/check.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"
#include "tests/support/memory_device.h"

#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace lathe;

namespace {

/// A device that computes nothing and watches that its caller stays inside of what it was given.
struct Memory
{
    std::size_t bytes;
};

int refuse(LatheDeviceError* error, const char* text)
{
    error->code = static_cast<std::uint32_t>(Errc::InvalidArgument);
    std::strcpy(error->text, text);
    return 1;
}

void check(const void* buffer, std::size_t offset, std::size_t bytes)
{
    const std::size_t size = (static_cast<const Memory*>(buffer) - 1)->bytes;
    LATHE_CHECK(offset <= size && bytes <= size - offset) << bytes << " bytes at " << offset << " of " << size;
}

constexpr std::size_t kMemory = 1 << 16;

const LatheDeviceApi kDevice = [] {
    LatheDeviceApi api = test::memoryDevice("fuzz");
    api.allocate = [](LatheDevice*, std::size_t bytes, void** buffer, LatheDeviceError* error) {
        if (bytes > kMemory)
            return refuse(error, "the device's memory is full");
        auto* memory = static_cast<Memory*>(std::calloc(1, sizeof(Memory) + bytes));
        memory->bytes = bytes;
        *buffer = memory + 1;
        return 0;
    };
    api.release = [](LatheDevice*, void* buffer) { std::free(static_cast<Memory*>(buffer) - 1); };
    api.copyIn = [](LatheDevice*, void* buffer, std::size_t offset, const void* host, std::size_t bytes,
                    LatheDeviceError*) {
        check(buffer, offset, bytes);
        std::memcpy(static_cast<char*>(buffer) + offset, host, bytes);
        return 0;
    };
    api.copyOut = [](LatheDevice*, void* host, const void* buffer, std::size_t offset, std::size_t bytes,
                     LatheDeviceError*) {
        check(buffer, offset, bytes);
        std::memcpy(host, static_cast<const char*>(buffer) + offset, bytes);
        return 0;
    };
    api.run = [](LatheDevice*, const LatheLaunch* launches, std::uint32_t count, std::uint32_t, std::uint64_t,
                 LatheTiming* timing, LatheDeviceError*) {
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint32_t b = 0; b < launches[i].bufferCount; ++b)
                check(launches[i].buffers[b], 0, 0);
        if (timing != nullptr)
            *timing = {1'000'000'000'000, 2, 0};
        return 0;
    };
    return api;
}();

} // namespace

/// A run job as a runner gets it, and the blob that it names: an answer with a stage, whatever the job asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    [[maybe_unused]] static const auto loud = google::protobuf::SetLogHandler(nullptr); // a line for each bad text
    static const auto device = serve::Device::open(&kDevice, "one", "");
    LATHE_CHECK(device.has_value());
    wire::RunJob job;
    if (!job.ParseFromArray(data, static_cast<int>(size)))
        return 0;
    job.mutable_plan()->set_cooldown_ms(0);
    wire::BlobStore blobs;
    const Hash128 blob = blobs.put(std::string(64, 'x'));
    for (auto& artifact : *job.mutable_artifacts())
        wire::toWire(blob, artifact.mutable_blob());
    for (auto& buffer : *job.mutable_buffers())
        if (buffer.fill() == wire::Buffer::BLOB)
            wire::toWire(blob, buffer.mutable_blob());
    for (auto& check : *job.mutable_checks())
        if (check.has_reference())
            wire::toWire(blob, check.mutable_reference());
    LATHE_CHECK(serve::TrialRunner::missing(job, blobs).empty());
    serve::TrialRunner runner(*device);
    const wire::RunResult result = runner.run(job, blobs, [](std::uint32_t, const std::string&) {});
    LATHE_CHECK((result.stage() == 0) == (result.failure().code() == 0)) << result.ShortDebugString();
    return 0;
}
