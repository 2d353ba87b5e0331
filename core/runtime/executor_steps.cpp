// The instructions become a flat list of steps with a barrier between: the phases of a kernel, a copy, the zeroing and
// the moving of a layout transform. With the pool the whole network is one dispatch, all parts walk the list together
// and meet at barriers (80 ns instead of a dispatch's 300); with a caller's parallel-for each step is one call of it.
//
// Branches, loops and swaps are steps as well. One part looks at the condition and says where all go on, since the
// others may come late, when the memory of the condition is already used for something else.
//
// Steps of devices are started by one part as well. The device runs them in order, so that nobody waits for one that
// another one of the device follows; copies to the processor wait if a step of the processor comes behind.

#include "core/runtime/executor_steps.h"

#include "core/runtime/array.h"
#include "core/runtime/clock.h"

#include <cstring>

namespace lathe::runtime {

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
            if (in.device != 0) {
                m_steps[m_stepCount++] = Step{StepKind::Launch, i, nullptr, false};
                break;
            }
            for (std::uint32_t p = 0; p < in.phaseCount; ++p)
                m_steps[m_stepCount++] = Step{StepKind::Phase, i, m_model->phases()[in.firstPhase + p], false};
            break;
        case InstructionKind::Copy: {
            const bool carries = image.tensors[image.arguments[in.firstArgument]].device != 0
                                 || image.tensors[image.arguments[in.firstArgument + 1]].device != 0;
            m_steps[m_stepCount++] = Step{carries ? StepKind::Carry : StepKind::Copy, i, nullptr, false};
            break;
        }
        case InstructionKind::Row: m_steps[m_stepCount++] = Step{StepKind::Row, i, nullptr, false}; break;
        case InstructionKind::Swap:
            if (const Status status = prepareExchange(i); status != Status::Ok)
                return status;
            m_steps[m_stepCount++] = Step{StepKind::Swap, i, nullptr, false};
            break;
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
    for (std::uint32_t i = m_stepCount; i > 0 && m_steps[i - 1].isOfDevice(); --i)
        m_steps[i - 1].waits = false;
    return Status::Ok;
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

/// Finds what lies in the one or in the other.
Status Executor::prepareExchange(std::uint32_t instruction)
{
    const Image& image = m_model->image();
    const std::uint32_t* const traded = image.arguments + image.instructions[instruction].firstArgument;
    const auto isIn = [&](std::uint64_t index, std::uint32_t which) {
        const ImageTensor& t = image.tensors[image.arguments[index]];
        const ImageTensor& around = image.tensors[traded[which]];
        return t.storage == around.storage && t.offset >= around.offset && t.offset < around.offset + around.bytes;
    };
    Exchange& exchange = m_exchanges[instruction];
    std::uint32_t all = 0;
    for (std::uint64_t i = 0; i < image.header->arguments.count; ++i)
        all += isIn(i, 0) || isIn(i, 1) ? 1 : 0;
    exchange.arguments = makeArray<std::uint32_t>(all);
    if (exchange.arguments == nullptr)
        return fail(Status::NoMemory, "no memory for an instance");
    for (std::uint32_t which = 0; which < 2; ++which) {
        for (std::uint64_t i = 0; i < image.header->arguments.count; ++i)
            if (isIn(i, which))
                exchange.arguments[exchange.all++] = static_cast<std::uint32_t>(i);
        exchange.ofFirst = which == 0 ? exchange.all : exchange.ofFirst;
    }
    return Status::Ok;
}

/// From now on, and in later runs, each of the two is where the other one was.
void Executor::exchange(std::uint32_t instruction) const
{
    const Exchange& exchange = m_exchanges[instruction];
    void* const* const tensors = m_args[instruction].tensors;
    const std::ptrdiff_t way = static_cast<std::byte*>(tensors[1]) - static_cast<std::byte*>(tensors[0]);
    for (std::uint32_t i = 0; i < exchange.all; ++i) {
        void*& pointer = m_pointers[exchange.arguments[i]];
        pointer = static_cast<std::byte*>(pointer) + (i < exchange.ofFirst ? way : -way);
    }
}

/// The step that comes next. One part calls this, when all others wait.
std::uint32_t Executor::decide(const Run& run, std::uint32_t stepIndex) const
{
    const Step& step = m_steps[stepIndex];
    void* const* const tensors = m_args[step.instruction].tensors;
    if (step.kind == StepKind::Swap) {
        if (!run.chain)
            exchange(step.instruction);
        return stepIndex + 1;
    }
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

/// To, from or on a device.
Status Executor::carry(const Step& step, ErrorText& error)
{
    const Image& image = m_model->image();
    const std::uint32_t* const arguments = image.arguments + image.instructions[step.instruction].firstArgument;
    const ImageTensor &from = image.tensors[arguments[0]], &to = image.tensors[arguments[1]];
    void* const* const tensors = m_args[step.instruction].tensors;
    const auto isPort = [](const ImageTensor& tensor, Storage storage) {
        return tensor.storage == static_cast<std::uint32_t>(storage);
    };
    if (from.device != 0 && to.device != 0 && from.device != to.device) { // through the processor's memory
        Pages between;
        if (!between.allocate(from.bytes, false)) {
            error.set("no memory for a copy of tensor \"%s\"", image.string(from.name));
            return Status::NoMemory;
        }
        const Status status = m_devices.read(from.device, between.data(), m_devices.memory(arguments[0]), from.bytes,
                                             true, error);
        return status != Status::Ok ? status
                                    : m_devices.write(to.device, m_devices.memory(arguments[1]), between.data(),
                                                      from.bytes, true, error);
    }
    if (from.device != 0 && to.device != 0)
        return m_devices.copy(to.device, m_devices.memory(arguments[0]), m_devices.memory(arguments[1]), from.bytes,
                              error);
    if (from.device == 0) {
        if (DeviceMemory* const there = isPort(from, Storage::Input) ? m_inputs[from.offset].there() : nullptr;
            there != nullptr && to.device == 1)
            return m_devices.copy(1, there, m_devices.memory(arguments[1]), from.bytes, error);
        // Nobody writes to an input within a run.
        const bool waits = step.waits && !isPort(from, Storage::Input);
        return m_devices.write(to.device, m_devices.memory(arguments[1]), tensors[0], from.bytes, waits, error);
    }
    if (isPort(to, Storage::Output) && !isFilled(to))
        return m_devices.copy(1, m_devices.memory(arguments[0]), m_outputs[to.offset].there(), from.bytes, error);
    const bool waits = step.waits || m_observer != nullptr; // which looks at it before the run ends
    return m_devices.read(from.device, tensors[1], m_devices.memory(arguments[0]), from.bytes, waits, error);
}

Status Executor::startOnDevice(const Step& step, std::uint32_t times, ErrorText& error)
{
    Status status = Status::Ok;
    for (std::uint32_t i = 0; status == Status::Ok && i < times; ++i)
        status = step.kind == StepKind::Launch ? m_devices.run(step.instruction, error) : carry(step, error);
    return status;
}

/// What it adds to a run, in which the device has work in store: the first time that it runs, when its weights lie
/// where the rest of the network left them, less what waiting for it costs, which may be more than the work. The wait
/// is what one more such step takes beyond its share of a row, when all that it reads is near. None of these steps
/// reads what it writes.
Status Executor::timeOnDevice(const Step& step, std::uint64_t& nanoseconds, ErrorText& error)
{
    constexpr std::uint32_t kRow = 8;
    constexpr std::uint64_t kLong = 1'000'000; // so that the wait does not count
    std::uint64_t first = 0, row = 0, again = 0;
    const auto took = [&](std::uint32_t times, std::uint64_t& passed) {
        const std::uint64_t began = nowNanoseconds();
        Status status = startOnDevice(step, times, error);
        if (status == Status::Ok)
            status = m_devices.finish(error);
        passed = nowNanoseconds() - began;
        return status;
    };
    Status status = took(1, first);
    nanoseconds = first;
    if (status != Status::Ok || first >= kLong)
        return status;
    status = took(kRow, row);
    if (status == Status::Ok)
        status = took(1, again);
    const std::uint64_t share = row > again ? (row - again) / (kRow - 1) : row / kRow;
    const std::uint64_t wait = again > share ? again - share : 0;
    nanoseconds = first > wait ? first - wait : share;
    return status;
}

/// Only the part that starts it comes here.
std::int32_t Executor::runDeviceStep(Run& run, const Step& step)
{
    run.deviceNs = 0;
    const bool counts = m_profiling && (!run.chain || run.timed == step.instruction);
    if (const Port* const port = step.kind == StepKind::Carry ? portOfCarry(step) : nullptr; port != nullptr) {
        run.deviceNs = port->moveNs > 0 ? port->moveNs : 1; // the run's begin and end do it
        return 0;
    }
    Status status = counts ? timeOnDevice(step, run.deviceNs, m_deviceError) : startOnDevice(step, 1, m_deviceError);
    if (status == Status::Ok && m_profiling && !counts)
        status = m_devices.finish(m_deviceError);
    return static_cast<std::int32_t>(status);
}

std::int32_t Executor::runStep(Run& run, const Step& step, std::uint32_t part, std::uint32_t parts)
{
    if (step.isOfDevice())
        return part == 0 ? runDeviceStep(run, step) : 0;
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
    case StepKind::Swap:
    case StepKind::Branch:
    case StepKind::Skip:
    case StepKind::Enter:
    case StepKind::Again:
    case StepKind::Launch:
    case StepKind::Carry: return 0;
    }
    return 0;
}

void Executor::finishInstruction(Run& run, std::uint32_t instruction)
{
    const bool counts = !run.chain || run.timed == instruction;
    if (m_profiling && counts) {
        const std::uint64_t elapsed = run.deviceNs > 0 ? run.deviceNs : nowNanoseconds() - run.mark;
        Profile& profile = m_profiles[instruction];
        profile.minNs = profile.calls == 0 || elapsed < profile.minNs ? elapsed : profile.minNs;
        profile.totalNs += elapsed;
        ++profile.calls;
    }
    if (m_observer != nullptr && !run.chain && run.observed == Status::Ok)
        run.observed = observe(instruction);
    run.deviceNs = 0;
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
        if (run.step->isOfDevice())
            partTask(&run, 0);
        else
            m_parallelFor(m_parallelForUser, m_parts, &partTask, &run);
        if (run.failure.load(std::memory_order_relaxed) != 0)
            return;
        if (run.step->last)
            finishInstruction(run, run.step->instruction);
    }
}

Status Executor::runSteps(Run& run)
{
    Status given = givePorts();
    // Whoever profiles or looks on wants each step when its turn comes.
    const bool isOneRun = given == Status::Ok && !run.chain && !m_profiling && m_observer == nullptr;
    if (isOneRun)
        given = m_devices.beginRun(m_error);
    if (m_profiling)
        run.mark = nowNanoseconds();
    if (given != Status::Ok)
        run.last = run.first;
    if (m_parallelFor != nullptr)
        runOnCaller(run);
    else if (run.last > run.first)
        m_pool->run(&poolTask, &run);
    // Whatever happened: what was started may not run on behind this call.
    ErrorText late;
    const Status ended = isOneRun ? m_devices.endRun(late) : Status::Ok;
    ErrorText later;
    const Status taken = takePorts(later);
    if (ended == Status::Ok)
        late = later;
    if (given != Status::Ok)
        return given;

    const Image& image = m_model->image();
    if (const std::uint64_t failure = run.failure.load(std::memory_order_relaxed); failure != 0) {
        const Step& step = m_steps[run.failedStep];
        const ImageInstruction& in = image.instructions[step.instruction];
        if (step.kind == StepKind::Row)
            return fail(Status::KernelFailed, "a loop ran more often than its result \"%s\" has rows",
                        image.string(in.name));
        const auto code = static_cast<std::int32_t>(static_cast<std::uint32_t>(failure));
        if (step.isOfDevice())
            return fail(static_cast<Status>(code), "\"%.200s\" failed: %s", image.string(in.name), m_deviceError.text);
        return fail(Status::KernelFailed, "kernel \"%s\" failed with code %d", image.string(in.name), code);
    }
    if (ended != Status::Ok || taken != Status::Ok)
        return fail(ended != Status::Ok ? ended : taken, "%s", late.text);
    return run.observed;
}

} // namespace lathe::runtime
