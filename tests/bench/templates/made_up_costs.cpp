// Costs that are made up, but of what makes real ones: lanes of vectors that are used, accumulators that hide the time
// of additions until registers run out, work beyond an edge, caches that overflow (cliffs), loops whose counting costs,
// code that is too long. What no such rule explains is 6 % of each configuration's own, the same whenever it is
// measured. Some fail: programs that are too large, and 6 % for no reason.

#include "core/support/random.h"
#include "core/templates/workload_args.h"
#include "tests/bench/templates/tuned_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace lathe::bench {
namespace {

using namespace lathe::templates;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kLanes = 16;
constexpr double kRegisters = 28;

double gauss(Random& random)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i)
        sum += random.uniform();
    return sum;
}

/// A configuration's own.
double ofItsOwn(double seconds, std::uint64_t salt, std::uint64_t index)
{
    Random random(salt, 17, index);
    if (random.uniform() < 0.06)
        return kNever;
    return seconds * std::exp(0.06 * gauss(random));
}

/// 1 within a cache, more beyond, most of it at once.
double beyond(double bytes, double cache, double cost)
{
    return bytes <= cache ? 1 : 1 + cost * std::min(1.0, 0.6 + 0.4 * std::log2(bytes / cache));
}

double caches(double bytes)
{
    return beyond(bytes, 32e3, 0.25) * beyond(bytes, 400e3, 0.5) * beyond(bytes, 2e6, 0.8);
}

/// The innermost tile: rows x columns accumulators, the columns in vectors.
double tileCost(double rows, double columns)
{
    const double vectors = std::ceil(columns / kLanes);
    const double lanes = columns >= kLanes ? columns / (vectors * kLanes)
                                           : columns
                                                 / (columns > 8   ? 16
                                                    : columns > 4 ? 8
                                                                  : 4);
    const double narrow = columns > 8 ? 1 : columns > 4 ? 1.9 : 3.6;
    const double accumulators = rows * vectors;
    const double waits = std::max(1.0, 9 / accumulators);
    const double loads = std::max(1.0, 1.1 * (vectors + rows) / accumulators);
    const double spills = accumulators <= kRegisters ? 1 : std::min(6.0, 1.3 + (accumulators - kRegisters) / 20);
    return narrow / lanes * std::max(waits, loads) * spills;
}

double sizeOf(const Config& config, const char* knob, std::size_t place)
{
    const std::vector<std::int64_t>* sizes = config.sizes(knob);
    return sizes == nullptr || place >= sizes->size() ? 1 : static_cast<double>((*sizes)[place]);
}

double convSeconds(const ConvArgs& conv, const Config& config)
{
    const double ic = sizeOf(config, "tile_ic", 1), oc = sizeOf(config, "tile_oc", 1),
                 ow = sizeOf(config, "tile_ow", 1);
    const auto oh = static_cast<double>(config.number("tile_oh").value_or(1));
    const bool unrolled = config.number("unroll_kw").value_or(0) == 1;
    const auto kernelWidth = static_cast<double>(conv.kernelWidth),
               kernelHeight = static_cast<double>(conv.kernelHeight);
    const auto width = static_cast<double>(conv.outWidth()), height = static_cast<double>(conv.outHeight());
    const auto in = static_cast<double>(conv.inChannels), out = static_cast<double>(conv.outChannels);
    const double code = oh * ow * std::ceil(oc / kLanes) * (unrolled ? kernelWidth : 1);
    if (code > 700)
        return kNever;
    const double flops = 2 * in * out * kernelWidth * kernelHeight * width * height;
    const double tail = std::ceil(width / ow) * ow / width * std::ceil(height / oh) * oh / height;
    const double working = 4
                           * (kernelHeight * kernelWidth * ic * oc
                              + ic * kernelHeight * (ow * static_cast<double>(conv.strides[1]) + kernelWidth));
    const double streamed = 4 * kernelHeight * kernelWidth * in * oc;
    const double counting = 1 + 6 / (oh * ow * std::ceil(oc / kLanes) * (unrolled ? kernelWidth : std::min(ic, 8.0)));
    const double longCode = code > 160 ? 1 + std::min(1.0, (code - 160) / 200) : 1;
    const double chunks = out / oc * std::ceil(height / oh);
    const double parallel = std::ceil(chunks / 2) * 2 / chunks;
    return flops / 1e11 * tileCost(oh * ow, oc) * tail * caches(working) * beyond(streamed, 1e6, 0.15) * counting
           * longCode * parallel;
}

double denseSeconds(const DenseArgs& dense, const Config& config)
{
    const double xi = sizeOf(config, "tile_x", 2), xm = sizeOf(config, "tile_x", 1);
    const double yi = sizeOf(config, "tile_y", 2), ym = sizeOf(config, "tile_y", 1);
    const double ki = sizeOf(config, "tile_k", 1);
    const auto m = static_cast<double>(dense.m), n = static_cast<double>(dense.n), k = static_cast<double>(dense.k);
    const double code = ki * yi * std::ceil(xi / kLanes);
    if (code > 6000)
        return kNever;
    const double working = 4 * (k * xi + yi * ki);
    const double block = 4 * (k * xi * xm + k * yi * ym);
    const double counting = 1 + 6 / (yi * std::ceil(xi / kLanes) * std::min(ki, 16.0));
    const double chunks = m / (yi * ym) * n / (xi * xm);
    const double parallel = chunks < 2 ? 2 : std::ceil(chunks / 2) * 2 / chunks;
    const double longCode = code > 500 ? 1 + std::min(1.5, (code - 500) / 1500) : 1;
    return 2 * m * n * k / 1e11 * tileCost(yi, xi) * caches(working) * beyond(block, 1e6, 0.4) * counting * parallel
           * longCode;
}

double gpuSeconds(const ConvArgs& conv, const Config& config)
{
    const char* tiles[] = {"tile_f", "tile_y", "tile_x"};
    const double extents[] = {static_cast<double>(conv.outChannels), static_cast<double>(conv.outHeight()),
                              static_cast<double>(conv.outWidth())};
    double threads = 1, perThread = 1, blocks = 1, tile[3], inner[3];
    for (std::size_t j = 0; j < 3; ++j) {
        inner[j] = sizeOf(config, tiles[j], 1) * sizeOf(config, tiles[j], 3);
        tile[j] = inner[j] * sizeOf(config, tiles[j], 2);
        threads *= sizeOf(config, tiles[j], 2);
        perThread *= inner[j];
        blocks *= extents[j] / tile[j];
    }
    const double rc = sizeOf(config, "tile_rc", 1), ry = sizeOf(config, "tile_ry", 1),
                 rx = sizeOf(config, "tile_rx", 1);
    const auto stride = static_cast<double>(conv.strides[0]);
    const double patch = rc * (tile[1] * stride + ry - 1) * (tile[2] * stride + rx - 1),
                 weights = rc * ry * rx * tile[0];
    const double shared = 4 * (patch + weights);
    if (shared > 48e3 || perThread > 512)
        return kNever;
    const auto unroll = static_cast<double>(config.number("auto_unroll_max_step").value_or(0));
    const double body = perThread * rc * ry * rx;
    const double flops = 2 * static_cast<double>(conv.inChannels * conv.kernelHeight * conv.kernelWidth) * extents[0]
                         * extents[1] * extents[2];
    const double warps = std::ceil(threads / 32);
    const double lanes = threads / (warps * 32);
    const double resident = std::max(1.0, std::min({16.0, std::floor(64 / warps), std::floor(96e3 / shared),
                                                    std::floor(65536 / (threads * (24 + perThread)))}));
    const double hides = std::min(1.0, warps * resident * std::min(perThread, 8.0) / 96);
    const double waves = blocks / (80 * resident);
    const double tail = std::ceil(waves) / waves;
    const double sharedLoads = (inner[0] + inner[1] * inner[2]) / perThread;
    const double conflicts = sizeOf(config, "tile_x", 2) >= 4 ? 1 : 1.5;
    const double steps = static_cast<double>(conv.inChannels) / rc * static_cast<double>(conv.kernelHeight) / ry
                         * static_cast<double>(conv.kernelWidth) / rx;
    const double traffic = 4 * blocks * steps * (patch + weights) / (sizeOf(config, "tile_x", 2) >= 8 ? 1 : 0.6);
    const double counting = unroll > 0 && body <= unroll ? 1 : 1.25;
    const double longCode = unroll > 0 && body > 0.7 * unroll && body <= unroll ? 1.1 : 1;
    const double spills = perThread > 160 ? 2.5 : 1;
    const double compute = flops / 1.2e13 / lanes / hides * tail * std::max(1.0, 2 * sharedLoads * conflicts) * counting
                           * longCode * spills;
    const double memory = traffic / 2.5e12;
    return std::max(compute, memory) + 0.3 * std::min(compute, memory) + steps * std::ceil(waves) * 4e-7;
}

TunedSpace tuned(std::string name, const Workload& workload, const TemplateFacts& facts,
                 std::function<double(const Config&)> rule, std::uint64_t looks)
{
    Result<ConfigSpace> space = spaceOf(workload, facts);
    if (!space) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), space.error().message.c_str());
        std::exit(1);
    }
    TunedSpace out{std::move(name), *std::move(space), {}, kNever};
    std::uint64_t salt = out.space.size();
    for (const char c : out.name)
        salt = salt * 31 + static_cast<unsigned char>(c);
    // A copy of the space of its own, as this one moves.
    out.seconds = [salt, rule = std::move(rule), copy = out.space](std::uint64_t index) {
        const double seconds = rule(*copy.at(index));
        return std::isfinite(seconds) ? ofItsOwn(seconds, salt, index) : kNever;
    };
    Random random(salt);
    for (std::uint64_t i = 0; i < std::min(looks, out.space.size()); ++i) {
        const std::uint64_t index = looks < out.space.size() ? random.below(out.space.size()) : i;
        if (out.space.constraints().empty() || !out.space.refusal(*out.space.at(index)))
            out.best = std::min(out.best, out.seconds(index));
    }
    return out;
}

ConvArgs conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t size)
{
    ConvArgs args;
    args.inChannels = in;
    args.outChannels = out;
    args.height = args.width = size;
    args.kernelHeight = args.kernelWidth = kernel;
    args.strides = {stride, stride};
    args.padding.fill(kernel / 2);
    return args;
}

} // namespace

std::vector<TunedSpace> madeUpSpaces(bool huge)
{
    std::vector<TunedSpace> spaces;
    TemplateFacts facts;
    if (huge) {
        facts.maxThreadsPerBlock = 1024;
        for (const ConvArgs& args : {conv(64, 64, 3, 1, 56), conv(256, 256, 3, 1, 14)})
            spaces.push_back(tuned(
                fmt::format("cuda {}x{} {}", args.kernelWidth, args.kernelWidth, args.height),
                convWorkload("conv2d_nchw.cuda", args), facts,
                [args](const Config& config) { return gpuSeconds(args, config); }, 300'000));
        return spaces;
    }
    for (const ConvArgs& args : {conv(3, 64, 7, 2, 224), conv(64, 64, 3, 1, 56), conv(64, 64, 1, 1, 56),
                                 conv(128, 128, 3, 1, 28), conv(256, 256, 3, 1, 14), conv(256, 512, 1, 2, 14)})
        spaces.push_back(tuned(
            fmt::format("{}x{} {} to {}, {}", args.kernelWidth, args.kernelWidth, args.inChannels, args.outChannels,
                        args.height),
            convWorkload("conv2d_NCHWc.x86", args), facts,
            [args](const Config& config) { return convSeconds(args, config); }, ~0ULL));
    const DenseArgs dense{64, 1024, 512};
    spaces.push_back(tuned(
        "dense 64 x 1024 x 512", denseWorkload("dense_pack.x86", dense), facts,
        [dense](const Config& config) { return denseSeconds(dense, config); }, 200'000));
    return spaces;
}

} // namespace lathe::bench
