#include "core/support/message.h"
#include "plugins/cpu/codegen/emitter.h"

#include <fmt/format.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace lathe::cpu {

namespace {

constexpr std::int64_t kMaxRegisterBytes = 64 * 1024;

const char* nameOf(ir::Scope scope)
{
    switch (scope) {
    case ir::Scope::Parameter: return "parameter";
    case ir::Scope::Team: return "team";
    case ir::Scope::Part: return "part";
    case ir::Scope::Register: return "register";
    case ir::Scope::Shared: return "shared";
    case ir::Scope::Local: return "local";
    }
    return "unknown";
}

void collectLoads(const ir::Expr& e, std::unordered_set<std::int32_t>& used)
{
    if (e.get() == nullptr)
        return;
    if (e->kind == ir::ExprKind::Load)
        used.insert(e->source);
    for (const ir::Expr& operand : e->operands)
        collectLoads(operand, used);
}

void collectBuffers(const ir::Stmt& stmt, std::unordered_set<std::int32_t>& used,
                    std::unordered_set<std::int32_t>& written)
{
    if (!stmt)
        return;
    if (stmt->buffer >= 0)
        used.insert(stmt->buffer);
    if (stmt->kind == ir::StmtKind::Store)
        written.insert(stmt->buffer);
    collectLoads(stmt->min, used);
    collectLoads(stmt->extent, used);
    collectLoads(stmt->value, used);
    collectLoads(stmt->condition, used);
    for (const ir::Expr& i : stmt->indices)
        collectLoads(i, used);
    for (const ir::Stmt& s : stmt->body)
        collectBuffers(s, used, written);
}

} // namespace

std::string phaseSymbol(const ir::LoopNest& nest, std::size_t phase)
{
    return fmt::format("{}_p{}", nest.name, phase);
}

PhaseEmitter::PhaseEmitter(llvm::Module& module, const ir::LoopNest& nest, const CpuTarget& target,
                           const ir::PrintedNest* printed)
    : m_module(module)
    , m_nest(nest)
    , m_target(target)
    , m_printed(printed)
    , m_scratch(ir::scratchLayout(nest))
    , m_context(module.getContext())
    , m_builder(m_context)
{
    std::unordered_set<std::int32_t> used;
    for (const ir::Stmt& phase : nest.phases)
        collectBuffers(phase, used, m_written);
    llvm::FastMathFlags flags;
    flags.setAllowContract(true); // and nothing else: sums keep their order
    m_builder.setFastMathFlags(flags);
}

llvm::Value* PhaseEmitter::fail(Errc code, std::string message)
{
    if (!m_error)
        m_error = makeError(code, say(Msg::KernelNoted, m_nest.name, std::move(message)));
    return llvm::PoisonValue::get(m_builder.getInt64Ty());
}

void PhaseEmitter::prepareBuffers(const ir::Stmt& body)
{
    std::unordered_set<std::int32_t> used;
    std::unordered_set<std::int32_t> written;
    collectBuffers(body, used, written);
    const std::size_t count = m_nest.buffers.size();
    m_bases.assign(count, nullptr);
    m_scopes.assign(count, nullptr);
    m_others.assign(count, nullptr);
    for (const std::int32_t b : used) {
        if (b < 0 || static_cast<std::size_t>(b) >= count) {
            fail(Errc::Internal, fmt::format("buffer {} does not exist", b));
            return;
        }
    }

    llvm::Value* args = m_function->getArg(0);
    llvm::Type* pointer = m_builder.getPtrTy();
    const std::uint64_t pointerBytes = m_module.getDataLayout().getPointerSize();
    llvm::MDNode* none = llvm::MDNode::get(m_context, {});
    const auto loadPointer = [&](llvm::Value* from, std::uint64_t slot, std::int64_t bytes, const std::string& name) {
        llvm::LoadInst* loaded = m_builder.CreateLoad(
            pointer, m_builder.CreateConstGEP1_64(m_builder.getInt8Ty(), from, slot * pointerBytes), name);
        const auto number = [&](std::uint64_t v) {
            return llvm::MDNode::get(m_context, llvm::ConstantAsMetadata::get(m_builder.getInt64(v)));
        };
        loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
        loaded->setMetadata(llvm::LLVMContext::MD_nonnull, none);
        loaded->setMetadata(llvm::LLVMContext::MD_align, number(kLine));
        if (bytes > 0)
            loaded->setMetadata(llvm::LLVMContext::MD_dereferenceable, number(static_cast<std::uint64_t>(bytes)));
        return loaded;
    };

    llvm::Value* tensors = nullptr;
    llvm::Value* team = nullptr;
    llvm::MDBuilder md(m_context);
    llvm::MDNode* domain = md.createAnonymousAliasScopeDomain(m_function->getName());
    for (std::size_t b = 0; b < count; ++b) {
        const ir::Buffer& buffer = m_nest.buffers[b];
        if (!used.contains(static_cast<std::int32_t>(b)))
            continue;
        if (buffer.dtype == DType::F16 && !m_target.hasHalfConversion) {
            fail(Errc::Unsupported,
                 fmt::format("'{}' has no instructions for float16 (buffer '{}')", m_target.cpu, buffer.name));
            return;
        }
        switch (buffer.scope) {
        case ir::Scope::Parameter: {
            const auto slot = std::find(m_nest.parameters.begin(), m_nest.parameters.end(),
                                        static_cast<std::int32_t>(b));
            if (slot == m_nest.parameters.end()) {
                fail(Errc::Internal, fmt::format("buffer '{}' is no parameter of the kernel", buffer.name));
                return;
            }
            if (tensors == nullptr)
                tensors = loadPointer(args, 0, 0, "tensors");
            m_bases[b] = loadPointer(tensors, static_cast<std::uint64_t>(slot - m_nest.parameters.begin()),
                                     bufferBytes(buffer), buffer.name);
            break;
        }
        case ir::Scope::Team:
            if (team == nullptr)
                team = loadPointer(args, 1, m_scratch.teamBytes, "team");
            m_bases[b] = m_builder.CreateConstGEP1_64(m_builder.getInt8Ty(), team,
                                                      static_cast<std::uint64_t>(m_scratch.offsets[b]), buffer.name);
            break;
        case ir::Scope::Part:
            m_bases[b] = m_builder.CreateConstGEP1_64(m_builder.getInt8Ty(), m_function->getArg(1),
                                                      static_cast<std::uint64_t>(m_scratch.offsets[b]), buffer.name);
            break;
        case ir::Scope::Register: {
            if (bufferBytes(buffer) > kMaxRegisterBytes) {
                fail(Errc::Unsupported, fmt::format("the register buffer '{}' has {} bytes; at most {} are allowed",
                                                    buffer.name, bufferBytes(buffer), kMaxRegisterBytes));
                return;
            }
            const auto elements = static_cast<std::uint64_t>(bufferBytes(buffer) / sizeOf(buffer.dtype));
            llvm::AllocaInst* storage = m_builder.CreateAlloca(llvm::ArrayType::get(memoryType(buffer.dtype), elements),
                                                               nullptr, buffer.name);
            storage->setAlignment(llvm::Align(kLine));
            m_bases[b] = storage;
            break;
        }
        case ir::Scope::Shared:
        case ir::Scope::Local:
            fail(Errc::Unsupported,
                 fmt::format("the CPU has no {} memory (buffer '{}')", nameOf(buffer.scope), buffer.name));
            return;
        }
        if (buffer.scope != ir::Scope::Register)
            m_scopes[b] = md.createAnonymousAliasScope(domain, buffer.name);
    }
    const std::vector<llvm::MDNode*> bare = m_scopes;
    for (std::size_t b = 0; b < count; ++b) {
        if (bare[b] == nullptr)
            continue;
        std::vector<llvm::Metadata*> others;
        for (std::size_t o = 0; o < count; ++o)
            if (o != b && bare[o] != nullptr)
                others.push_back(bare[o]);
        m_others[b] = llvm::MDNode::get(m_context, others);
        m_scopes[b] = llvm::MDNode::get(m_context, {bare[b]});
    }
}

Result<> PhaseEmitter::emit(std::size_t phase, const std::string& symbol)
{
    const ir::Stmt& body = m_nest.phases[phase];
    llvm::Type* i32 = m_builder.getInt32Ty();
    llvm::Type* pointer = m_builder.getPtrTy();
    auto* type = llvm::FunctionType::get(i32, {pointer, pointer, i32, i32}, false);
    m_function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, m_module);
    m_function->addFnAttr(llvm::Attribute::NoUnwind);
    m_function->addFnAttr("target-cpu", m_target.cpu);
    m_function->addFnAttr("target-features", m_target.features);
    m_function->addFnAttr("prefer-vector-width", std::to_string(m_target.vectorBytes * 8));
    m_function->addFnAttr("no-builtins");
    m_function->addParamAttr(0, llvm::Attribute::NoAlias);
    m_function->addParamAttr(0, llvm::Attribute::ReadOnly);
    m_function->addParamAttr(1, llvm::Attribute::NoAlias);
    m_function->addParamAttr(1, llvm::Attribute::getWithAlignment(m_context, llvm::Align(kLine)));

    if (m_printed != nullptr)
        describeSource();
    llvm::BasicBlock* entry = llvm::BasicBlock::Create(m_context, "entry", m_function);
    llvm::BasicBlock* start = llvm::BasicBlock::Create(m_context, "start", m_function);
    m_builder.SetInsertPoint(entry);
    prepareBuffers(body);
    m_levels.clear();
    m_levels.push_back({m_builder.CreateBr(start), {}, {}});
    m_builder.SetInsertPoint(start);
    if (!failed())
        emitPhaseBody(body);
    m_builder.SetCurrentDebugLocation({});
    m_builder.CreateRet(m_builder.getInt32(0));
    if (m_error)
        return *std::move(m_error);
    return {};
}

void PhaseEmitter::describeSource()
{
    m_module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    llvm::DIBuilder builder(m_module);
    llvm::DIFile* const file = builder.createFile("program", "");
    builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "lathe", false, "", 0, "",
                              llvm::DICompileUnit::LineTablesOnly);
    m_function->setSubprogram(builder.createFunction(file, m_function->getName(), "", file, 1,
                                                     builder.createSubroutineType(builder.getOrCreateTypeArray({})), 1,
                                                     llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition));
    builder.finalize();
}

void PhaseEmitter::locate(const ir::Stmt& stmt)
{
    if (const auto line = m_printed->lines.find(stmt.get()); line != m_printed->lines.end())
        m_builder.SetCurrentDebugLocation(
            llvm::DILocation::get(m_context, static_cast<unsigned>(line->second) + 1, 0, m_function->getSubprogram()));
}

Result<> emitPhase(llvm::Module& module, const ir::LoopNest& nest, std::size_t phase, const std::string& symbol,
                   const CpuTarget& target, const ir::PrintedNest* printed)
{
    for (const ir::Buffer& buffer : nest.buffers)
        if (buffer.shape.size() != buffer.strides.size())
            return makeError(Errc::Internal,
                             fmt::format("kernel '{}': buffer '{}' has {} dimensions and {} strides", nest.name,
                                         buffer.name, buffer.shape.size(), buffer.strides.size()));
    return PhaseEmitter(module, nest, target, printed).emit(phase, symbol);
}

} // namespace lathe::cpu
