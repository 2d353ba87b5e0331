#include "core/backend/codegen.h"

#include "tests/examples/back_end/beside.h"

using namespace lathe;

namespace {

/// A loom runs what its processor runs, so the CPU's generator makes it.
Result<std::unique_ptr<backend::Codegen>> create(const Target& target)
{
    auto* const entry = reinterpret_cast<backend::CodegenPluginFn>(
        entryBeside(reinterpret_cast<const void*>(&create), "cpu_codegen.so", "lathe_codegen_create"));
    if (entry == nullptr)
        return makeError(Errc::NotFound, "a loom needs the CPU's code generator beside its own");
    LATHE_TRY_ASSIGN(const Target processor, Target::parse("cpu -threads=" + std::to_string(target.threads())));
    return entry()->create(processor);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const backend::CodegenPlugin* lathe_codegen_create()
{
    static const backend::CodegenPlugin plugin{backend::buildId(), "loom", &create};
    return &plugin;
}
