#include "tests/core/backend/printed_kernels.h"

namespace lathe::test {

using ir::Expr;
using ir::floorDiv;
using ir::floorMod;
using ir::intImm;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;

namespace {

ir::Buffer row(const std::string& name, DType dtype, Scope scope, std::int64_t elements, bool readOnly = false)
{
    return {name, dtype, scope, {elements}, {1}, readOnly, false};
}

Stmt loop(const Expr& variable, std::int64_t extent, LoopKind kind, Stmt body)
{
    return ir::makeFor(variable, intImm(0), intImm(extent), kind, std::move(body));
}

} // namespace

ir::Buffer parameter(const std::string& name, DType dtype, bool readOnly)
{
    return row(name, dtype, Scope::Parameter, 64, readOnly);
}

ir::Buffer shared(const std::string& name, DType dtype, std::int64_t elements)
{
    return row(name, dtype, Scope::Shared, elements);
}

Expr load(std::int32_t buffer, Expr index, DType dtype)
{
    return ir::load(buffer, dtype, {std::move(index)});
}

Stmt store(std::int32_t buffer, Expr index, Expr value)
{
    return ir::makeStore(buffer, {std::move(index)}, std::move(value));
}

ir::LoopNest oneLaunch(std::vector<ir::Buffer> buffers, std::int64_t threads,
                       const std::function<Stmt(const Expr& thread)>& body)
{
    ir::LoopNest nest;
    nest.name = "test";
    nest.buffers = std::move(buffers);
    ir::Launch launch;
    launch.name = "launch";
    launch.block = {threads, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) {
        launch.blockIndex[d] = ir::var("block");
        launch.threadIndex[d] = ir::var("thread");
    }
    launch.body = body(launch.threadIndex[0]);
    nest.launches.push_back(std::move(launch));
    return nest;
}

ir::LoopNest tiledProduct()
{
    constexpr std::int32_t kA = 0, kB = 1, kC = 2, kSharedA = 3, kSharedB = 4, kSum = 5;
    return oneLaunch(
        {row("A", DType::F32, Scope::Parameter, 2048, true), row("B", DType::F32, Scope::Parameter, 2048, true),
         row("C", DType::F32, Scope::Parameter, 1024), shared("A_shared", DType::F32, 256),
         shared("B_shared", DType::F32, 256), row("sum", DType::F32, Scope::Register, 16)},
        64, [](const Expr& thread) {
            const Expr outer = ir::var("outer"), inner = ir::var("inner"), i = ir::var("i"), j = ir::var("j");
            const Expr tile = thread * intImm(4) + j;
            const Expr y = floorDiv(thread, intImm(8)), x = floorMod(thread, intImm(8));
            const Expr mine = i * intImm(4) + j;
            const auto elements = [&](Stmt body) {
                return loop(i, 4, LoopKind::Unrolled, loop(j, 4, LoopKind::Vectorized, std::move(body)));
            };
            const auto vector = [&](Stmt body) { return loop(j, 4, LoopKind::Vectorized, std::move(body)); };
            const Expr fromA = floorDiv(thread, intImm(2)) * intImm(64) + outer * intImm(8)
                               + floorMod(thread, intImm(2)) * intImm(4) + j;
            const Expr fromB = (outer * intImm(8) + y) * intImm(32) + x * intImm(4) + j;
            const Expr product = load(kSharedA, (y * intImm(4) + i) * intImm(8) + inner)
                                 * load(kSharedB, inner * intImm(32) + x * intImm(4) + j);
            return ir::makeBlock(
                {elements(store(kSum, mine, ir::floatImm(0))),
                 loop(outer, 8, LoopKind::Serial,
                      ir::makeBlock(
                          {ir::makeBarrier(), vector(store(kSharedA, tile, load(kA, fromA))),
                           vector(store(kSharedB, tile, load(kB, fromB))), ir::makeBarrier(),
                           loop(inner, 8, LoopKind::Serial, elements(store(kSum, mine, load(kSum, mine) + product)))})),
                 elements(store(kC, (y * intImm(4) + i) * intImm(32) + x * intImm(4) + j, load(kSum, mine)))});
        });
}

ir::LoopNest reduction()
{
    constexpr std::int32_t kX = 0, kY = 1, kParts = 2;
    return oneLaunch({parameter("x", DType::F32, true), parameter("y", DType::F32), shared("parts", DType::F32, 64)},
                     64, [](const Expr& thread) {
                         std::vector<Stmt> body = {store(kParts, thread, load(kX, thread)), ir::makeBarrier()};
                         for (std::int64_t half = 32; half > 8; half /= 2) {
                             body.push_back(ir::makeIf(
                                 thread < intImm(half),
                                 store(kParts, thread, load(kParts, thread) + load(kParts, thread + intImm(half)))));
                             body.push_back(ir::makeBarrier());
                         }
                         body.push_back(ir::makeIf(ir::eq(thread, intImm(0)), store(kY, thread, load(kParts, thread))));
                         return ir::makeBlock(body);
                     });
}

const char* const kTiledProduct =
    R"KERNEL(__device__ inline float4 operator*(float a, float4 b) { return make_float4(a * b.x, a * b.y, a * b.z, a * b.w); }
__device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ inline float4 spread_float4(float a) { return make_float4(a, a, a, a); }

// launch: 1 block of 64 threads
extern "C" __global__ void __launch_bounds__(64)
SYMBOL(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C)
{
    __shared__ __align__(16) float A_shared[256];
    __shared__ __align__(16) float B_shared[256];
    float4 sum[4];
    const int thread = threadIdx.x;
    const int at_0 = (thread / 2);
    const int at_1 = (thread % 2);
    const int at_2 = at_0 * 64 + at_1 * 4;
    const int at_4 = thread * 4;
    const int at_6 = (thread / 8);
    const int at_7 = at_6 * 32;
    const int at_9 = (thread % 8);
    const int at_10 = at_9 * 4;
    const int at_12 = at_6 * 128 + at_9 * 4;
    sum[0] = spread_float4(0.0f);
    sum[1] = spread_float4(0.0f);
    sum[2] = spread_float4(0.0f);
    sum[3] = spread_float4(0.0f);
    #pragma unroll 1
    for (int outer = 0; outer < 8; ++outer) {
        const int at_3 = at_2 + outer * 8;
        const int at_5 = at_4 + outer * 256;
        __syncthreads();
        const float4 got_0 = (*(const float4*)(A + at_3));
        *(float4*)(A_shared + at_4) = got_0;
        const float4 got_1 = (*(const float4*)(B + at_5));
        *(float4*)(B_shared + at_4) = got_1;
        __syncthreads();
        #pragma unroll 8
        for (int inner = 0; inner < 8; ++inner) {
            const int at_8 = at_7 + inner;
            const int at_11 = at_10 + inner * 32;
            const float got_2 = A_shared[at_8];
            const float4 got_3 = (*(float4*)(B_shared + at_11));
            sum[0] = (sum[0] + (got_2 * got_3));
            const float got_4 = A_shared[at_8 + 8];
            sum[1] = (sum[1] + (got_4 * got_3));
            const float got_5 = A_shared[at_8 + 16];
            sum[2] = (sum[2] + (got_5 * got_3));
            const float got_6 = A_shared[at_8 + 24];
            sum[3] = (sum[3] + (got_6 * got_3));
        }
    }
    *(float4*)(C + at_12) = sum[0];
    *(float4*)(C + at_12 + 32) = sum[1];
    *(float4*)(C + at_12 + 64) = sum[2];
    *(float4*)(C + at_12 + 96) = sum[3];
}
)KERNEL";

const char* const kTiledProductInOpenCl = R"KERNEL(
// launch: 1 block of 64 threads
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void launch_f0635a80d48f0328(__global const float *restrict A, __global const float *restrict B, __global float *restrict C)
{
    __local float A_shared[256] __attribute__((aligned(16)));
    __local float B_shared[256] __attribute__((aligned(16)));
    float4 sum[4];
    const int thread = get_local_id(0);
    const int at_0 = (thread / 2);
    const int at_1 = (thread % 2);
    const int at_2 = at_0 * 64 + at_1 * 4;
    const int at_4 = thread * 4;
    const int at_6 = (thread / 8);
    const int at_7 = at_6 * 32;
    const int at_9 = (thread % 8);
    const int at_10 = at_9 * 4;
    const int at_12 = at_6 * 128 + at_9 * 4;
    sum[0] = (float4)(0.0f);
    sum[1] = (float4)(0.0f);
    sum[2] = (float4)(0.0f);
    sum[3] = (float4)(0.0f);
    for (int outer = 0; outer < 8; ++outer) {
        const int at_3 = at_2 + outer * 8;
        const int at_5 = at_4 + outer * 256;
        barrier(CLK_LOCAL_MEM_FENCE);
        const float4 got_0 = (*(__global const float4*)(A + at_3));
        *(__local float4*)(A_shared + at_4) = got_0;
        const float4 got_1 = (*(__global const float4*)(B + at_5));
        *(__local float4*)(B_shared + at_4) = got_1;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int inner = 0; inner < 8; ++inner) {
            const int at_8 = at_7 + inner;
            const int at_11 = at_10 + inner * 32;
            const float got_2 = A_shared[at_8];
            const float4 got_3 = (*(__local float4*)(B_shared + at_11));
            sum[0] = (sum[0] + (got_2 * got_3));
            const float got_4 = A_shared[at_8 + 8];
            sum[1] = (sum[1] + (got_4 * got_3));
            const float got_5 = A_shared[at_8 + 16];
            sum[2] = (sum[2] + (got_5 * got_3));
            const float got_6 = A_shared[at_8 + 24];
            sum[3] = (sum[3] + (got_6 * got_3));
        }
    }
    *(__global float4*)(C + at_12) = sum[0];
    *(__global float4*)(C + at_12 + 32) = sum[1];
    *(__global float4*)(C + at_12 + 64) = sum[2];
    *(__global float4*)(C + at_12 + 96) = sum[3];
}
)KERNEL";

const char* const kReduction = R"KERNEL(
// launch: 1 block of 64 threads
extern "C" __global__ void __launch_bounds__(64)
SYMBOL(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ __align__(16) float parts[64];
    const int thread = threadIdx.x;
    parts[thread] = x[thread];
    __syncthreads();
    if ((thread < 32)) {
        parts[thread] = (parts[thread] + parts[thread + 32]);
    }
    __syncthreads();
    if ((thread < 16)) {
        parts[thread] = (parts[thread] + parts[thread + 16]);
    }
    __syncthreads();
    if ((thread == 0)) {
        y[thread] = parts[thread];
    }
}
)KERNEL";

} // namespace lathe::test
