#include "plugins/cuda/expected/expectation.h"

#include "core/ir/bounds.h"
#include "core/support/message.h"
#include "plugins/cuda/codegen/nvrtc.h"
#include "plugins/cuda/model/nvdisasm.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::cuda {
namespace {

/// Answers that are kept: some hundred bytes each.
constexpr std::size_t kMostKnown = 100'000;
/// Of a launch that are followed to find out what the blocks of a wave share (KernelFactsOptions). Of 65 launches of
/// random layers two took 0.4 % longer with 256 than with 4,096, the others the same, and reading took a third as long.
constexpr std::int64_t kFollowedWarps = 512;

std::string keyOf(const backend::SourceLaunch& launch)
{
    return fmt::format("{} {} {}", launch.symbol, fmt::join(launch.grid, ","), fmt::join(launch.block, ","));
}

void addLoops(const ir::Stmt& statement, ir::Ranges& ranges, LoopExtents& extents)
{
    if (statement == nullptr)
        return;
    if (statement->kind != ir::StmtKind::For) {
        for (const ir::Stmt& inner : statement->body)
            addLoops(inner, ranges, extents);
        return;
    }
    const ir::Interval count = ir::boundsOf(statement->extent, ranges), first = ir::boundsOf(statement->min, ranges);
    if (statement->loop == ir::LoopKind::Serial) {
        const auto trips = static_cast<std::uint64_t>(std::max<std::int64_t>(count.hi, 1));
        extents.most = std::max(extents.most, trips);
        if (!count.isPoint())
            extents.open.push_back(trips);
    }
    const ir::RangeScope scope(ranges, statement->variable,
                               first + ir::Interval{0, std::max<std::int64_t>(count.hi, 1) - 1});
    for (const ir::Stmt& inner : statement->body)
        addLoops(inner, ranges, extents);
}

double bytesOf(const ir::Buffer& buffer)
{
    double bytes = static_cast<double>(sizeOf(buffer.dtype));
    for (const std::int64_t extent : buffer.shape)
        bytes *= static_cast<double>(extent);
    return bytes;
}

/// Whether an error is the program's own; a tool that is not there, or a full disk, may be better the next time.
bool isOfProgram(const Error& error)
{
    return error.code == Errc::BuildFailed || error.code == Errc::Unsupported || error.code == Errc::BadFile
           || error.code == Errc::IllegalSchedule || error.code == Errc::InvalidArgument;
}

/// Parameters as a driver gives them: each its own, on pages that lie apart.
std::vector<std::uint32_t> parametersOf(const backend::SourceLaunch& launch)
{
    constexpr std::uint32_t kFirst = 0x7f00; // upper halves: 4 GiB apart
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
        words.push_back(0);
        words.push_back(kFirst + static_cast<std::uint32_t>(i));
    }
    return words;
}

} // namespace

std::vector<std::uint64_t> guessed(const LoopExtents& known, std::size_t unknown)
{
    return unknown == known.open.size() ? known.open
                                        : std::vector<std::uint64_t>(known.most > 0 ? unknown : 0, known.most);
}

LoopExtents extentsOf(const ir::Launch& launch)
{
    ir::Ranges ranges;
    for (std::size_t axis = 0; axis < launch.grid.size(); ++axis) {
        if (launch.blockIndex[axis].get() != nullptr)
            ranges.setExtent(launch.blockIndex[axis], launch.grid[axis]);
        if (launch.threadIndex[axis].get() != nullptr)
            ranges.setExtent(launch.threadIndex[axis], launch.block[axis]);
    }
    LoopExtents extents;
    addLoops(launch.body, ranges, extents);
    return extents;
}

std::vector<LaunchQuestion> questionsOf(const ir::LoopNest& nest, const backend::KernelSource& source)
{
    std::vector<LaunchQuestion> questions;
    for (std::size_t i = 0; i < source.launches.size(); ++i) {
        LaunchQuestion& question = questions.emplace_back();
        question.launch = &source.launches[i];
        question.head = &source.head;
        question.extents = extentsOf(nest.launches[i]);
        for (const std::int32_t buffer : source.launches[i].buffers)
            question.footprintBytes += bytesOf(nest.buffers[static_cast<std::size_t>(buffer)]);
    }
    return questions;
}

std::vector<Result<Expectation>> Expectations::ask(std::span<const LaunchQuestion> questions)
{
    if (m_known.size() > kMostKnown)
        m_known.clear();
    std::vector<const LaunchQuestion*> missing;
    for (const LaunchQuestion& question : questions)
        if (!m_known.contains(keyOf(*question.launch))
            && std::ranges::none_of(missing, [&question](const LaunchQuestion* other) {
                   return other->launch->symbol == question.launch->symbol;
               }))
            missing.push_back(&question);
    make(missing);
    std::vector<Result<Expectation>> answers;
    for (const LaunchQuestion& question : questions) {
        if (!m_known.contains(keyOf(*question.launch))) { // the same program on another grid than the one before it
            const LaunchQuestion* const one = &question;
            make(std::span(&one, 1));
        }
        answers.push_back(m_known.at(keyOf(*question.launch)));
    }
    std::erase_if(m_known, [](const auto& answer) { return !answer.second && !isOfProgram(answer.second.error()); });
    return answers;
}

/// Programs that are told apart by a namespace each: their small functions have the same names. The names of kernels
/// are C's, which namespaces do not touch.
void Expectations::make(std::span<const LaunchQuestion* const> questions)
{
    if (questions.empty())
        return;
    std::string source;
    for (std::size_t i = 0; i < questions.size(); ++i)
        source += fmt::format("namespace lathe_{} {{\n{}{}\n}}\n", i, *questions[i]->head, questions[i]->launch->text);
    const Result<std::string> text = disassembly(source);
    const Result<SassModule> module = text ? readSass(*text) : Result<SassModule>(text.error());
    if (!module && questions.size() > 1) {
        for (const LaunchQuestion* const& question : questions)
            make(std::span(&question, 1));
        return;
    }
    for (const LaunchQuestion* const question : questions)
        m_known.emplace(keyOf(*question->launch),
                        module ? read(*module, *question) : Result<Expectation>(module.error()));
}

Result<std::string> Expectations::disassembly(const std::string& source) const
{
    LATHE_TRY_ASSIGN(const Nvrtc* const compiler, Nvrtc::find(m_gpu.capability));
    LATHE_TRY_ASSIGN(const std::filesystem::path tool, findDisassembler());
    LATHE_TRY_ASSIGN(const Compiled compiled, compiler->compile(source, m_gpu.capability));
    return disassemble(tool, compiled.cubin);
}

Result<Expectation> Expectations::read(const SassModule& module, const LaunchQuestion& question) const
{
    const backend::SourceLaunch& launch = *question.launch;
    const SassKernel* const kernel = module.find(launch.symbol);
    if (kernel == nullptr)
        return makeError(Errc::Internal, say(Msg::SassNoKernel));
    SassLaunch started{launch.grid, launch.block, parametersOf(launch), launch.dynamicSharedBytes};
    KernelFactsOptions options;
    options.footprintBytes = question.footprintBytes;
    options.mostWarps = kFollowedWarps;
    Expectation made;
    LATHE_TRY_ASSIGN(const SassProfile profile, SassProfile::create(*kernel));
    made.guessedLoops = static_cast<std::size_t>(
        std::ranges::count(profile.loops(), TripSource::Unknown, &SassLoop::source));
    LATHE_TRY_ASSIGN(made.reading, readKernel(module, *kernel, started, m_gpu, options,
                                              guessed(question.extents, made.guessedLoops)));
    // One pass instead of hundreds would make it the best candidate of all.
    if (!made.reading.allTripsKnown)
        return makeError(Errc::Unsupported, say(Msg::CudaModelTrips, launch.symbol));
    LATHE_TRY_ASSIGN(made.time, launchTimeOf(made.reading.facts, m_gpu, GpuClock::Boost));
    made.instructions = static_cast<std::int64_t>(kernel->instructions.size());
    return made;
}

double secondsOf(std::span<const Expectation> launches, const GpuFacts& gpu)
{
    double seconds = 0;
    for (const Expectation& launch : launches)
        seconds += launch.time.seconds + gpu.launchGapSeconds;
    return seconds;
}

std::string toText(const backend::KernelSource& source, std::span<const Expectation> launches, const GpuFacts& gpu)
{
    std::string text = fmt::format("Expected on {}, by a model: nothing was run.\n", gpu.name);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const Expectation& e = launches[i];
        const KernelFacts& facts = e.reading.facts;
        text += fmt::format("\n{}\n"
                            "  {:.3f} us and a gap of {:.1f}; what binds: {}\n"
                            "  {} blocks of {} threads, {} at a time on each of {} SMs: {:.2f} waves\n"
                            "  {} registers, {} bytes of shared memory, {} instructions that spill or reach for "
                            "arrays of a thread\n"
                            "  {} instructions; products and sums of float32 in the hot loop: {:.1f} %\n"
                            "  {:.0f} bytes of a block from the level-2 cache, {:.0f} of the launch from memory\n",
                            source.launches[i].symbol, e.time.seconds * 1e6, gpu.launchGapSeconds * 1e6,
                            toString(e.time.bound), facts.blocks, facts.threads, e.time.occupancy.blocks, gpu.sms,
                            e.time.waves, facts.registers, facts.sharedBytes, e.reading.localAccesses, e.instructions,
                            100 * e.reading.hot.share(SassClass::Ffma), facts.fillBytes, facts.memoryBytes);
        if (e.guessedLoops > 0)
            text += fmt::format("  {} loops whose passes do not follow from the code: taken to be as many as may be\n",
                                e.guessedLoops);
        if (e.reading.unknownAccesses > 0)
            text += fmt::format("  {} accesses whose addresses do not follow from the code: taken to be dense\n",
                                e.reading.unknownAccesses);
    }
    return text;
}

} // namespace lathe::cuda
