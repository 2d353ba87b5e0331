// The instructions become a flat list of steps with a barrier between: the phases of a kernel, a copy, the zeroing and
// the moving of a layout transform. With the pool the whole network is one dispatch, all parts walk the list together
// and meet at barriers (80 ns instead of a dispatch's 300); with a caller's parallel-for each step is one call of it.
//
// Branches and loops are steps as well. One part looks at the condition and says where all go on, since the others may
// come late, when the memory of the condition is already used for something else.

#include "core/runtime/executor.h"

#include "core/runtime/array.h"
#include "core/runtime/clock.h"
#include "core/runtime/processors.h"
#include "core/runtime/true_shape.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace lathe::runtime {

namespace {

/// Where a tensor without elements lies: somewhere, as callers may hand over no address for it.
alignas(kTensorAlignment) std::byte g_nothing[kTensorAlignment];

} // namespace

enum class StepKind : std::uint32_t
{
    Phase,
    Copy,
    Zero,
    Transform,
    Row,
    Branch, ///< goes on behind the branch for true, if the condition is false
    Skip, ///< behind that branch: passes over the other; needs no barrier
    Enter, ///< of a loop: passes over it if there is no iteration
    Again ///< behind its last instruction: back to the first, if there is another iteration
};

struct Executor::Step
{
    StepKind kind = StepKind::Phase;
    std::uint32_t instruction = 0;
    LathePhase phase = nullptr;
    bool last = false; ///< of its instruction
    std::uint32_t target = 0; ///< a step: of the last four kinds

    bool decides() const { return kind == StepKind::Branch || kind == StepKind::Enter || kind == StepKind::Again; }
};

/// Apart from the tensors, so that a loop ends whatever its body writes.
struct Executor::LoopState
{
    std::int64_t trips = 0, done = 0;
};

struct Executor::Run
{
    Executor* executor;
    std::uint32_t first = 0, last = 0; ///< steps first .. last - 1
    bool chain = false;
    std::uint32_t timed = 0; ///< of a chain: the instruction that profiling counts
    const Step* step = nullptr; ///< of partTask
    std::uint64_t mark = 0; ///< when the instruction began
    std::uint32_t next[2] = {}; ///< where to go on, by turn: a part may still read the one while another is decided
    /// Code in the low half; in the high half how many steps had been run before the one that returned it. Zero: none.
    std::atomic<std::uint64_t> failure{0};
    std::uint32_t failedStep = 0;
    Status observed = Status::Ok;

    void note(std::uint32_t done, std::uint32_t stepIndex, std::int32_t code)
    {
        std::uint64_t none = 0;
        if (failure.compare_exchange_strong(none, std::uint64_t{done} << 32 | static_cast<std::uint32_t>(code),
                                            std::memory_order_relaxed))
            failedStep = stepIndex;
    }
    /// Whether a step up to the one behind `done` others has failed. Parts are never further apart than one step, so
    /// that the numbers may wrap around.
    bool hasFailedBy(std::uint32_t done) const
    {
        const std::uint64_t f = failure.load(std::memory_order_relaxed);
        return f != 0 && static_cast<std::int32_t>(static_cast<std::uint32_t>(f >> 32) - done) <= 0;
    }
};

Status Model::open(const ModelSource& source, bool copyWeights, ErrorText& error)
{
    if (!openImage(source.description, source.descriptionBytes, m_image, error))
        return Status::Damaged;
    const ImageHeader& header = *m_image.header;
    if (header.weightsBytes > source.weightsBytes || header.phaseCount != source.phaseCount) {
        error.set("the library's weights or kernels do not belong to its model description");
        return Status::Damaged;
    }
    m_phases = source.phases;
    m_weights = source.weights;
    const bool aligned = reinterpret_cast<std::uintptr_t>(source.weights) % kTensorAlignment == 0;
    if (header.weightsBytes == 0 || (!copyWeights && aligned))
        return Status::Ok;
    if (!findStretches()) {
        error.set("no memory for the model");
        return Status::NoMemory;
    }
    const Stretch* const last = m_stretches + m_stretchCount - 1;
    const std::uint64_t bytes = m_stretchCount > 0 ? last->place + (last->end - last->first) : 0;
    if (bytes > 0 && !m_copy.allocate(bytes, true)) {
        error.set("no memory for %llu bytes of weights", static_cast<unsigned long long>(bytes));
        return Status::NoMemory;
    }
    for (const Stretch* stretch = m_stretches; stretch != m_stretches + m_stretchCount; ++stretch)
        std::memcpy(m_copy.data() + stretch->place, source.weights + stretch->first, stretch->end - stretch->first);
    m_weights = m_copy.data();
    return Status::Ok;
}

Model::~Model()
{
    freeArray(m_stretches, m_stretchRoom);
}

/// Sorts what the tensors use, and joins what touches.
bool Model::findStretches()
{
    const ImageHeader& header = *m_image.header;
    const auto isWeight = [&](std::uint64_t i) {
        return m_image.tensors[i].storage == static_cast<std::uint32_t>(Storage::Weights)
               && m_image.tensors[i].bytes > 0;
    };
    for (std::uint64_t i = 0; i < header.tensors.count; ++i)
        m_stretchRoom += isWeight(i) ? 1 : 0;
    m_stretches = makeArray<Stretch>(m_stretchRoom);
    if (m_stretches == nullptr)
        return false;
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < header.tensors.count; ++i) {
        if (!isWeight(i))
            continue;
        // Mostly they come in order already.
        const ImageTensor& tensor = m_image.tensors[i];
        std::uint64_t at = count++;
        for (; at > 0 && m_stretches[at - 1].first > tensor.offset; --at)
            m_stretches[at] = m_stretches[at - 1];
        m_stretches[at] = Stretch{tensor.offset, tensor.offset + tensor.bytes, 0};
    }
    const auto roundUp = [](std::uint64_t bytes) {
        return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
        const Stretch next = m_stretches[i];
        Stretch* const last = m_stretchCount > 0 ? m_stretches + m_stretchCount - 1 : nullptr;
        if (last != nullptr && next.first <= roundUp(last->end))
            last->end = next.end > last->end ? next.end : last->end;
        else
            m_stretches[m_stretchCount++] = Stretch{
                next.first, next.end, last != nullptr ? last->place + roundUp(last->end - last->first) : 0};
    }
    return true;
}

const std::byte* Model::weightsAt(std::uint64_t offset) const
{
    if (m_stretches == nullptr)
        return m_weights + offset;
    if (m_stretchCount == 0 || offset < m_stretches[0].first)
        return m_weights; // of a tensor without elements
    std::uint64_t low = 0, high = m_stretchCount; // the last one that begins at or before it
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (m_stretches[middle].first <= offset ? low : high) = middle;
    }
    return m_weights + m_stretches[low].place + (offset - m_stretches[low].first);
}

Executor* Executor::create(const Model& model, const ExecutorOptions& options, Status& status, ErrorText& error)
{
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, sizeof(Executor)) != 0) {
        status = Status::NoMemory;
        error.set("no memory for an instance");
        return nullptr;
    }
    Executor* const executor = new (memory) Executor;
    status = executor->prepare(model, options);
    if (status == Status::Ok)
        return executor;
    error = executor->m_error;
    destroy(executor);
    return nullptr;
}

void Executor::destroy(Executor* executor)
{
    if (executor == nullptr)
        return;
    executor->~Executor();
    std::free(executor);
}

Executor::~Executor()
{
    Pool::destroy(m_pool);
    if (m_model == nullptr)
        return;
    const ImageHeader& header = *m_model->image().header;
    freeArray(m_inputs, header.inputs.count);
    freeArray(m_outputs, header.outputs.count);
    freeArray(m_pointers, header.arguments.count);
    freeArray(m_args, header.instructions.count);
    freeArray(m_loops, header.instructions.count);
    freeArray(m_transforms, header.instructions.count);
    freeArray(m_profiles, header.instructions.count);
    freeArray(m_steps, m_stepCount);
    freeArray(m_firstSteps, header.instructions.count);
}

Status Executor::fail(Status status, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(m_error.text, sizeof m_error.text, format, arguments);
    va_end(arguments);
    return status;
}

Status Executor::prepare(const Model& model, const ExecutorOptions& options)
{
    m_model = &model;
    const ImageHeader& header = *model.image().header;
    m_inputs = makeArray<Port>(header.inputs.count);
    m_outputs = makeArray<Port>(header.outputs.count);
    m_pointers = makeArray<void*>(header.arguments.count);
    m_args = makeArray<LatheArgs>(header.instructions.count);
    m_loops = makeArray<LoopState>(header.instructions.count);
    m_transforms = makeArray<LayoutTransform>(header.instructions.count);
    m_profiles = makeArray<Profile>(header.instructions.count);
    if (m_inputs == nullptr || m_outputs == nullptr || m_pointers == nullptr || m_args == nullptr || m_loops == nullptr
        || m_transforms == nullptr || m_profiles == nullptr)
        return fail(Status::NoMemory, "no memory for an instance");

    if (options.parallelFor != nullptr) {
        m_parallelFor = options.parallelFor;
        m_parallelForUser = options.parallelForUser;
        m_parts = options.pool.threads > 0 ? options.pool.threads : processorCount(options.pool.systemRoot);
    } else {
        m_pool = Pool::create(options.pool);
        if (m_pool == nullptr)
            return fail(Status::NoMemory, "%u threads were asked for and could not be started", options.pool.threads);
        m_parts = m_pool->parts();
    }
    // An odd number of lines apart, so that equal offsets in the scratch of two parts do not fall into one cache set.
    m_partScratchStride = header.partScratchBytes > 0 ? header.partScratchBytes + 64 : 0;
    if (m_parts > (std::uint64_t{1} << 46) / (m_partScratchStride + 1)
        || !m_arena.allocate(header.arenaBytes, header.arenaBytes >= (1U << 21))
        || !m_teamScratch.allocate(header.teamScratchBytes, header.teamScratchBytes >= (1U << 21))
        || !m_partScratch.allocate(m_partScratchStride * m_parts, m_partScratchStride * m_parts >= (1U << 21)))
        return fail(Status::NoMemory, "no memory for %llu bytes of activations and scratch",
                    static_cast<unsigned long long>(header.arenaBytes + header.teamScratchBytes
                                                    + m_partScratchStride * m_parts));
    for (std::uint64_t i = 0; i < header.inputs.count; ++i)
        m_inputs[i].bytes = model.image().tensors[model.image().inputs[i].tensor].bytes;
    for (std::uint64_t i = 0; i < header.outputs.count; ++i)
        m_outputs[i].bytes = model.image().tensors[model.image().outputs[i].tensor].bytes;
    resetShapes();
    return prepareSteps();
}

Status Executor::prepareSteps()
{
    const Image& image = m_model->image();
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < image.header->instructions.count; ++i) {
        const ImageInstruction& in = image.instructions[i];
        count += static_cast<InstructionKind>(in.kind) == InstructionKind::Kernel ? in.phaseCount : 2;
    }
    if (count >= UINT32_MAX)
        return fail(Status::Damaged, "the model description is damaged: it has too many phases");
    m_steps = makeArray<Step>(count);
    m_firstSteps = makeArray<std::uint32_t>(image.header->instructions.count);
    if (m_steps == nullptr || m_firstSteps == nullptr)
        return fail(Status::NoMemory, "no memory for an instance");
    struct Open // a stretch of instructions that control flow runs
    {
        std::uint64_t end;
        std::uint32_t step; ///< of the instruction before it
        StepKind close; ///< what comes behind the stretch: Skip, Again, or Phase for nothing
    };
    Open open[kDeepestControl];
    std::uint32_t depth = 0;
    const auto closeUntil = [&](std::uint64_t instruction) {
        while (depth > 0 && open[depth - 1].end == instruction) {
            const Open closed = open[--depth];
            Step& before = m_steps[closed.step];
            if (closed.close == StepKind::Again) {
                m_steps[m_stepCount] = Step{StepKind::Again, before.instruction, nullptr, true, closed.step + 1};
                before.target = ++m_stepCount;
            } else if (closed.close == StepKind::Skip) {
                open[depth - 1].step =
                    m_stepCount; // the other branch is around this one: its end is what is skipped to
                m_steps[m_stepCount] = Step{StepKind::Skip, before.instruction, nullptr, false};
                before.target = ++m_stepCount;
            } else {
                before.target = m_stepCount;
            }
        }
    };
    for (std::uint32_t i = 0; i < image.header->instructions.count; ++i) {
        const ImageInstruction& in = image.instructions[i];
        closeUntil(i);
        m_firstSteps[i] = m_stepCount;
        m_args[i] = LatheArgs{m_pointers + in.firstArgument, m_teamScratch.data()};
        switch (static_cast<InstructionKind>(in.kind)) {
        case InstructionKind::Kernel:
            for (std::uint32_t p = 0; p < in.phaseCount; ++p)
                m_steps[m_stepCount++] = Step{StepKind::Phase, i, m_model->phases()[in.firstPhase + p], false};
            break;
        case InstructionKind::Copy: m_steps[m_stepCount++] = Step{StepKind::Copy, i, nullptr, false}; break;
        case InstructionKind::Row: m_steps[m_stepCount++] = Step{StepKind::Row, i, nullptr, false}; break;
        case InstructionKind::Branch:
            open[depth++] = {std::uint64_t{i} + 1 + in.phaseCount + in.firstPhase, m_stepCount, StepKind::Phase};
            open[depth++] = {std::uint64_t{i} + 1 + in.phaseCount, m_stepCount, StepKind::Skip};
            m_steps[m_stepCount++] = Step{StepKind::Branch, i, nullptr, false};
            break;
        case InstructionKind::Loop:
            open[depth++] = {std::uint64_t{i} + 1 + in.phaseCount, m_stepCount, StepKind::Again};
            m_steps[m_stepCount++] = Step{StepKind::Enter, i, nullptr, false};
            break;
        case InstructionKind::Transform: {
            const ImageTensor& from = image.tensors[image.arguments[in.firstArgument]];
            const ImageTensor& to = image.tensors[image.arguments[in.firstArgument + 1]];
            if (!m_transforms[i].prepare(image.map(from), image.map(to), static_cast<DType>(from.dtype)))
                return fail(Status::NoMemory, "no memory for an instance");
            if (m_transforms[i].hasPadding())
                m_steps[m_stepCount++] = Step{StepKind::Zero, i, nullptr, false};
            m_steps[m_stepCount++] = Step{StepKind::Transform, i, nullptr, false};
            break;
        }
        }
        m_steps[m_stepCount - 1].last = true;
    }
    closeUntil(image.header->instructions.count);
    return Status::Ok;
}

Status Executor::bind(Port* ports, std::uint64_t count, std::uint32_t index, std::byte* data, std::size_t bytes,
                      const char* what)
{
    if (index >= count)
        return fail(Status::InvalidArgument, "there is no %s %u, the network has %llu", what, index,
                    static_cast<unsigned long long>(count));
    Port& port = ports[index];
    if (data == nullptr && bytes == 0 && port.bytes == 0)
        data = g_nothing;
    if (data == nullptr)
        return fail(Status::InvalidArgument, "%s %u was bound to a null pointer", what, index);
    if (bytes != port.bytes)
        return fail(Status::InvalidArgument, "%s %u has %zu bytes, the bound buffer %zu", what, index, port.bytes,
                    bytes);
    std::byte* used = data;
    if (reinterpret_cast<std::uintptr_t>(data) % kTensorAlignment != 0) {
        if (port.staging.data() == nullptr && !port.staging.allocate(port.bytes, false))
            return fail(Status::NoMemory, "no memory for a copy of %s %u", what, index);
        used = port.staging.data();
    }
    port.bound = data;
    port.used = used;
    m_stalePointers = true;
    return Status::Ok;
}

Status Executor::bindInput(std::uint32_t index, const void* data, std::size_t bytes)
{
    // Inputs are only read: openImage() refuses instructions that write to them.
    return bind(m_inputs, m_model->image().header->inputs.count, index,
                static_cast<std::byte*>(const_cast<void*>(data)), bytes, "input");
}

Status Executor::bindOutput(std::uint32_t index, void* data, std::size_t bytes)
{
    return bind(m_outputs, m_model->image().header->outputs.count, index, static_cast<std::byte*>(data), bytes,
                "output");
}

Status Executor::portBuffer(Port* ports, std::uint64_t count, std::uint32_t index)
{
    if (index >= count)
        return fail(Status::InvalidArgument, "there is no tensor %u, the network has %llu", index,
                    static_cast<unsigned long long>(count));
    Port& port = ports[index];
    if (port.bound != nullptr)
        return Status::Ok;
    if (!port.staging.allocate(port.bytes, false))
        return fail(Status::NoMemory, "no memory for a buffer of %zu bytes", port.bytes);
    port.bound = port.used = port.bytes > 0 ? port.staging.data() : g_nothing;
    m_stalePointers = true;
    return Status::Ok;
}

void* Executor::inputBuffer(std::uint32_t index)
{
    return portBuffer(m_inputs, m_model->image().header->inputs.count, index) == Status::Ok ? m_inputs[index].bound
                                                                                            : nullptr;
}

void* Executor::outputBuffer(std::uint32_t index)
{
    return portBuffer(m_outputs, m_model->image().header->outputs.count, index) == Status::Ok ? m_outputs[index].bound
                                                                                              : nullptr;
}

std::byte* Executor::pointerTo(const ImageTensor& tensor) const
{
    switch (static_cast<Storage>(tensor.storage)) {
    case Storage::Arena: return m_arena.data() + tensor.offset;
    case Storage::Weights: return const_cast<std::byte*>(m_model->weightsAt(tensor.offset));
    case Storage::Input: return m_inputs[tensor.offset].used;
    case Storage::Output: return m_outputs[tensor.offset].used;
    }
    return nullptr;
}

/// A kernel may write to an output before all of an input is read.
Status Executor::refuseOverlaps()
{
    const Image& image = m_model->image();
    const auto overlap = [](const Port& a, const Port& b) {
        return a.bound < b.bound + b.bytes && b.bound < a.bound + a.bytes;
    };
    const auto refuse = [&](std::uint64_t output, const char* what, const ImagePort& other) {
        return fail(Status::InvalidArgument, "the buffer of output \"%s\" overlaps that of %s \"%s\"",
                    image.string(image.tensors[image.outputs[output].tensor].name), what,
                    image.string(image.tensors[other.tensor].name));
    };
    for (std::uint64_t i = 0; i < image.header->outputs.count; ++i) {
        for (std::uint64_t k = 0; k < image.header->inputs.count; ++k)
            if (overlap(m_outputs[i], m_inputs[k]))
                return refuse(i, "input", image.inputs[k]);
        for (std::uint64_t k = 0; k < i; ++k)
            if (overlap(m_outputs[i], m_outputs[k]))
                return refuse(i, "output", image.outputs[k]);
    }
    return Status::Ok;
}

void Executor::refreshPointers()
{
    const Image& image = m_model->image();
    for (std::uint64_t i = 0; i < image.header->arguments.count; ++i)
        m_pointers[i] = pointerTo(image.tensors[image.arguments[i]]);
    m_stalePointers = false;
}

namespace {

constexpr std::int32_t kNoSuchRow = 1;

bool isTrue(const void* condition)
{
    return *static_cast<const std::uint8_t*>(condition) != 0;
}

std::int64_t readI64(const void* tensor)
{
    return *static_cast<const std::int64_t*>(tensor);
}

void copyPart(void* to, const void* from, std::uint64_t bytes, std::uint32_t part, std::uint32_t parts)
{
    const std::uint64_t first = bytes * part / parts, last = bytes * (part + 1) / parts;
    std::memcpy(static_cast<std::byte*>(to) + first, static_cast<const std::byte*>(from) + first, last - first);
}

} // namespace

const ImageTensor& Executor::argument(const Step& step, std::uint32_t index) const
{
    const Image& image = m_model->image();
    return image.tensors[image.arguments[image.instructions[step.instruction].firstArgument + index]];
}

/// The step that comes next. One part calls this, when all others wait.
std::uint32_t Executor::decide(const Run& run, std::uint32_t stepIndex) const
{
    const Step& step = m_steps[stepIndex];
    void* const* const tensors = m_args[step.instruction].tensors;
    if (step.kind == StepKind::Branch)
        return run.chain || isTrue(tensors[0]) ? stepIndex + 1 : step.target;
    LoopState& loop = m_loops[step.instruction];
    if (step.kind == StepKind::Enter)
        loop = {readI64(tensors[0]), 0};
    else if (!run.chain)
        ++loop.done;
    *static_cast<std::int64_t*>(tensors[2]) = loop.done;
    if (run.chain)
        return stepIndex + 1;
    const bool another = loop.done < loop.trips && isTrue(tensors[1]);
    return another == (step.kind == StepKind::Enter) ? stepIndex + 1 : step.target;
}

std::int32_t Executor::runStep(const Run& run, const Step& step, std::uint32_t part, std::uint32_t parts) const
{
    const LatheArgs& args = m_args[step.instruction];
    switch (step.kind) {
    case StepKind::Phase: return step.phase(&args, m_partScratch.data() + part * m_partScratchStride, part, parts);
    case StepKind::Zero: m_transforms[step.instruction].zero(args.tensors[1], part, parts); return 0;
    case StepKind::Transform:
        m_transforms[step.instruction].copy(args.tensors[0], args.tensors[1], part, parts);
        return 0;
    case StepKind::Copy: copyPart(args.tensors[1], args.tensors[0], argument(step, 0).bytes, part, parts); return 0;
    case StepKind::Row: {
        const std::uint64_t row = argument(step, 0).bytes, all = argument(step, 2).bytes;
        const std::int64_t index = readI64(args.tensors[1]);
        if (row == 0)
            return 0;
        if (index < 0 || static_cast<std::uint64_t>(index) >= all / row)
            return run.chain ? 0 : kNoSuchRow;
        copyPart(static_cast<std::byte*>(args.tensors[2]) + static_cast<std::uint64_t>(index) * row, args.tensors[0],
                 row, part, parts);
        return 0;
    }
    case StepKind::Branch:
    case StepKind::Skip:
    case StepKind::Enter:
    case StepKind::Again: return 0;
    }
    return 0;
}

void Executor::finishInstruction(Run& run, std::uint32_t instruction)
{
    const bool counts = !run.chain || run.timed == instruction;
    if (m_profiling && counts) {
        const std::uint64_t now = nowNanoseconds(), elapsed = now - run.mark;
        Profile& profile = m_profiles[instruction];
        profile.minNs = profile.calls == 0 || elapsed < profile.minNs ? elapsed : profile.minNs;
        profile.totalNs += elapsed;
        ++profile.calls;
    }
    if (m_observer != nullptr && !run.chain && run.observed == Status::Ok)
        run.observed = observe(instruction);
    if (m_profiling)
        run.mark = nowNanoseconds();
}

void Executor::poolTask(void* context, std::uint32_t part, std::uint32_t parts)
{
    Run& run = *static_cast<Run*>(context);
    Executor& self = *run.executor;
    const bool watched = self.m_observer != nullptr && !run.chain;
    if (run.chain) { // so that starting the parts is not counted
        self.m_pool->barrier();
        if (part == 0)
            run.mark = nowNanoseconds();
    }
    std::uint32_t done = 0; // steps, equal in all parts
    for (std::uint32_t i = run.first; i < run.last;) {
        const Step& step = self.m_steps[i];
        if (step.kind == StepKind::Skip) {
            i = run.chain ? i + 1 : step.target;
            continue;
        }
        std::uint32_t& next = run.next[done % 2];
        if (step.decides() && part == 0)
            next = self.decide(run, i);
        if (const std::int32_t code = self.runStep(run, step, part, parts); code != 0)
            run.note(done, i, code);
        // The join of the dispatch is the last barrier, unless somebody wants to look at the last instruction's end.
        if (i + 1 == run.last && !step.decides() && !watched && !self.m_profiling)
            return;
        self.m_pool->barrier();
        // Only failures up to this step count: all parts leave, or stay, together (see pool.cpp).
        if (run.hasFailedBy(done))
            return;
        i = step.decides() ? next : i + 1;
        if (step.last && part == 0)
            self.finishInstruction(run, step.instruction);
        if (step.last && watched) // others must not write on while part 0 shows what there is
            self.m_pool->barrier();
        ++done;
    }
}

void Executor::partTask(void* context, std::uint32_t part)
{
    Run& run = *static_cast<Run*>(context);
    Executor& self = *run.executor;
    if (const std::int32_t code = self.runStep(run, *run.step, part, self.m_parts); code != 0)
        run.note(0, static_cast<std::uint32_t>(run.step - self.m_steps), code);
}

void Executor::runOnCaller(Run& run)
{
    for (std::uint32_t i = run.first; i < run.last;) {
        run.step = m_steps + i;
        if (run.step->kind == StepKind::Skip) {
            i = run.chain ? i + 1 : run.step->target;
            continue;
        }
        if (run.step->decides()) {
            i = decide(run, i);
            finishInstruction(run, run.step->instruction);
            continue;
        }
        ++i;
        m_parallelFor(m_parallelForUser, m_parts, &partTask, &run);
        if (run.failure.load(std::memory_order_relaxed) != 0)
            return;
        if (run.step->last)
            finishInstruction(run, run.step->instruction);
    }
}

/// Buffers for every port, and pointers to them.
Status Executor::prepareRun()
{
    const Image& image = m_model->image();
    for (std::uint64_t i = 0; i < image.header->inputs.count; ++i) {
        Port& port = m_inputs[i];
        if (port.bound == nullptr)
            return fail(Status::InvalidArgument, "input \"%s\" is not bound",
                        image.string(image.tensors[image.inputs[i].tensor].name));
        if (port.used != port.bound)
            std::memcpy(port.used, port.bound, port.bytes);
    }
    for (std::uint32_t i = 0; i < image.header->outputs.count; ++i)
        if (const Status status = portBuffer(m_outputs, image.header->outputs.count, i); status != Status::Ok)
            return status;
    if (m_stalePointers) {
        if (const Status status = refuseOverlaps(); status != Status::Ok)
            return status;
        refreshPointers();
    }
    return Status::Ok;
}

Status Executor::runSteps(Run& run)
{
    if (m_profiling)
        run.mark = nowNanoseconds();
    if (m_parallelFor != nullptr)
        runOnCaller(run);
    else if (run.last > run.first)
        m_pool->run(&poolTask, &run);

    const Image& image = m_model->image();
    if (const std::uint64_t failure = run.failure.load(std::memory_order_relaxed); failure != 0) {
        const Step& step = m_steps[run.failedStep];
        const ImageInstruction& in = image.instructions[step.instruction];
        if (step.kind == StepKind::Row)
            return fail(Status::KernelFailed, "a loop ran more often than its result \"%s\" has rows",
                        image.string(in.name));
        return fail(Status::KernelFailed, "kernel \"%s\" failed with code %d", image.string(in.name),
                    static_cast<std::int32_t>(static_cast<std::uint32_t>(failure)));
    }
    return run.observed;
}

Status Executor::run()
{
    if (const Status status = prepareRun(); status != Status::Ok)
        return status;
    Run run{this, 0, m_stepCount};
    if (const Status status = runSteps(run); status != Status::Ok)
        return status;
    if (const Status status = cutOutputs(); status != Status::Ok)
        return status;
    for (std::uint64_t i = 0; i < m_model->image().header->outputs.count; ++i)
        if (const Port& port = m_outputs[i]; port.used != port.bound)
            std::memcpy(port.bound, port.used, port.bytes);
    return Status::Ok;
}

void Executor::resetShapes()
{
    const Image& image = m_model->image();
    for (std::uint64_t i = 0; i < image.header->outputs.count; ++i)
        std::memcpy(m_outputs[i].shape, image.tensors[image.outputs[i].tensor].shape, sizeof m_outputs[i].shape);
}

/// Outputs with extents that depend on data are cut to what this run found.
Status Executor::cutOutputs()
{
    const Image& image = m_model->image();
    if (image.header->extents.count == 0)
        return Status::Ok;
    resetShapes();
    for (std::uint64_t i = 0; i < image.header->extents.count; ++i) { // all of them first: a count may be an output too
        const ImageExtent& extent = image.extents[i];
        const ImageTensor& tensor = image.tensors[extent.count];
        std::int64_t count = 0;
        std::memcpy(&count, pointerTo(tensor), sizeof count);
        std::int64_t& place = m_outputs[extent.output].shape[extent.axis];
        if (count < 0 || count > image.tensors[image.outputs[extent.output].tensor].shape[extent.axis])
            return fail(Status::KernelFailed,
                        "extent %u of output \"%s\" came out as %lld, the most that it can be is %lld", extent.axis,
                        image.string(image.tensors[image.outputs[extent.output].tensor].name),
                        static_cast<long long>(count), static_cast<long long>(place));
        place = count;
    }
    for (std::uint64_t i = 0; i < image.header->outputs.count; ++i) {
        const ImageTensor& tensor = image.tensors[image.outputs[i].tensor];
        packToShape(m_outputs[i].used, sizeOf(static_cast<DType>(tensor.dtype)), tensor.logicalRank, tensor.shape,
                    m_outputs[i].shape);
    }
    return Status::Ok;
}

Status Executor::outputShape(std::uint32_t index, std::int64_t* shape)
{
    const Image& image = m_model->image();
    if (index >= image.header->outputs.count)
        return fail(Status::InvalidArgument, "there is no output %u, the network has %llu", index,
                    static_cast<unsigned long long>(image.header->outputs.count));
    std::memcpy(shape, m_outputs[index].shape, sizeof m_outputs[index].shape);
    return Status::Ok;
}

Status Executor::runChain(std::uint32_t first, std::uint32_t last)
{
    const std::uint64_t count = m_model->image().header->instructions.count;
    if (first > last || last >= count)
        return fail(Status::InvalidArgument, "there are no instructions %u to %u, the network has %llu", first, last,
                    static_cast<unsigned long long>(count));
    if (const Status status = prepareRun(); status != Status::Ok)
        return status;
    Run run{this, m_firstSteps[first], last + 1 < count ? m_firstSteps[last + 1] : m_stepCount, true, last};
    return runSteps(run);
}

void Executor::setProfiling(bool on)
{
    if (on)
        for (std::uint64_t i = 0; i < m_model->image().header->instructions.count; ++i)
            m_profiles[i] = Profile{};
    m_profiling = on;
}

void Executor::setObserver(Observer observer, void* user)
{
    m_observer = observer;
    m_observerUser = user;
}

Status Executor::observe(std::uint32_t instruction)
{
    const Image& image = m_model->image();
    const ImageInstruction& in = image.instructions[instruction];
    for (std::uint32_t k = in.argumentCount - in.outputCount; k < in.argumentCount; ++k) {
        const ImageTensor& tensor = image.tensors[image.arguments[in.firstArgument + k]];
        const void* const data = m_pointers[in.firstArgument + k];
        const IndexMap map = image.map(tensor);
        if (map.isPlain()) {
            m_observer(m_observerUser, instruction, tensor, data);
            continue;
        }
        const IndexMap plain = IndexMap::plain(map.logicalShape, map.logicalRank);
        const auto dtype = static_cast<DType>(tensor.dtype);
        Pages copy;
        LayoutTransform transform;
        if (!copy.allocate(static_cast<std::size_t>(plain.elementCount() * sizeOf(dtype)), false)
            || !transform.prepare(map, plain, dtype))
            return fail(Status::NoMemory, "no memory to show tensor \"%s\"", image.string(tensor.name));
        transform.copy(data, copy.data(), 0, 1);
        m_observer(m_observerUser, instruction, tensor, copy.data());
    }
    return Status::Ok;
}

} // namespace lathe::runtime
