#pragma once

#include "core/support/message.h"
#include "core/templates/annotate_choices.h"
#include "core/templates/config.h"
#include "core/templates/reorder_choices.h"
#include "core/templates/split_choices.h"

#include <functional>
#include <span>

namespace lathe::templates {

/// What a knob chooses among; also how logs tag it.
enum class KnobKind : std::uint8_t
{
    Split, ///< sp
    Reorder, ///< re
    Annotate, ///< an
    Option ///< ot
};

/// A parameter of a template, with all its choices.
struct Knob
{
    std::string name;
    KnobKind kind = KnobKind::Option;
    std::vector<Entity> choices; ///< at least one
    std::int64_t extent = 0; ///< of the axis that a split splits; 0: it is no split
};

/// A rule that configurations of a space must keep before they are worth a build. A rule that is broken is the
/// reference's instantiation error (autotvm.md 2.3, 3.4).
struct Constraint
{
    std::string name; ///< for counting what was refused by it
    /// Nothing, or why this configuration cannot be built.
    std::function<std::optional<Message>(const Config&)> refusal;
};

/// All configurations of a template for one workload: the product of its knobs' choices (autotvm.md 2). Spaces of 10^9
/// configurations are common, so nothing here enumerates one; a configuration is found by its index, in which the first
/// knob varies fastest: digit j = index / (choices of the knobs before j) mod (choices of knob j).
class ConfigSpace
{
public:
    // Errors of these: InvalidArgument for a name that is taken, rules without any choice, and spaces of 2^63 and more
    // configurations; what the choices refuse.
    Result<> addSplit(const std::string& name, const SplitRule& rule);
    Result<> addReorder(const std::string& name, const ReorderRule& rule);
    Result<> addAnnotate(const std::string& name, const AnnotateRule& rule);
    Result<> addOption(const std::string& name, const std::vector<JsonValue>& values);
    Result<> addOption(const std::string& name, std::initializer_list<std::int64_t> values);
    void addConstraint(Constraint constraint) { m_constraints.push_back(std::move(constraint)); }

    std::span<const Knob> knobs() const { return m_knobs; }
    const Knob* find(std::string_view name) const; ///< null: there is no such knob
    std::span<const Constraint> constraints() const { return m_constraints; }
    /// How many configurations there are, also those that constraints refuse. 1 without knobs.
    std::uint64_t size() const { return m_size; }

    /// Which choice of each knob; index < size().
    std::vector<std::uint32_t> digits(std::uint64_t index) const;
    std::uint64_t indexOf(std::span<const std::uint32_t> digits) const;

    /// Errors: InvalidArgument for an index beyond the space.
    Result<Config> at(std::uint64_t index) const;
    /// The place of a configuration, by what it chooses; its own index is not looked at. The outermost size of a split
    /// may be written out instead of -1, as older logs do.
    /// Errors: NotFound, naming the knob: one that the space lacks, that the configuration lacks, or whose value is
    /// none of its choices.
    Result<std::uint64_t> indexOf(const Config& config) const;

    /// Why a configuration cannot be built, by the first constraint that refuses it; nothing: it may be.
    std::optional<Message> refusal(const Config& config) const;

    /// The features of the kind `knob` (autotvm.md 7.2): sizes of splits as they are, orders, for each mark a one of 11
    /// places, options as numbers (true is 1; a text counts as its place among the choices). In the order of the
    /// space's knobs, whatever the configuration's is, and of a length that is the same for all; 0 where it lacks a
    /// knob.
    std::vector<float> features(const Config& config) const;

private:
    Result<> add(Knob knob);

    std::vector<Knob> m_knobs;
    std::vector<Constraint> m_constraints;
    std::uint64_t m_size = 1;
};

} // namespace lathe::templates
