#pragma once

#include "core/deploy/library.h"
#include "core/support/files.h"
#include "hand_network.h"

#include <QProcess>
#include <QString>
#include <QStringList>

#include <cstring>
#include <fstream>

/// Libraries of the hand network, made without our code generator.
namespace lathe::test {

using namespace lathe::deploy;

struct Output
{
    int code = -1;
    QString out, err;
};

inline Output runProgram(const QString& program, const QStringList& arguments, const QString& folder)
{
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(program, arguments);
    if (!process.waitForFinished(60000))
        return {-1, {}, "did not end: " + process.errorString()};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2,
            QString::fromUtf8(process.readAllStandardOutput()), QString::fromUtf8(process.readAllStandardError())};
}

/// "Compiles" the hand network: its kernels exist as an object file. Links with the system's compiler.
class HandCompiler : public Compiler
{
public:
    HandCompiler(std::vector<KernelInfo> kernels, QString folder)
        : m_kernels(std::move(kernels))
        , m_folder(std::move(folder))
    {
    }

    Result<CompiledKernels> compile(std::span<const KernelSource>) override
    {
        LATHE_TRY_ASSIGN(const std::string object, readFile(HAND_KERNELS));
        CompiledKernels compiled;
        compiled.objects.emplace_back(object.size());
        std::memcpy(compiled.objects.front().data(), object.data(), object.size());
        compiled.kernels = m_kernels;
        return compiled;
    }

    Result<> link(const backend::LibraryRequest& request) override
    {
        const auto path = [this](const QString& name) { return (m_folder + "/" + name).toStdString(); };
        const auto write = [](const std::string& file, const void* data, std::size_t bytes) {
            std::ofstream(file, std::ios::binary)
                .write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
        };
        QStringList arguments = {"-shared", "-nostartfiles", "-Wl,-soname," + QString::fromStdString(request.name),
                                 "-o", QString::fromStdString(request.output.string())};
        for (std::size_t i = 0; i < request.objects.size(); ++i) {
            const std::string file = path(QString("object%1.o").arg(i));
            write(file, request.objects[i].data(), request.objects[i].size());
            arguments << QString::fromStdString(file);
        }
        std::string assembly;
        for (const backend::BinarySection& section : request.sections) {
            const std::string file = path(QString::fromStdString(section.symbol) + ".bin");
            write(file, section.bytes.data(), section.bytes.size());
            assembly += ".section .rodata." + section.symbol + ",\"a\"\n.balign " + std::to_string(section.alignment)
                        + "\n.globl " + section.symbol + "\n.hidden " + section.symbol + "\n" + section.symbol
                        + ":\n.incbin \"" + file + "\"\n.globl " + section.symbol + "_end\n.hidden " + section.symbol
                        + "_end\n" + section.symbol + "_end:\n";
        }
        assembly += ".section .note.GNU-stack,\"\",@progbits\n";
        write(path("sections.s"), assembly.data(), assembly.size());
        std::string script = "{ global: ";
        for (const std::string& name : request.exports)
            script += name + "; ";
        script += "local: *; };\n";
        write(path("exports.map"), script.data(), script.size());
        arguments << QString::fromStdString(path("sections.s"));
        for (const std::filesystem::path& archive : request.archives)
            arguments << QString::fromStdString(archive.string());
        arguments << "-Wl,--gc-sections,-z,defs,--version-script=" + QString::fromStdString(path("exports.map"));
        const Output result = runProgram(C_COMPILER, arguments, m_folder);
        if (result.code != 0)
            return makeError(Errc::BuildFailed, result.err.toStdString());
        return {};
    }

private:
    std::vector<KernelInfo> m_kernels;
    QString m_folder;
};

/// A library of the hand network at `file`, not published. Its object files lie in `scratch`.
inline Result<StagedLibrary> stageHandLibrary(const std::filesystem::path& file, const char* reluKernel,
                                              const QString& scratch)
{
    HandNetwork network;
    makeHandNetwork(network, reluKernel);
    HandCompiler compiler(network.kernels, scratch);
    LibraryOptions options;
    options.output = file;
    options.runtimeArchive = LATHE_RUNTIME_ARCHIVE;
    options.inputLayouts = {"NCHW"};
    return buildLibrary(network.graph, network.partition, network.choices, compiler, options);
}

} // namespace lathe::test
