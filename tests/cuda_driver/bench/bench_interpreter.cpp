// Times the interpreter by hand: PROGRAM [REPEATS], with LATHE_NVRTC naming NVRTC's folder. Processor time of the
// fastest of the repeats, of each kernel of kernels.cu, with all checks the quick way and the exact one, and without
// checks.

#include "tests/cuda_driver/ptx/machine.h"

#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace lathe::ptx;

namespace {

double processorSeconds()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Empty: NVRTC is not there, or refuses; it was said why.
std::string compiled(const std::string& source)
{
    const char* const folder = std::getenv("LATHE_NVRTC");
    const std::string place = folder ? std::string(folder) + "/" : std::string();
    void* library = ::dlopen((place + "libnvrtc.so.13").c_str(), RTLD_NOW);
    if (!library)
        library = ::dlopen((place + "libnvrtc.so.12").c_str(), RTLD_NOW);
    if (!library) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        return {};
    }
    const auto call = [library](const char* name, auto... arguments) {
        return reinterpret_cast<int (*)(decltype(arguments)...)>(::dlsym(library, name))(arguments...);
    };
    void* program = nullptr;
    const char* const options[] = {"--gpu-architecture=compute_80", "--std=c++17"};
    call("nvrtcCreateProgram", &program, source.c_str(), "kernels.cu", 0, static_cast<const char* const*>(nullptr),
         static_cast<const char* const*>(nullptr));
    const int code = call("nvrtcCompileProgram", program, 2, &options[0]);
    std::size_t size = 0;
    call(code == 0 ? "nvrtcGetPTXSize" : "nvrtcGetProgramLogSize", program, &size);
    std::string text(size, '\0');
    call(code == 0 ? "nvrtcGetPTX" : "nvrtcGetProgramLog", program, text.data());
    if (code == 0)
        return text;
    std::fprintf(stderr, "%s\n", text.c_str());
    return {};
}

struct Subject
{
    const char* name;
    unsigned blocks, threads;
    std::vector<std::size_t> inputs; // their numbers of floats
    std::size_t outputs;
};

class Bench
{
public:
    explicit Bench(std::shared_ptr<const Program> program)
        : m_program(std::move(program))
    {
    }

    /// Seconds; below 0: it failed, and was told.
    double time(const Subject& subject, bool quick, bool checked, int repeats)
    {
        DeviceMemory memory(std::uint64_t(1) << 32);
        std::mt19937 random(1);
        std::uniform_real_distribution<float> uniform(-1, 1);
        LaunchRequest request;
        request.program = m_program;
        request.kernel = m_program->find(subject.name);
        request.grid = {subject.blocks, 1, 1};
        request.block = {subject.threads, 1, 1};
        request.quick = quick;
        request.checked = checked;
        request.multiprocessors = 8;
        std::vector<std::uint8_t> parameters(request.kernel->parameterBytes);
        for (std::size_t i = 0; i <= subject.inputs.size(); ++i) {
            const bool isInput = i < subject.inputs.size();
            Allocation* const made = memory.allocate(4 * (isInput ? subject.inputs[i] : subject.outputs));
            if (isInput) {
                std::vector<float> values(subject.inputs[i]);
                std::generate(values.begin(), values.end(), [&] { return uniform(random); });
                std::memcpy(made->bytes.get(), values.data(), made->size);
                std::memset(made->initialized.get(), 1, made->size);
            }
            std::memcpy(parameters.data() + request.kernel->parameters[i].offset, &made->base, 8);
        }
        request.parameters = parameters;
        double best = 1e9;
        for (int repeat = 0; repeat < repeats; ++repeat) {
            const double begun = processorSeconds();
            const LaunchReport report = runLaunch(request, memory);
            best = std::min(best, processorSeconds() - begun);
            if (report.fault || !report.findings.all().empty()) {
                std::fprintf(stderr, "%s: %s\n", subject.name,
                             report.fault ? report.fault->text.c_str() : report.findings.all()[0].text.c_str());
                return -1;
            }
        }
        return best;
    }

private:
    std::shared_ptr<const Program> m_program;
};

} // namespace

int main(int count, char** words)
{
    const int repeats = count > 1 ? std::max(1, std::atoi(words[1])) : 3;
    std::ifstream file(LATHE_SOURCE_DIR "/tests/cuda_driver/bench/kernels.cu");
    const std::string source((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::string ptx = compiled(source);
    if (ptx.empty())
        return 1;
    auto loaded = load(ptx);
    if (const auto* const problem = std::get_if<LoadError>(&loaded)) {
        std::fprintf(stderr, "%s\n", problem->text.c_str());
        return 1;
    }
    constexpr std::size_t kSquare = 256 * 256, kImage = 56 * 56 * 64, kWindow = 3 * 3 * 64 * 64;
    const std::vector<Subject> subjects = {
        {"product_small", 256, 256, {kSquare, kSquare}, kSquare},
        {"product_32x64", 32, 256, {kSquare, kSquare}, kSquare},
        {"product_64x64", 16, 256, {kSquare, kSquare}, kSquare},
        {"conv_good", 56, 112, {kImage, kWindow, 64}, kImage},
        {"conv_poor", 56 * 64, 28, {kImage, kWindow, 64}, kImage},
        {"conv_direct", 56 * 56, 64, {kImage, kWindow, 64}, kImage},
    };
    Bench bench(std::get<std::shared_ptr<const Program>>(loaded));
    std::printf("%-14s %10s %10s %10s  s\n", "kernel", "checked", "exact way", "unchecked");
    for (const Subject& subject : subjects)
        std::printf("%-14s %10.4f %10.4f %10.4f\n", subject.name, bench.time(subject, true, true, repeats),
                    bench.time(subject, false, true, 1), bench.time(subject, true, false, repeats));
    return 0;
}
