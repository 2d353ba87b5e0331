#pragma once

#include "plugins/cuda/device/driver.h"
#include "plugins/cuda/device/lead.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::test {

/// A driver of functions here, whose memory is the test's: kernels are functions of C++, and each call can be told to
/// fail. One at a time.
class FakeDriver
{
public:
    /// A kernel by its symbol: the addresses that it is launched with.
    using Kernel = std::function<void(const std::vector<float*>& buffers)>;

    FakeDriver()
    {
        s_it = this;
        driver.deviceGetCount = [](int* count) { return give(count, 2); };
        driver.deviceGet = [](cuda::DeviceNumber* device, int ordinal) { return give(device, ordinal); };
        driver.deviceGetName = [](char* name, int bytes, cuda::DeviceNumber) {
            std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
            return int(cuda::kSuccess);
        };
        driver.deviceTotalMem = [](std::size_t* bytes, cuda::DeviceNumber) {
            return give(bytes, std::size_t{1} << 30);
        };
        driver.deviceGetAttribute = [](int* value, int attribute, cuda::DeviceNumber) {
            const auto known = s_it->attributes.find(attribute);
            return known == s_it->attributes.end() ? int(cuda::kInvalidValue)
                                                   : (*value = known->second, int(cuda::kSuccess));
        };
        driver.primaryContextRetain = [](cuda::Context* context, cuda::DeviceNumber) {
            return give(context, reinterpret_cast<cuda::Context>(s_it));
        };
        driver.primaryContextRelease = [](cuda::DeviceNumber) { return int(cuda::kSuccess); };
        driver.contextSetCurrent = [](cuda::Context) { return int(cuda::kSuccess); };
        driver.memAlloc = [](cuda::Address* address, std::size_t bytes) {
            if (const int code = s_it->says("memAlloc"))
                return code;
            ++s_it->buffers;
            return give(address, reinterpret_cast<cuda::Address>(::operator new(bytes)));
        };
        driver.memFree = [](cuda::Address address) {
            --s_it->buffers;
            ::operator delete(reinterpret_cast<void*>(address));
            return int(cuda::kSuccess);
        };
        driver.copyToDevice = [](cuda::Address to, const void* from, std::size_t bytes, cuda::Stream) {
            std::memcpy(reinterpret_cast<void*>(to), from, bytes);
            return s_it->says("copy");
        };
        driver.copyToHost = [](void* to, cuda::Address from, std::size_t bytes, cuda::Stream) {
            std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
            return s_it->says("copy");
        };
        driver.fill = [](cuda::Address, unsigned, std::size_t words, cuda::Stream) {
            s_it->filledWords += words;
            return s_it->says("fill");
        };
        driver.moduleLoad = [](cuda::LoadedModule* module, const void* image, unsigned count, int* options,
                               void** values) { return s_it->load(module, image, count, options, values); };
        driver.moduleUnload = [](cuda::LoadedModule) { return int(cuda::kSuccess); };
        driver.moduleGetFunction = [](cuda::Function* function, cuda::LoadedModule, const char* name) {
            if (const int code = s_it->says("function"))
                return code;
            const auto known = s_it->kernels.find(name);
            if (known == s_it->kernels.end())
                return int(cuda::kNotFound);
            *function = reinterpret_cast<cuda::Function>(&known->second);
            return int(cuda::kSuccess);
        };
        driver.functionGetAttribute = [](int* value, int attribute, cuda::Function) {
            *value = attribute == 0 ? s_it->mostThreadsOfFunction : 200; // registers
            return int(cuda::kSuccess);
        };
        driver.functionSetAttribute = [](cuda::Function, int attribute, int value) {
            s_it->askedShared = attribute == 8 ? value : -1;
            return s_it->says("shared");
        };
        driver.launch = [](cuda::Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned shared, cuda::Stream, void** parameters,
                           void**) { return s_it->launch(*reinterpret_cast<Entry*>(function), shared, parameters); };
        driver.streamCreate = [](cuda::Stream* stream, unsigned) {
            return give(stream, reinterpret_cast<cuda::Stream>(s_it));
        };
        driver.streamDestroy = [](cuda::Stream) { return int(cuda::kSuccess); };
        driver.streamSynchronize = [](cuda::Stream) { return s_it->says("wait"); };
        driver.eventCreate = [](cuda::Event* event, unsigned) {
            return give(event, reinterpret_cast<cuda::Event>(new double(0)));
        };
        driver.eventDestroy = [](cuda::Event event) {
            delete reinterpret_cast<double*>(event);
            return int(cuda::kSuccess);
        };
        driver.eventRecord = [](cuda::Event event, cuda::Stream) {
            *reinterpret_cast<double*>(event) = s_it->now;
            return int(cuda::kSuccess);
        };
        driver.eventElapsedTime = [](float* milliseconds, cuda::Event from, cuda::Event to) {
            *milliseconds = static_cast<float>(*reinterpret_cast<double*>(to) - *reinterpret_cast<double*>(from));
            return int(cuda::kSuccess);
        };
        driver.beginCapture = [](cuda::Stream, int) {
            if (const int code = s_it->says("capture"))
                return code;
            s_it->recorded.clear();
            s_it->isRecording = true;
            return int(cuda::kSuccess);
        };
        driver.endCapture = [](cuda::Stream, cuda::Graph* graph) {
            s_it->isRecording = false;
            *graph = reinterpret_cast<cuda::Graph>(s_it);
            return int(cuda::kSuccess);
        };
        driver.graphInstantiate = [](cuda::GraphExec* exec, cuda::Graph, unsigned long long) {
            return give(exec, reinterpret_cast<cuda::GraphExec>(s_it));
        };
        driver.graphLaunch = [](cuda::GraphExec, cuda::Stream) {
            ++s_it->graphs;
            for (const auto& [entry, addresses] : s_it->recorded)
                s_it->start(*entry, addresses);
            return int(cuda::kSuccess);
        };
        driver.graphUpload = [](cuda::GraphExec, cuda::Stream) {
            ++s_it->uploads;
            return s_it->says("upload");
        };
        driver.graphExecDestroy = [](cuda::GraphExec) { return int(cuda::kSuccess); };
        driver.graphDestroy = [](cuda::Graph) { return int(cuda::kSuccess); };
        driver.hasGraphs = true;
        driver.version = 12020;
        add(cuda::kLeadKernel, {});
    }
    ~FakeDriver() { s_it = nullptr; }
    FakeDriver(const FakeDriver&) = delete;
    FakeDriver& operator=(const FakeDriver&) = delete;

    void add(const std::string& symbol, Kernel kernel) { kernels[symbol] = {symbol, std::move(kernel)}; }

    cuda::Driver driver;
    std::map<int, int> attributes = {
        {cuda::kCapabilityMajor, 8},   {cuda::kCapabilityMinor, 6},          {cuda::kMostThreadsOfBlock, 1024},
        {cuda::kMostBlockX, 1024},     {cuda::kMostBlockX + 1, 1024},        {cuda::kMostBlockX + 2, 64},
        {cuda::kMostGridX, 1 << 30},   {cuda::kMostGridX + 1, 65535},        {cuda::kMostGridX + 2, 65535},
        {cuda::kSharedOfBlock, 49152}, {cuda::kSharedOfBlockAtMost, 101376}, {cuda::kWarp, 32},
        {cuda::kProcessors, 84},       {cuda::kClockKhz, 1800000},           {cuda::kMemoryClockKhz, 8001000},
        {cuda::kMemoryBusBits, 384},   {cuda::kCacheBytes, 6 << 20}};
    std::map<std::string, int> fails; ///< the code of a call by its name: "launch", "wait", "text", "binary" ...
    std::string log; ///< of the driver's compiler when it fails
    double launchMs = 0.01; ///< what a launch takes
    int mostThreadsOfFunction = 1024;
    // What was done.
    std::vector<std::string> loaded; ///< "binary", "text", as far as it worked
    std::vector<std::string> launched; ///< symbols, those of graphs too
    int graphs = 0, uploads = 0, buffers = 0, askedShared = 0;
    unsigned sharedBytes = 0; ///< of the last launch
    std::size_t filledWords = 0;
    int leads = 0; ///< how often the stream was kept busy
    std::uint64_t leadCycles = 0;

private:
    template<typename Value>
    static int give(Value* out, Value value)
    {
        *out = value;
        return cuda::kSuccess;
    }

    struct Entry
    {
        std::string symbol;
        Kernel run;
    };

    int says(const std::string& call)
    {
        const auto known = fails.find(call);
        return known == fails.end() ? int(cuda::kSuccess) : known->second;
    }

    /// Cubins of the tests begin with "cubin", all else is text.
    int load(cuda::LoadedModule* module, const void* image, unsigned count, const int* options, void** values)
    {
        if (cuda::leadPtx() == static_cast<const char*>(image)) {
            *module = reinterpret_cast<cuda::LoadedModule>(this);
            return says("lead");
        }
        const bool isBinary = std::string_view(static_cast<const char*>(image)).starts_with("cubin");
        const std::string what = isBinary ? "binary" : "text";
        *module = reinterpret_cast<cuda::LoadedModule>(this);
        const int code = says(what);
        if (code == cuda::kSuccess)
            loaded.push_back(what);
        else if (count == 2 && options[0] == 5)
            std::strncpy(static_cast<char*>(values[0]), log.c_str(), reinterpret_cast<std::size_t>(values[1]));
        return code;
    }

    int launch(Entry& entry, unsigned shared, void** parameters)
    {
        if (const int code = says("launch"))
            return code;
        if (entry.symbol == cuda::kLeadKernel) {
            ++leads;
            leadCycles += *static_cast<std::uint64_t*>(parameters[0]);
            return cuda::kSuccess;
        }
        sharedBytes = shared;
        std::vector<float*> addresses;
        for (int i = 0; i < 2; ++i) // all kernels of the tests take two
            addresses.push_back(reinterpret_cast<float*>(*static_cast<cuda::Address*>(parameters[i])));
        if (isRecording)
            recorded.emplace_back(&entry, addresses);
        else
            start(entry, addresses);
        return cuda::kSuccess;
    }

    void start(const Entry& entry, const std::vector<float*>& addresses)
    {
        launched.push_back(entry.symbol);
        now += launchMs;
        entry.run(addresses);
    }

    static inline FakeDriver* s_it = nullptr;
    std::map<std::string, Entry> kernels;
    double now = 0; ///< ms
    bool isRecording = false;
    std::vector<std::pair<const Entry*, std::vector<float*>>> recorded;
};

} // namespace lathe::test
