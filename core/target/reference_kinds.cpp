#include "core/target/reference_kinds.h"

#include "core/target/presets.h"

namespace lathe {
namespace {

TargetWord anyWord(std::string key)
{
    return {std::move(key), {}};
}

TargetWord archWord()
{
    return {"arch", [](std::string_view value) -> std::string {
                const TargetWord number = integerWord({});
                const bool right = value.starts_with("sm_") && number.refusal(value.substr(3)).empty();
                return right ? "" : "an architecture such as sm_90";
            }};
}

/// Lathe's own schedules for processors work on channels-last tensors: vectors along the channels, windows without
/// gathers (cpu-kernels.md 5 and 6 found NHWC within 3 % of NCHW16c).
BackendTraits processorTraits()
{
    BackendTraits traits;
    traits.family = "cpu";
    traits.form = KernelForm::Phases;
    traits.layout = "NHWC";
    return traits;
}

BackendTraits gpuTraits(std::string family)
{
    BackendTraits traits;
    traits.family = std::move(family);
    traits.form = KernelForm::Launches;
    traits.clock = CostClock::Device;
    traits.takesDeviceFigures = true;
    return traits;
}

BackendTraits cpuTraits(const Target& target)
{
    BackendTraits traits = processorTraits();
    traits.clock = CostClock::Wall;
    traits.sharesCores = true;
    traits.runsHere = target.machine() == thisMachine();
    traits.libraries = true;
    traits.headStart = "cpu-" + target.machine();
    return traits;
}

/// Of the processor that a device is beside; empty: of this one.
std::string hostMachine(const Target& target)
{
    const std::string triple = target.attribute("host").value_or("");
    return triple.substr(0, triple.find('-'));
}

BackendTraits openclTraits(const Target& target)
{
    BackendTraits traits = gpuTraits(target.attribute("device") == "mali" ? "mali" : "gpu");
    traits.machine = hostMachine(target);
    return traits;
}

/// What the array does not do runs on the host.
BackendTraits vtaTraits(const Target& target)
{
    BackendTraits traits = processorTraits();
    traits.machine = hostMachine(target);
    traits.headStart = "vta";
    return traits;
}

/// What it is like, but by a formula's time, on no device whose figures would count.
BackendTraits simTraits(const Target& target)
{
    const std::string like = target.attribute("like").value_or("cpu");
    BackendTraits traits = like == "cpu" ? processorTraits() : gpuTraits(like == "mali" ? "mali" : "gpu");
    traits.clock = CostClock::Model;
    traits.headStart = like == "cpu" ? "sim" : "";
    traits.takesDeviceFigures = false;
    return traits;
}

Hardware openclPresets(const Target& target)
{
    const std::string device = target.attribute("device").value_or("");
    return gpuPresets(device == "mali" || device == "adreno" ? device : "opencl");
}

Hardware simPresets(const Target& target)
{
    const std::string like = target.attribute("like").value_or("cpu");
    return like == "cpu" ? cpuPresets(target) : gpuPresets(like);
}

} // namespace

std::vector<TargetKind> referenceKinds()
{
    std::vector<TargetKind> kinds;
    kinds.push_back({"cpu",
                     {},
                     {anyWord("host"), anyWord("mattr"), anyWord("mcpu"), anyWord("mtriple"), threadsWord()},
                     {{"cpu", "this CPU"},
                      {"cpu -threads=1", "this CPU, 1 thread"},
                      {"cpu -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu -threads=4", "64-bit Arm, 4 threads"}},
                     cpuTraits,
                     cpuPresets,
                     {{"ir", "LLVM IR", "ir"}, {"assembly", "Assembly", "x86"}, {"mca", "llvm-mca", "text"}}});
    kinds.push_back({"cuda",
                     "NVIDIA GPUs (CUDA)",
                     {archWord(), anyWord("host")},
                     {},
                     [](const Target&) { return gpuTraits("gpu"); },
                     [](const Target&) { return gpuPresets("cuda"); }});
    kinds.push_back(
        {"opencl", "OpenCL devices", {anyWord("device"), anyWord("host")}, {}, openclTraits, openclPresets});
    kinds.push_back({"vta", {}, {anyWord("device"), anyWord("host"), threadsWord()}, {}, vtaTraits, cpuPresets});
    kinds.push_back({"sim",
                     {},
                     {anyWord("cost"), anyWord("interpret"), choiceWord("like", {"cpu", "cuda", "opencl", "mali"}),
                      anyWord("script"), integerWord("seed"), threadsWord()},
                     {{"sim", "simulated device"},
                      {"sim -like=cuda", "simulated NVIDIA GPU"},
                      {"sim -like=mali", "simulated Arm Mali GPU"}},
                     simTraits,
                     simPresets,
                     {{"source", "Source", "nest"}, {"opencl", "OpenCL C", "c", KernelForm::Launches}}});
    return kinds;
}

} // namespace lathe
