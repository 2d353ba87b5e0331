#include "plugins/cuda/device/lead.h"

#include "plugins/cuda/device/errors.h"

namespace lathe::cuda {

std::string leadPtx()
{
    return std::string(".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry ") + kLeadKernel
           + "(.param .u64 cycles)\n"
             "{\n"
             "    .reg .pred %p<2>;\n"
             "    .reg .b64 %rd<5>;\n"
             "    ld.param.u64 %rd1, [cycles];\n"
             "    mov.u64 %rd2, %clock64;\n"
             "LOOP:\n"
             "    mov.u64 %rd3, %clock64;\n"
             "    sub.u64 %rd4, %rd3, %rd2;\n"
             "    setp.lt.u64 %p1, %rd4, %rd1;\n"
             "    @%p1 bra LOOP;\n"
             "    ret;\n"
             "}\n";
}

Lead::~Lead()
{
    if (m_module != nullptr)
        m_driver.moduleUnload(m_module);
}

int Lead::load()
{
    if (m_module == nullptr)
        if (const int code = m_driver.moduleLoad(&m_module, leadPtx().c_str(), 0, nullptr, nullptr); code != kSuccess) {
            m_module = nullptr;
            return code;
        }
    const int code = m_driver.moduleGetFunction(&m_function, m_module, kLeadKernel);
    if (code != kSuccess)
        m_function = nullptr;
    return code;
}

int Lead::start(Stream stream, std::uint64_t nanoseconds)
{
    if (m_function == nullptr && !m_isRefused)
        if (const int code = load(); code != kSuccess) {
            if (isLasting(code) || code == kOutOfMemory)
                return code;
            m_isRefused = true;
        }
    if (m_function == nullptr)
        return kSuccess;
    std::uint64_t cycles = nanoseconds * m_cyclesPerMicrosecond / 1000;
    void* parameters[] = {&cycles};
    return m_driver.launch(m_function, 1, 1, 1, 1, 1, 1, 0, stream, static_cast<void**>(parameters), nullptr);
}

} // namespace lathe::cuda
