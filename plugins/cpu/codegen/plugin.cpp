#include "plugins/cpu/codegen/cpu_codegen.h"

/// The plugin's one entry: see core/backend/codegen.h.
extern "C" __attribute__((visibility("default"))) const lathe::backend::CodegenPlugin* lathe_codegen_create()
{
    static const lathe::backend::CodegenPlugin plugin{lathe::backend::buildId(), "cpu",
                                                      &lathe::cpu::CpuCodegen::create};
    return &plugin;
}
