#include "plugins/cpu/codegen/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lathe::cpu {

namespace {

const ir::Buffer& bufferAt(const ir::LoopNest& nest, std::int32_t b)
{
    return nest.buffers[static_cast<std::size_t>(b)];
}

} // namespace

llvm::Type* PhaseEmitter::memoryType(DType dtype) const
{
    llvm::LLVMContext& c = m_context;
    switch (dtype) {
    case DType::Bool:
    case DType::I8:
    case DType::U8: return llvm::Type::getInt8Ty(c);
    case DType::I16:
    case DType::U16:
    case DType::BF16: return llvm::Type::getInt16Ty(c);
    case DType::I32:
    case DType::U32: return llvm::Type::getInt32Ty(c);
    case DType::I64:
    case DType::U64: return llvm::Type::getInt64Ty(c);
    case DType::F16: return llvm::Type::getHalfTy(c);
    case DType::F32: return llvm::Type::getFloatTy(c);
    case DType::F64: return llvm::Type::getDoubleTy(c);
    }
    return nullptr;
}

llvm::Value* PhaseEmitter::fromMemory(llvm::Value* raw, DType dtype)
{
    const auto shaped = [&](llvm::Type* scalar) -> llvm::Type* {
        const auto* vector = llvm::dyn_cast<llvm::VectorType>(raw->getType());
        return vector != nullptr ? llvm::VectorType::get(scalar, vector->getElementCount()) : scalar;
    };
    switch (dtype) {
    case DType::Bool: return m_builder.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType()));
    case DType::F16: return m_builder.CreateFPExt(raw, shaped(m_builder.getFloatTy()));
    case DType::BF16: {
        llvm::Value* wide = m_builder.CreateZExt(raw, shaped(m_builder.getInt32Ty()));
        return m_builder.CreateBitCast(m_builder.CreateShl(wide, 16), shaped(m_builder.getFloatTy()));
    }
    default: return raw;
    }
}

llvm::Value* PhaseEmitter::toMemory(llvm::Value* v, DType dtype)
{
    const auto shaped = [&](llvm::Type* scalar) -> llvm::Type* {
        const auto* vector = llvm::dyn_cast<llvm::VectorType>(v->getType());
        return vector != nullptr ? llvm::VectorType::get(scalar, vector->getElementCount()) : scalar;
    };
    switch (dtype) {
    case DType::Bool: return m_builder.CreateZExt(v, shaped(m_builder.getInt8Ty()));
    case DType::F16: return m_builder.CreateFPTrunc(v, shaped(m_builder.getHalfTy()));
    case DType::BF16: { // the value is rounded already: the low half is zero
        llvm::Value* bits = m_builder.CreateBitCast(v, shaped(m_builder.getInt32Ty()));
        return m_builder.CreateTrunc(m_builder.CreateLShr(bits, 16), shaped(m_builder.getInt16Ty()));
    }
    default: return v;
    }
}

void PhaseEmitter::tag(llvm::Instruction* instruction, std::int32_t buffer) const
{
    const auto b = static_cast<std::size_t>(buffer);
    if (m_scopes[b] == nullptr)
        return;
    instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, m_scopes[b]);
    if (m_others[b]->getNumOperands() > 0)
        instruction->setMetadata(llvm::LLVMContext::MD_noalias, m_others[b]);
}

IndexForm PhaseEmitter::offsetOf(std::int32_t buffer, const std::vector<ir::Expr>& indices)
{
    IndexForm offset;
    if (buffer < 0 || static_cast<std::size_t>(buffer) >= m_nest.buffers.size()) {
        fail(Errc::Internal, fmt::format("buffer {} does not exist", buffer));
        return offset;
    }
    const ir::Buffer& b = bufferAt(m_nest, buffer);
    if (indices.size() != b.shape.size()) {
        fail(Errc::Internal, fmt::format("buffer '{}' has {} dimensions and is used with {} indices", b.name,
                                         b.shape.size(), indices.size()));
        return offset;
    }
    for (std::size_t d = 0; d < indices.size(); ++d)
        offset = add(offset, index(indices[d]), b.strides[d]);
    return offset;
}

PhaseEmitter::Access PhaseEmitter::access(std::int32_t buffer, const IndexForm& offset, std::int64_t firstLane)
{
    const ir::Buffer& b = bufferAt(m_nest, buffer);
    const std::int64_t size = sizeOf(b.dtype);
    const std::int64_t displacement = (offset.constant + firstLane) * size;
    llvm::Value* pointer = termSum(buffer, m_bases[static_cast<std::size_t>(buffer)], offset, size);
    std::int64_t alignment = std::gcd(kLine, displacement);
    for (const IndexForm::Term& t : offset.terms)
        alignment = std::gcd(alignment, t.coefficient * size);
    if (displacement != 0)
        pointer = m_builder.CreateConstGEP1_64(m_builder.getInt8Ty(), pointer,
                                               static_cast<std::uint64_t>(displacement));
    return {pointer, llvm::Align(static_cast<std::uint64_t>(alignment))};
}

llvm::Value* PhaseEmitter::loadRaw(std::int32_t buffer, llvm::Type* type, const Access& at)
{
    llvm::LoadInst* loaded = m_builder.CreateAlignedLoad(type, at.pointer, at.alignment);
    tag(loaded, buffer);
    return loaded;
}

llvm::Value* PhaseEmitter::lanePointers(std::int32_t buffer, const IndexForm& offset)
{
    const auto size = static_cast<std::uint64_t>(sizeOf(bufferAt(m_nest, buffer).dtype));
    llvm::Value* elements = toLanes(materialize(offset, m_builder.getInt64Ty()));
    llvm::Value* bytes = m_builder.CreateMul(elements, llvm::ConstantInt::get(elements->getType(), size));
    return m_builder.CreateGEP(m_builder.getInt8Ty(), m_bases[static_cast<std::size_t>(buffer)], bytes);
}

llvm::Value* PhaseEmitter::loadStrided(std::int32_t buffer, const IndexForm& offset, std::int64_t stride)
{
    const ir::Buffer& b = bufferAt(m_nest, buffer);
    llvm::Type* element = memoryType(b.dtype);
    llvm::Type* vector = lanesOf(element);
    const IndexForm first{offset.constant, offset.terms, {}};
    constexpr std::int64_t kFewLoads = 4;
    if (stride >= 2 && stride <= kFewLoads && m_lanes >= 4) {
        // Whole vectors over the span, the last one moved back so that nothing beyond the last element is read.
        const std::int64_t span = (m_lanes - 1) * stride + 1;
        llvm::Value* result = llvm::PoisonValue::get(vector);
        for (std::int64_t done = 0, at = 0; at < span; at += m_lanes) {
            const std::int64_t start = std::min<std::int64_t>(at, span - m_lanes);
            llvm::Value* piece = loadRaw(buffer, vector, access(buffer, first, offset.lanes.front() + start));
            std::vector<int> mask(static_cast<std::size_t>(m_lanes), -1);
            for (std::int64_t lane = 0; lane < m_lanes; ++lane) {
                const std::int64_t from = lane * stride - start;
                const bool taken = lane < done;
                const bool here = !taken && from < m_lanes;
                mask[static_cast<std::size_t>(lane)] = static_cast<int>(here ? m_lanes + from : taken ? lane : -1);
            }
            result = m_builder.CreateShuffleVector(result, piece, mask);
            done = std::min<std::int64_t>(m_lanes, (start + m_lanes - 1) / stride + 1);
        }
        return result;
    }
    llvm::Value* result = llvm::PoisonValue::get(vector);
    for (int lane = 0; lane < m_lanes; ++lane) {
        llvm::Value* one = loadRaw(buffer, element,
                                   access(buffer, first, offset.lanes[static_cast<std::size_t>(lane)]));
        result = m_builder.CreateInsertElement(result, one, static_cast<std::uint64_t>(lane));
    }
    return result;
}

llvm::Value* PhaseEmitter::loadPartly(std::int32_t buffer, const IndexForm& offset)
{
    const ir::Buffer& b = bufferAt(m_nest, buffer);
    llvm::Type* element = memoryType(b.dtype);
    const IndexForm first{offset.constant, offset.terms, {}};
    llvm::Value* result = llvm::Constant::getNullValue(isUniform(offset) ? element : lanesOf(element));
    for (std::size_t lane = 0; lane < offset.lanes.size(); ++lane) {
        const std::int64_t at = offset.constant + offset.lanes[lane];
        if (at < 0 || (at + 1) * sizeOf(b.dtype) > bufferBytes(b))
            continue;
        llvm::Value* one = loadRaw(buffer, element, access(buffer, first, offset.lanes[lane]));
        result = m_builder.CreateInsertElement(result, one, static_cast<std::uint64_t>(lane));
    }
    return result;
}

llvm::Value* PhaseEmitter::load(std::int32_t buffer, const IndexForm& offset)
{
    if (failed())
        return llvm::PoisonValue::get(m_builder.getInt64Ty());
    const ir::Buffer& b = bufferAt(m_nest, buffer);
    llvm::Type* element = memoryType(b.dtype);
    llvm::Value* base = m_bases[static_cast<std::size_t>(buffer)];
    const bool isRegister = b.scope == ir::Scope::Register;
    const std::int64_t bytes = bufferBytes(b);
    const bool guarded = (m_guard.scalar != nullptr || m_guard.lanes != nullptr) && !isRegister;
    if (isRegister && offset.terms.empty()) {
        const IndexRange range = rangeOf(offset);
        if (range.low < 0 || (range.high + 1) * sizeOf(b.dtype) > bytes) // only in a branch or a lane that is not taken
            return fromMemory(loadPartly(buffer, offset), b.dtype);
    }

    if (isUniform(offset)) {
        Access at = access(buffer, offset, 0);
        if (guarded) {
            llvm::Value* wanted = m_guard.scalar;
            if (m_guard.lanes != nullptr) {
                llvm::Value* any = m_builder.CreateOrReduce(m_guard.lanes);
                wanted = wanted != nullptr ? m_builder.CreateAnd(wanted, any) : any;
            }
            at.pointer = m_builder.CreateSelect(wanted, at.pointer, base);
        }
        return fromMemory(loadRaw(buffer, element, at), b.dtype);
    }

    llvm::Type* vector = lanesOf(element);
    std::int64_t stride = 0;
    const bool affine = offset.laneStride(stride)
                        && std::none_of(offset.terms.begin(), offset.terms.end(), [&](const IndexForm::Term& t) {
                               return m_atoms[static_cast<std::size_t>(t.atom)].vector;
                           });
    llvm::Value* mask = m_guard.lanes;
    if (guarded && m_guard.scalar != nullptr) {
        llvm::Value* all = toLanes(m_guard.scalar);
        mask = mask != nullptr ? m_builder.CreateAnd(mask, all) : all;
    }
    if (affine && stride == 1) {
        const IndexForm first{offset.constant, offset.terms, {}};
        const Access at = access(buffer, first, offset.lanes.front());
        if (!guarded)
            return fromMemory(loadRaw(buffer, vector, at), b.dtype);
        llvm::CallInst* loaded = m_builder.CreateMaskedLoad(vector, at.pointer, at.alignment, mask,
                                                            llvm::Constant::getNullValue(vector));
        tag(loaded, buffer);
        return fromMemory(loaded, b.dtype);
    }
    if (!guarded && std::none_of(offset.terms.begin(), offset.terms.end(), [&](const IndexForm::Term& t) {
            return m_atoms[static_cast<std::size_t>(t.atom)].vector;
        }))
        return fromMemory(loadStrided(buffer, offset, affine ? stride : 0), b.dtype);
    llvm::CallInst* gathered = m_builder.CreateMaskedGather(
        vector, lanePointers(buffer, offset), llvm::Align(static_cast<std::uint64_t>(sizeOf(b.dtype))),
        guarded ? mask : nullptr, llvm::Constant::getNullValue(vector));
    tag(gathered, buffer);
    return fromMemory(gathered, b.dtype);
}

void PhaseEmitter::storeByLane(std::int32_t buffer, const IndexForm& offset, llvm::Value* v, llvm::Value* mask)
{
    const ir::Buffer& b = bufferAt(m_nest, buffer);
    const IndexForm first{offset.constant, offset.terms, {}};
    llvm::Value* raw = toMemory(v, b.dtype);
    for (std::size_t lane = 0; lane < offset.lanes.size(); ++lane) {
        const std::int64_t at = offset.constant + offset.lanes[lane];
        if (at < 0 || (at + 1) * sizeOf(b.dtype) > bufferBytes(b))
            continue;
        const Access place = access(buffer, first, offset.lanes[lane]);
        llvm::Value* one = m_builder.CreateExtractElement(raw, static_cast<std::uint64_t>(lane));
        llvm::Value* taken = m_builder.CreateExtractElement(mask, static_cast<std::uint64_t>(lane));
        llvm::Value* kept = m_builder.CreateSelect(taken, one, loadRaw(buffer, one->getType(), place));
        tag(m_builder.CreateAlignedStore(kept, place.pointer, place.alignment), buffer);
    }
}

void PhaseEmitter::store(std::int32_t buffer, const IndexForm& offset, llvm::Value* v)
{
    if (failed())
        return;
    const ir::Buffer& b = bufferAt(m_nest, buffer);
    if (b.scope == ir::Scope::Parameter && (b.readOnly || b.constant)) {
        fail(Errc::Internal, fmt::format("the read-only buffer '{}' is stored to", b.name));
        return;
    }
    llvm::Value* mask = m_guard.lanes;
    const bool hasVectorAtoms = std::any_of(offset.terms.begin(), offset.terms.end(), [&](const IndexForm::Term& t) {
        return m_atoms[static_cast<std::size_t>(t.atom)].vector;
    });
    if (b.scope == ir::Scope::Register && offset.terms.empty()) {
        const IndexRange range = rangeOf(offset);
        const bool outside = range.low < 0 || (range.high + 1) * sizeOf(b.dtype) > bufferBytes(b);
        if (outside && mask != nullptr && !isUniform(offset)) {
            storeByLane(buffer, offset, toLanes(v), mask);
            return;
        }
        if (outside) {
            fail(Errc::Internal, fmt::format("a store lies outside the register buffer '{}'", b.name));
            return;
        }
    }
    const auto put = [&](llvm::Value* raw, const Access& at) {
        tag(m_builder.CreateAlignedStore(raw, at.pointer, at.alignment), buffer);
    };

    if (isUniform(offset) && mask == nullptr) {
        put(toMemory(v, b.dtype), access(buffer, offset, 0));
        return;
    }
    v = toLanes(v);
    if (mask != nullptr && b.scope == ir::Scope::Register && !isUniform(offset)) {
        // Kept lanes are read back: a masked store would pin the buffer to memory.
        const Guard outer = m_guard;
        m_guard = {};
        v = m_builder.CreateSelect(mask, v, load(buffer, offset));
        store(buffer, offset, v);
        m_guard = outer;
        return;
    }
    llvm::Value* raw = toMemory(v, b.dtype);
    std::int64_t stride = 0;
    const bool affine = !isUniform(offset) && offset.laneStride(stride) && !hasVectorAtoms;
    const IndexForm first{offset.constant, offset.terms, {}};
    if (affine && stride == 1) {
        const Access at = access(buffer, first, offset.lanes.front());
        if (mask == nullptr)
            put(raw, at);
        else
            tag(m_builder.CreateMaskedStore(raw, at.pointer, at.alignment, mask), buffer);
        return;
    }
    if (mask == nullptr && !hasVectorAtoms) {
        for (int lane = 0; lane < m_lanes; ++lane)
            put(m_builder.CreateExtractElement(raw, static_cast<std::uint64_t>(lane)),
                access(buffer, first, offset.lanes[static_cast<std::size_t>(lane)]));
        return;
    }
    tag(m_builder.CreateMaskedScatter(raw, lanePointers(buffer, offset),
                                      llvm::Align(static_cast<std::uint64_t>(sizeOf(b.dtype))), mask),
        buffer);
}

} // namespace lathe::cpu
