#pragma once

#include "core/runtime/dtype.h"
#include "core/runtime/kernel_form.h"

#include <cstdint>
#include <string>

namespace lathe {

/// Whose time a cost is.
enum class CostClock : std::uint8_t
{
    Wall, ///< of the processor that runs the kernels
    Device, ///< the device's own events
    Model ///< computed by a formula: no cache is cold, no two measurements differ, and a run's durations follow from
          ///< its results
};

/// How far outputs may be from what they must be: max |y - r| <= of(dtype) * max |r| over a tensor.
struct Tolerances
{
    double float16 = 2e-3; ///< two units in the last place: sums in another order round to either neighbour
    double bfloat16 = 1.6e-2;
    double float32 = 1e-4;
    double float64 = 1e-4; ///< vector functions of doubles are as good as those of floats
    double integer = 0; ///< of any width, and bool

    constexpr double of(DType dtype) const
    {
        switch (dtype) {
        case DType::F16: return float16;
        case DType::BF16: return bfloat16;
        case DType::F32: return float32;
        case DType::F64: return float64;
        default: return integer;
        }
    }
    bool operator==(const Tolerances&) const = default;
};

/// What a back end says of one target: all that the engine above plugins/ asks instead of comparing kinds. A plain
/// value, made by TargetKind::traits when the target's text is read. The defaults fit a device that is no processor of
/// this machine, has no deploy libraries yet, and runs the schedules that Lathe has for processors.
struct BackendTraits
{
    /// Whose rules and presets of the reference compiler apply: "cpu", "gpu" or "mali".
    std::string family = "cpu";
    KernelForm form = KernelForm::Phases; ///< of its kernels: builders lower to it
    CostClock clock = CostClock::Device;
    /// Kernels run on the cores that building and searching use, so these wait while one is timed.
    bool sharesCores = false;
    /// A device of this target can be in this machine: false for code of another processor.
    bool runsHere = true;
    /// Deploy libraries can be made for it.
    bool libraries = false;
    /// The family of the processor that its code runs on, or that the device is beside, as triples name it: "aarch64".
    /// Empty: that of the target's -mtriple, else this machine's.
    std::string machine;
    /// Target of the back end that links its libraries, "cpu -mtriple=aarch64-linux-gnu"; where that is not installed,
    /// a linker of this machine's does. Empty: its own does.
    std::string linker;
    /// What the images of Lathe's own partition are converted to, "NHWC" or "NCHW", where nobody asked for a layout;
    /// empty: they stay.
    std::string layout;
    /// Targets of one such name learn from each other: what was measured for one says something of another. Also the
    /// name under which a head start for them is installed, "cpu-x86_64". Empty: nothing is carried over.
    std::string headStart;
    /// The figures that an opened device tells of itself replace presets. False where they are detected already, or
    /// belong to a processor that the target names.
    bool takesDeviceFigures = false;
    Tolerances tolerance;
    /// Its devices compute nothing: they say how long kernels should take on one of this other target,
    /// "cuda -arch=sm_86", for which libraries are made. What they say is expected and never measured, no output is
    /// compared, and nothing is run to be timed. Empty: they compute.
    std::string standsFor;

    bool operator==(const BackendTraits&) const = default;
};

} // namespace lathe
