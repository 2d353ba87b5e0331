#include "tests/plugins/cuda/kernels/printed.h"

namespace lathe::cuda::kernels {

Result<PrintedKernel> printed(const schedule::State& state, const std::vector<bool>& constantInputs,
                              const std::string& name)
{
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.name = name;
    options.constantInputs = constantInputs;
    PrintedKernel kernel;
    LATHE_TRY_ASSIGN(kernel.lowered, schedule::lower(state, options));
    LATHE_TRY_ASSIGN(kernel.source, backend::printCuda(kernel.lowered.nest));
    return kernel;
}

} // namespace lathe::cuda::kernels
