// The rows of what a model is made from, and of what is opened with it.

#include "core/graph/pass_runner.h"
#include "core/session/options/option_row.h"

#include <algorithm>

namespace lathe::session {

namespace {

std::vector<std::string> passWords()
{
    std::vector<std::string> words;
    for (const graph::PassInfo& pass : graph::allPasses())
        if (!pass.needed)
            words.emplace_back(pass.name);
    return words;
}

const std::vector<std::string> kOnModels = {"tasks", "tune",   "compile",  "graph-tune", "run",
                                            "bench", "verify", "roofline", "weights"};

OptionTable<ModelSpec> makeModelTable()
{
    using S = ModelSpec;
    OptionTable<S> table = {
        optionRow(
            &S::source,
            {.flag = "MODEL",
             .type = OptionType::Text,
             .help = "An ONNX file, or zoo:NAME for a network that comes with Lathe (lathe-cli zoo list); run, bench "
                     "and verify also take a library, FILE.so",
             .commands = kOnModels,
             .key = "source"}),
        optionRow(&S::batch, {.flag = "--batch",
                              .type = OptionType::Whole,
                              .placeholder = "N",
                              .help = "Set the leading dimension of all inputs",
                              .commands = kOnModels,
                              .key = "batch",
                              .low = 0,
                              .usual = "as the model says",
                              .condition = "model: batch",
                              .serious = true}),
        optionRow(&S::shapes, {.flag = "--shape",
                               .type = OptionType::Shapes,
                               .placeholder = "IN=1,3,224,224",
                               .help = "Set the shape of one input; may be given several times",
                               .commands = kOnModels,
                               .key = "shapes",
                               .usual = "as the model says",
                               .condition = "model: shapes",
                               .serious = true}),
        optionRow(&S::sizes,
                  {.flag = "--dim",
                   .type = OptionType::Sizes,
                   .placeholder = "NAME=N",
                   .help = "Set an open dimension of the model, in all inputs that have it, by its name in the "
                           "model, or as INPUT:AXIS if it has none; may be given several times",
                   .commands = kOnModels,
                   .key = "sizes",
                   .usual = "as last time in the project, else 1 for a batch",
                   .condition = "model: sizes",
                   .serious = true,
                   .sparse = true}),
        optionRow(&S::layout, {.flag = "--layout",
                               .type = OptionType::Word,
                               .placeholder = "LAYOUT",
                               .help = "Dimension order of images",
                               .commands = kOnModels,
                               .key = "layout",
                               .words = {"NHWC", "NCHW"},
                               .usual = "as the model says",
                               .condition = "model: layout",
                               .serious = true}),
        optionRow(&S::softmax, {.flag = "--softmax",
                                .type = OptionType::Flag,
                                .help = "Append a softmax over the last dimension to the network's output, or to each "
                                        "two-dimensional float output if it has several",
                                .commands = kOnModels,
                                .key = "softmax",
                                .condition = "model: softmax",
                                .serious = true,
                                .sparse = true}),
        optionRow(
            &S::partition,
            {.flag = "--partition",
             .type = OptionType::Word,
             .placeholder = "HOW",
             .help = "How to split the network into tasks: Lathe's own way, or exactly as the reference compiler does",
             .commands = kOnModels,
             .key = "partition",
             .words = {"reference", "lathe"},
             .condition = "model: partition",
             .serious = true}),
        optionRow(
            &S::hardware,
            {.flag = "--hardware",
             .type = OptionType::Text,
             .placeholder = "FILE|CPU",
             .help =
                 "Hardware parameters for the search: a file of name = value lines, a JSON file, or a "
                 "CPU's name as for -mcpu, or for tune with --broker the key of devices there; stored with the project",
             .commands = kOnModels,
             .key = "hardware",
             .usual = "those of the project, else those of the target",
             .condition = "model: hardware",
             .serious = true}),
        optionRow(&S::seed, {.flag = "--weight-seed",
                             .type = OptionType::Whole,
                             .placeholder = "N",
                             .help = "Seed for the weights of a zoo network, below 2^32",
                             .commands = kOnModels,
                             .key = "seed",
                             .condition = "model: seed"}),
        optionRow(&S::withoutPasses,
                  {.flag = "--without-pass",
                   .type = OptionType::Texts,
                   .placeholder = "NAME",
                   .help = "Skip this pass over the network, named as in --pass-log; may be given several times",
                   .commands = kOnModels,
                   .key = "without_passes",
                   .words = passWords(),
                   .condition = "model: without passes",
                   .serious = true,
                   .sparse = true}),
        optionRow(&S::passLog,
                  {.flag = "--pass-log",
                   .type = OptionType::Flag,
                   .help = "Print to standard error what each pass over the network changed, and how long it took",
                   .commands = kOnModels}),
    };
    // Projects write 0 for a batch that was left open.
    Option<S>& batch = optionOfKey(table, "batch");
    batch.stored = [](const S& s) -> OptionValue { return s.batch.value_or(0); };
    batch.set = [](S& s, const OptionValue& value) {
        std::int64_t wanted = 0;
        const bool fits = std::holds_alternative<std::monostate>(value) || FieldOf<std::int64_t>::set(wanted, value);
        if (fits)
            s.batch = wanted > 0 ? std::optional(wanted) : std::nullopt;
        return fits;
    };
    return table;
}

/// The session's target, and behind it further ones for the same library.
Option<OpenOptions> targetsRow()
{
    Option<OpenOptions> row;
    row.flag = "--target";
    row.type = OptionType::Texts;
    row.placeholder = "TARGET";
    row.help =
        "What to generate code for: cpu, cuda, opencl or sim, with -key=value options (\"cpu -mcpu=znver4 "
        "-threads=2\"); given several times, compile makes one library with a variant for each and runs the best "
        "that the processor supports";
    row.commands = kOnModels;
    row.usual = "what the project was last used for, else cpu";
    row.get = [](const OpenOptions& o) -> OptionValue {
        std::vector<std::string> targets;
        if (!o.target.empty())
            targets.push_back(o.target);
        targets.insert(targets.end(), o.variants.begin(), o.variants.end());
        return targets;
    };
    row.set = [](OpenOptions& o, const OptionValue& value) {
        const auto* const targets = std::get_if<std::vector<std::string>>(&value);
        if (targets == nullptr)
            return false;
        o.target = targets->empty() ? std::string() : targets->front();
        o.variants.assign(targets->begin() + (targets->empty() ? 0 : 1), targets->end());
        return true;
    };
    row.field = [](const OpenOptions& o) -> const void* { return &o.target; };
    return row;
}

OptionTable<OpenOptions> makeOpenTable()
{
    using S = OpenOptions;
    return {
        targetsRow(),
        optionRow(&S::project, {.flag = "--project",
                                .type = OptionType::Text,
                                .placeholder = "P.lathe",
                                .help = "Project file with the history",
                                .commands = kOnModels}),
        optionRow(
            &S::templateFiles,
            {.flag = "--template-file",
             .type = OptionType::Texts,
             .placeholder = "FILE",
             .help = "Template of your own for policy template, as the manual describes them; may be given several "
                     "times",
             .commands = {"tasks", "tune", "compile"},
             .usual = "none"}),
    };
}

} // namespace

OptionTable<ModelSpec>& optionTable(const ModelSpec*)
{
    static OptionTable<ModelSpec> table = makeModelTable();
    return table;
}

OptionTable<OpenOptions>& optionTable(const OpenOptions*)
{
    static OptionTable<OpenOptions> table = makeOpenTable();
    return table;
}

} // namespace lathe::session
