// Random schedules of layers that networks have, as OpenCL C: what registers.py compiles.
//
// Usage: launch_texts FOLDER [COUNT [SEED]]
//
// Writes FOLDER/N.cl, COUNT of them (200), and FOLDER/resources.csv: file, kernel, threads, shared bytes, local bytes,
// registers. Half are of the reference's rules for cuda, the others default schedules and its rules for mali.

#include "core/backend/c_source.h"
#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/softmax.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/search/reference/annotate.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace lathe;
using compute::DagBuilder;
using compute::NameEra;
using compute::Tensor;

namespace {

Result<compute::DagPtr> layer(Random& random)
{
    DagBuilder b;
    const auto pick = [&random](std::initializer_list<std::int64_t> of) {
        return *(of.begin() + random.below(of.size()));
    };
    const std::int64_t channels = pick({16, 32, 64, 128, 256}), size = pick({7, 14, 28, 56}),
                       filters = pick({32, 64, 96, 128, 256}), kind = pick({0, 0, 0, 1, 2, 3, 4});
    const auto image = [&] { return b.placeholder("data", {1, channels, size, size}, DType::F32); };
    Tensor y;
    compute::Conv2dParams conv;
    conv.padding = {1, 1, 1, 1};
    if (kind == 0) {
        const std::int64_t kernel = pick({1, 3});
        conv.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
        y = conv2d(b, image(), b.placeholder("kernel", {filters, channels, kernel, kernel}, DType::F32), conv,
                   NameEra::Flat);
        y = binary(b, compute::Binary::Add, y, b.placeholder("bias", {filters, 1, 1}, DType::F32));
        y = unary(b, compute::Unary::Relu, y);
    } else if (kind == 1) {
        y = depthwiseConv2d(b, image(), b.placeholder("kernel", {channels, 1, 3, 3}, DType::F32), conv, NameEra::Flat);
    } else if (kind == 2) {
        const Tensor a = b.placeholder("A", {size * 8, channels}, DType::F32),
                     w = b.placeholder("B", {channels, filters}, DType::F32);
        y = b.reduce("C", {size * 8, filters}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", channels}},
                     [&](const std::vector<ir::Expr>& i, const std::vector<ir::Expr>& r) {
                         return b.at(a, {i[0], r[0]}) * b.at(w, {r[0], i[1]});
                     });
    } else if (kind == 3) {
        compute::Pool2dParams pool;
        pool.kernel = {3, 3};
        pool.strides = {2, 2};
        pool.padding = {1, 1, 1, 1};
        y = pool2d(b, image(), compute::PoolKind::Max, pool);
    } else {
        y = softmax(b, b.placeholder("data", {size, filters * 10}, DType::F32), 1);
    }
    return std::move(b).finish({y});
}

Result<schedule::State> draw(const compute::DagPtr& dag, Random& random)
{
    if (random.below(4) == 0)
        return schedule::planDefaultLaunches(dag, {});
    LATHE_TRY_ASSIGN(const Target target, Target::parse(random.below(3) == 0 ? "opencl -device=mali" : "cuda"));
    const Hardware hardware = defaultHardware(target);
    const auto context = search::SketchRuleContext::of(target, hardware);
    LATHE_TRY_ASSIGN(const auto sketches, search::generateReferenceSketches(dag, target, hardware));
    const search::ReferenceSketch sketch("s", "direct", sketches[random.below(sketches.size())], context);
    search::Genome genome;
    return sketch.sample(random, genome);
}

/// One kernel that could run; nothing where what was drawn has more than a device gives.
Result<bool> write(const std::filesystem::path& folder, std::size_t number, Random& random, std::ofstream& table)
{
    LATHE_TRY_ASSIGN(const compute::DagPtr dag, layer(random));
    const auto state = draw(dag, random);
    if (!state)
        return false;
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(*state, options));
    const auto resources = schedule::resourcesOf(kernel.nest, Hardware()); // as AMD's compiler has it
    for (const schedule::LaunchResources& r : resources)
        if (r.threads < 32 || r.threads > 1024 || r.sharedBytes > 48 * 1024 || r.localBytes > 0)
            return false;
    LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest));
    if (source.text().size() > 200'000)
        return false;
    std::ofstream(folder / fmt::format("{}.cl", number)) << source.text();
    for (std::size_t i = 0; i < resources.size(); ++i)
        table << fmt::format("{}.cl,{},{},{},{},{}\n", number, source.launches[i].symbol, resources[i].threads,
                             resources[i].sharedBytes, resources[i].localBytes, resources[i].registers);
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "Usage: launch_texts FOLDER [COUNT [SEED]]\n");
        return 1;
    }
    const std::filesystem::path folder = argv[1];
    const std::size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
    Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
    std::filesystem::create_directories(folder);
    std::ofstream table(folder / "resources.csv");
    table << "file,kernel,threads,shared,local,registers\n";
    for (std::size_t written = 0; written < count;) {
        const auto one = write(folder, written, random, table);
        if (!one) {
            std::fprintf(stderr, "%s\n", one.error().message.c_str());
            return 1;
        }
        written += *one ? 1 : 0;
    }
    return 0;
}
