#pragma once

#include "tests/cuda_driver/ptx/machine.h"

#include <QString>
#include <QtTest>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace lathe::ptx::testing {

/// PTX of one kernel "test" with registers of each type, %p %h (16 bits) %r (32) %d (64) %f %g (float64), 40 each.
/// @param parameters  as in "(.param .u64 out)"
inline std::string kernelText(const std::string& parameters, const std::string& body, const std::string& before = "")
{
    return ".version 8.4\n.target sm_80\n.address_size 64\n" + before + "\n.visible .entry test(" + parameters
           + ")\n{\n.reg .pred %p<40>;\n.reg .b16 %h<40>;\n.reg .b32 %r<40>;\n.reg .b64 %d<40>;\n.reg .f32 %f<40>;\n"
             ".reg .f64 %g<40>;\n"
           + body + "\nret;\n}\n";
}

/// The line of the text where this stands, from 1.
inline unsigned lineOf(const std::string& text, const std::string& mark)
{
    return 1
           + static_cast<unsigned>(
               std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(mark)), '\n'));
}

/// A program in the interpreter, with memory of its own. No driver is in between.
class KernelRun
{
public:
    explicit KernelRun(const std::string& text)
    {
        auto loaded = load(text);
        if (auto* const error = std::get_if<LoadError>(&loaded)) {
            m_problem = error->text;
            return;
        }
        m_program = std::get<std::shared_ptr<const Program>>(loaded);
        for (const GlobalVariable& variable : m_program->globals) {
            Allocation* const place = m_memory.allocate(variable.size);
            place->readOnly = variable.isConst;
            if (!variable.initial.empty())
                std::memcpy(place->bytes.get(), variable.initial.data(), variable.size);
            std::memset(place->initialized.get(), 1, variable.size);
            m_globals.push_back(place->base);
        }
    }

    const std::string& problem() const { return m_problem; }
    const Program& program() const { return *m_program; }
    DeviceMemory& memory() { return m_memory; }

    template<typename T>
    uint64_t put(const std::vector<T>& values)
    {
        Allocation* const place = m_memory.allocate(values.size() * sizeof(T));
        std::memcpy(place->bytes.get(), values.data(), place->size);
        std::memset(place->initialized.get(), 1, place->size);
        return place->base;
    }
    uint64_t room(size_t bytes) { return m_memory.allocate(bytes)->base; }

    template<typename T>
    std::vector<T> get(uint64_t address)
    {
        const Allocation* const place = m_memory.find(address);
        std::vector<T> values(place->size / sizeof(T));
        std::memcpy(values.data(), place->bytes.get(), values.size() * sizeof(T));
        return values;
    }

    LaunchReport run(Size3 grid, Size3 block, std::initializer_list<uint64_t> parameters, uint32_t dynamicShared = 0,
                     AsyncArrival arrival = AsyncArrival::AtIssue, const char* name = "test")
    {
        LaunchRequest request;
        request.program = m_program;
        request.kernel = m_program->find(name);
        request.globals = m_globals;
        request.grid = grid;
        request.block = block;
        request.dynamicShared = dynamicShared;
        request.arrival = arrival;
        request.multiprocessors = 4;
        request.mostWarpInstructions = 20'000'000;
        request.quick = quick;
        request.checked = checked;
        std::vector<uint8_t> bytes(request.kernel->parameterBytes);
        size_t i = 0;
        for (const uint64_t parameter : parameters) {
            std::memcpy(bytes.data() + request.kernel->parameters[i].offset, &parameter,
                        request.kernel->parameters[i].size);
            ++i;
        }
        request.parameters = bytes;
        return runLaunch(request, m_memory);
    }

    bool quick = true, checked = true; // of the launches to come

private:
    DeviceMemory m_memory{uint64_t(1) << 30};
    std::shared_ptr<const Program> m_program;
    std::vector<uint64_t> m_globals;
    std::string m_problem;
};

inline QString textOf(const LaunchReport& report)
{
    QString text = report.fault ? QString::fromStdString("fault: " + report.fault->text + "\n") : QString();
    for (const Finding& finding : report.findings.all())
        text += QString::fromStdString(std::string(nameOf(finding.kind)) + ": " + finding.text + "\n");
    return text;
}

/// The launch ended without fault or finding.
#define LATHE_VERIFY_CLEAN(report)                                                                                     \
    QVERIFY2(!(report).fault && (report).findings.all().empty(), qPrintable(lathe::ptx::testing::textOf(report)))

} // namespace lathe::ptx::testing
