#pragma once

#include "core/support/result.h"
#include "core/target/backend_traits.h"
#include "core/target/target.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe {

/// A word "-key=value" of a target's text.
struct TargetWord
{
    std::string key;
    /// What the word wants, "a number of threads from 1 to 4096", for values that it refuses; empty for those that it
    /// takes. Null: any.
    std::function<std::string(std::string_view value)> refusal;
};

TargetWord threadsWord(); ///< "-threads=N", 1 to 4096
TargetWord integerWord(std::string key);
TargetWord choiceWord(std::string key, std::vector<std::string> values);

/// A target that pickers offer before anybody typed one.
struct OfferedTarget
{
    std::string text; ///< "cpu -threads=1"
    std::string title; ///< for people: "this CPU, 1 thread"
    /// Likewise where one device of it was found, with "{device}" in the place of its name: "OpenCL device: {device}".
    /// Empty: the title says enough.
    std::string named = {};
};

/// A text in which a back end shows what becomes of a kernel: its code, a compiler's own form of it, an estimate.
struct ListingKind
{
    std::string name; ///< "ir", "assembly", "source": by which it is asked for
    std::string title; ///< for people, in the field's words: "LLVM IR"
    /// How it is read: "ir" (LLVM's), "x86", "arm", "c" (CUDA and OpenCL C too), "nest" (as ir::print writes); "text":
    /// as it is. The back end's answer may say more exactly.
    std::string language;
    /// Of targets whose kernels have this form alone; nothing: of all.
    std::optional<KernelForm> form = {};
};

/// A kind of target describes itself. Core knows the reference's kinds and the simulator; the `rules` half of a plugin
/// (core/backend/rules.h) adds its kind or replaces what is known of it.
struct TargetKind
{
    std::string name; ///< the first word of targets: letters, digits and '_' in lower case
    /// What people call its devices, "NVIDIA GPUs (CUDA)": lists of devices name them where there is none. Empty:
    /// lists do not mention that there is none.
    std::string devices;
    std::vector<TargetWord> words; ///< in alphabetical order
    std::vector<OfferedTarget> offered;
    /// Of a target of this kind whose words were checked. Null: a BackendTraits as it is.
    std::function<BackendTraits(const Target& target)> traits;
    /// Limits of the hardware before a device was opened, each with its origin: "preset ..." what takesDeviceFigures
    /// may replace, "detected" what was asked of this machine, "user" what the target's words say. Null: those of a
    /// processor that tells nothing.
    std::function<Hardware(const Target& target)> presets;
    std::vector<ListingKind> listings = {}; ///< in the order in which they are offered
};

/// Those of its kind's listings that can be made of a target's kernels.
std::vector<ListingKind> listingsOf(const Target& target);

using TargetKindPtr = std::shared_ptr<const TargetKind>;

/// Adds a kind, or replaces the one of its name; targets that were read before keep what they have. Any thread.
void addTargetKind(TargetKind kind);
/// Null: there is none of that name. Any thread.
TargetKindPtr findTargetKind(std::string_view name);
/// Core's in their order, then those that were added, in theirs. Any thread.
std::vector<TargetKindPtr> targetKinds();

} // namespace lathe
