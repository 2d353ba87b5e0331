#pragma once

#include "core/deploy/library.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/serve/device.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/support/files.h"
#include "core/target/target.h"
#include "tests/core/frontend/wire_writer.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/in_process_library.h"
#include "tests/support/must.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>

namespace lathe::test {

inline DType dtypeOf(wire::DataType type)
{
    switch (type) {
    case wire::Uint8: return DType::U8;
    case wire::Int8: return DType::I8;
    case wire::Int32: return DType::I32;
    case wire::Int64: return DType::I64;
    case wire::Bool: return DType::Bool;
    case wire::Uint32: return DType::U32;
    case wire::Uint64: return DType::U64;
    case wire::Float16: return DType::F16;
    case wire::Double: return DType::F64;
    default: return DType::F32;
    }
}

/// For which the models of a test are compiled: cpu, unless LATHE_VALUES_TARGET names another one, as for the tests
/// NAME_opencl and NAME_cuda.
inline std::string valuesTarget()
{
    return qEnvironmentVariable("LATHE_VALUES_TARGET", "cpu").toStdString();
}

/// Why the target's device half, or for CUDA its compiler, is of no use here; empty: there is a device.
inline std::string whyNoDevice(const std::string& kind)
{
    if (kind == "cuda") {
        findCudaDriver();
        if (std::string why = whyNoCompiler(); !why.empty())
            return why;
    }
    const auto devices = nlohmann::json::parse(must(serve::loadDeviceApi(pluginDir(), kind))->enumerate());
    return devices.size() == 1 ? devices[0].value("error", "") : std::string();
}

/// In initTestCase(): a device's tests need one. Where one was installed (LATHE_TEST_CUDA=1, LATHE_TEST_OPENCL=1) they
/// fail without it.
inline void skipWhereThereIsNoDevice()
{
    const auto target = must(Target::parse(valuesTarget()));
    if (target.kind() == "cpu")
        return;
    const std::string why = whyNoDevice(target.kind());
    if (why.empty())
        return;
    const QByteArray demand = "LATHE_TEST_" + QByteArray::fromStdString(target.kind()).toUpper();
    QVERIFY2(qEnvironmentVariableIntValue(demand.constData()) == 0, why.c_str());
    QSKIP(why.c_str());
}

/// An ONNX model that is compiled whole, with default schedules, and run in this process; beside it the reference
/// executor on what was imported.
class CompiledModel
{
public:
    template<typename T>
    void input(const std::string& name, wire::DataType type, const std::vector<std::int64_t>& shape,
               const std::vector<T>& values)
    {
        m_model.inputs.push_back(wire::info(name, {shape.begin(), shape.end()}, type));
        graph::HostTensor tensor = graph::HostTensor::zeros({dtypeOf(type), shape});
        if (tensor.bytes.size() != values.size() * sizeof(T))
            qFatal("values do not fit the shape of %s", name.c_str());
        std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
        m_inputs.push_back(std::move(tensor));
    }
    void node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
              const std::string& attributes = {})
    {
        m_model.nodes.push_back(wire::node(op, inputs, {output}, output, attributes));
        m_model.outputs.push_back(wire::info(output, {}));
    }
    wire::Model& model() { return m_model; }
    bool evaluates = true; ///< false: the reference executor has nothing to say of these inputs
    /// For a device, one kernel computes all outputs of a type, one behind the other, which are vectors: a driver's
    /// compiler takes half a second for each kernel.
    bool joins = false;

    /// An input of a model in a file.
    void input(graph::HostTensor tensor) { m_inputs.push_back(std::move(tensor)); }

    /// Errors are those of any step between the file and the library.
    Result<> compile()
    {
        const std::string path = write("model.onnx", m_model);
        if (!joins || valuesTarget() == "cpu")
            return compileFile(path);
        session::ModelSpec spec;
        spec.source = path;
        LATHE_TRY_ASSIGN(const auto loaded, session::loadModel(spec, valuesTarget()));
        std::map<DType, std::vector<std::string>> parts;
        for (const graph::ValueId id : loaded->imported.outputs)
            parts[loaded->imported.value(id).dtype].push_back(loaded->imported.value(id).name);
        wire::Model joined = m_model;
        joined.outputs.clear();
        for (const auto& [type, names] : parts) {
            const std::string whole = std::string("joined_") + toString(type);
            joined.nodes.push_back(wire::node("Concat", names, {whole}, whole, wire::intAttribute("axis", 0)));
            joined.outputs.push_back(wire::info(whole, {}));
        }
        LATHE_TRY(compileFile(write("joined.onnx", joined)));
        // The parts under their own names.
        const auto cut = [&](std::map<std::string, graph::HostTensor>& tensors) {
            for (const auto& [type, names] : parts) {
                std::size_t offset = 0;
                const graph::HostTensor whole = tensors.at(std::string("joined_") + toString(type));
                for (const std::string& name : names) {
                    const graph::ValueId id = *std::ranges::find_if(
                        loaded->imported.outputs,
                        [&](graph::ValueId value) { return loaded->imported.value(value).name == name; });
                    graph::HostTensor part = graph::HostTensor::zeros({type, loaded->imported.value(id).shape});
                    std::memcpy(part.bytes.data(), whole.bytes.data() + offset, part.bytes.size());
                    offset += part.bytes.size();
                    tensors[name] = std::move(part);
                }
            }
        };
        cut(m_compiled);
        if (evaluates)
            cut(m_evaluated);
        m_names.clear();
        for (const auto& [type, names] : parts)
            m_names.insert(m_names.end(), names.begin(), names.end());
        return {};
    }

    /// The same of a model that is there already, with the inputs in its order.
    Result<> compileFile(const std::string& path)
    {
        session::ModelSpec spec;
        spec.source = path;
        LATHE_TRY_ASSIGN(const auto loaded, session::loadModel(spec, valuesTarget()));
        LATHE_TRY_ASSIGN(const session::KernelChoices choices, session::chooseKernels(*loaded, nullptr, {}));
        LATHE_TRY_ASSIGN(const auto compiler,
                         deploy::makeBuilderCompiler(loaded->target.text(), 2, std::chrono::minutes(2)));
        deploy::LibraryOptions options;
        options.output = m_folder.filePath("model.so").toStdString();
        options.target = loaded->target.text();
        LATHE_TRY_ASSIGN(const deploy::StagedLibrary staged,
                         deploy::buildLibrary(loaded->graph, loaded->partition, choices.choices, *compiler, options));
        LATHE_TRY_ASSIGN(m_library, InProcessLibrary::open(staged.file, {.threads = 2}));
        m_imported = loaded->imported;
        m_instructions = staged.variants.at(0).image.instructions;
        deploy::LibraryRunRequest request;
        request.inputs = m_inputs;
        LATHE_TRY_ASSIGN(deploy::LibraryRun run, m_library->run(request));
        std::vector<graph::HostTensor> expected;
        if (evaluates) {
            LATHE_TRY_ASSIGN(expected, graph::interpret(loaded->imported, m_inputs));
        }
        for (std::size_t i = 0; i < run.outputs.size(); ++i) {
            const std::string& name = m_library->outputs()[i].name;
            m_names.push_back(name);
            m_compiled[name] = std::move(run.outputs[i]);
            if (evaluates)
                m_evaluated[name] = std::move(expected.at(i));
        }
        return {};
    }

    /// Compiles; false where the device has no half floats, which skips the test.
    bool compileHalf()
    {
        const auto made = compile();
        if (!made && made.error().message.find("(cl_khr_fp16)") != std::string::npos)
            return false;
        must(made);
        return true;
    }

    const std::vector<std::string>& names() const { return m_names; }
    InProcessLibrary& library() { return *m_library; }
    const graph::Graph& imported() const { return m_imported; }
    const std::vector<deploy::InstructionReport>& instructions() const { return m_instructions; }
    const graph::HostTensor& compiled(const std::string& name) const { return m_compiled.at(name); }
    const graph::HostTensor& evaluated(const std::string& name) const { return m_evaluated.at(name); }

private:
    std::string write(const char* name, const wire::Model& model) const
    {
        const std::string path = m_folder.filePath(name).toStdString();
        QFile file(QString::fromStdString(path));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("no file");
        const std::string text = model.write();
        file.write(text.data(), static_cast<qint64>(text.size()));
        return path;
    }

    QTemporaryDir m_folder;
    wire::Model m_model;
    std::vector<graph::HostTensor> m_inputs;
    std::unique_ptr<InProcessLibrary> m_library;
    graph::Graph m_imported;
    std::vector<deploy::InstructionReport> m_instructions;
    std::vector<std::string> m_names;
    std::map<std::string, graph::HostTensor> m_compiled, m_evaluated;
};

template<typename T>
std::vector<T> valuesOf(const graph::HostTensor& tensor)
{
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

} // namespace lathe::test
