// C = A * B in float32, all matrices N x N, row-major: the steps of a well-known ladder from one thread per element to tiles of
// warps. Tile sizes are those that were published for an RTX A6000; the code is our own. Extents are constants, so that trip counts
// stand in the machine code. Each kernel wants the grid and block that ladder.cpp gives it.

constexpr int N = 4096;

/// One element a thread; the lanes of a warp lie along a column of C, so that every access to A and C is scattered.
extern "C" __global__ void __launch_bounds__(1024) naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    const unsigned row = blockIdx.x * 32 + threadIdx.x;
    const unsigned column = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < N; ++k)
        sum += a[row * N + k] * b[k * N + column];
    c[row * N + column] = sum;
}

/// The same, lanes along a row.
extern "C" __global__ void __launch_bounds__(1024) coalesced(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    const unsigned row = blockIdx.x * 32 + threadIdx.x / 32;
    const unsigned column = blockIdx.y * 32 + threadIdx.x % 32;
    float sum = 0;
    for (int k = 0; k < N; ++k)
        sum += a[row * N + k] * b[k * N + column];
    c[row * N + column] = sum;
}

/// Tiles of 32 x 32 of both operands in shared memory.
extern "C" __global__ void __launch_bounds__(1024) shared_tiles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    __shared__ float tileA[32 * 32], tileB[32 * 32];
    const unsigned y = threadIdx.x / 32, x = threadIdx.x % 32;
    const unsigned row = blockIdx.x * 32 + y, column = blockIdx.y * 32 + x;
    float sum = 0;
    for (int k0 = 0; k0 < N; k0 += 32) {
        tileA[y * 32 + x] = a[row * N + k0 + x];
        tileB[y * 32 + x] = b[(k0 + y) * N + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; ++k)
            sum += tileA[y * 32 + k] * tileB[k * 32 + x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}

/// Eight elements of a column a thread, block tile 64 x 64 x 8.
extern "C" __global__ void __launch_bounds__(512) column_tiles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    __shared__ float tileA[64 * 8], tileB[8 * 64];
    const unsigned x = threadIdx.x % 64, y = threadIdx.x / 64; // of the thread's elements
    const unsigned row = blockIdx.y * 64, column = blockIdx.x * 64;
    const unsigned aRow = threadIdx.x / 8, aColumn = threadIdx.x % 8, bRow = threadIdx.x / 64, bColumn = threadIdx.x % 64;
    float sums[8] = {};
    for (int k0 = 0; k0 < N; k0 += 8) {
        tileA[aRow * 8 + aColumn] = a[(row + aRow) * N + k0 + aColumn];
        tileB[bRow * 64 + bColumn] = b[(k0 + bRow) * N + column + bColumn];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const float right = tileB[k * 64 + x];
#pragma unroll
            for (int i = 0; i < 8; ++i)
                sums[i] += tileA[(y * 8 + i) * 8 + k] * right;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
        c[(row + y * 8 + i) * N + column + x] = sums[i];
}

/// 8 x 8 elements a thread, block tile 128 x 128 x 8, operands moved one by one.
extern "C" __global__ void __launch_bounds__(256) square_tiles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    __shared__ float tileA[128 * 8], tileB[8 * 128];
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    const unsigned row = blockIdx.y * 128, column = blockIdx.x * 128;
    const unsigned aRow = threadIdx.x / 8, aColumn = threadIdx.x % 8, bRow = threadIdx.x / 128, bColumn = threadIdx.x % 128;
    float sums[8][8] = {};
    for (int k0 = 0; k0 < N; k0 += 8) {
#pragma unroll
        for (int i = 0; i < 128; i += 32)
            tileA[(aRow + i) * 8 + aColumn] = a[(row + aRow + i) * N + k0 + aColumn];
#pragma unroll
        for (int i = 0; i < 8; i += 2)
            tileB[(bRow + i) * 128 + bColumn] = b[(k0 + bRow + i) * N + column + bColumn];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            float left[8], right[8];
#pragma unroll
            for (int i = 0; i < 8; ++i)
                left[i] = tileA[(y * 8 + i) * 8 + k];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                right[j] = tileB[k * 128 + x * 8 + j];
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sums[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
            c[(row + y * 8 + i) * N + column + x * 8 + j] = sums[i][j];
}

/// Fills a tile of A, transposed, and a tile of B by accesses of 16 bytes.
template<int M, int COLUMNS, int K, int THREADS>
__device__ __forceinline__ void fill(float (&tileA)[K * M], float (&tileB)[K * COLUMNS], const float* __restrict__ a,
                                     const float* __restrict__ b, unsigned row, unsigned column, unsigned k0)
{
    constexpr unsigned rowsA = THREADS * 4 / K, rowsB = THREADS * 4 / COLUMNS;
    const unsigned aRow = threadIdx.x / (K / 4), aColumn = threadIdx.x % (K / 4) * 4;
    const unsigned bRow = threadIdx.x / (COLUMNS / 4), bColumn = threadIdx.x % (COLUMNS / 4) * 4;
#pragma unroll
    for (unsigned i = 0; i < M; i += rowsA) {
        const float4 four = *reinterpret_cast<const float4*>(&a[(row + aRow + i) * N + k0 + aColumn]);
        tileA[(aColumn + 0) * M + aRow + i] = four.x;
        tileA[(aColumn + 1) * M + aRow + i] = four.y;
        tileA[(aColumn + 2) * M + aRow + i] = four.z;
        tileA[(aColumn + 3) * M + aRow + i] = four.w;
    }
#pragma unroll
    for (unsigned i = 0; i < K; i += rowsB)
        *reinterpret_cast<float4*>(&tileB[(bRow + i) * COLUMNS + bColumn])
            = *reinterpret_cast<const float4*>(&b[(k0 + bRow + i) * N + column + bColumn]);
}

/// As square_tiles, A transposed in shared memory, 16 bytes at a time.
template<int K>
__device__ __forceinline__ void wideTiles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    __shared__ __align__(16) float tileA[K * 128];
    __shared__ __align__(16) float tileB[K * 128];
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    const unsigned row = blockIdx.y * 128, column = blockIdx.x * 128;
    float sums[8][8] = {};
    for (int k0 = 0; k0 < N; k0 += K) {
        fill<128, 128, K, 256>(tileA, tileB, a, b, row, column, k0);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < K; ++k) {
            float left[8], right[8];
#pragma unroll
            for (int i = 0; i < 8; ++i)
                left[i] = tileA[k * 128 + y * 8 + i];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                right[j] = tileB[k * 128 + x * 8 + j];
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sums[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; j += 4)
            *reinterpret_cast<float4*>(&c[(row + y * 8 + i) * N + column + x * 8 + j])
                = make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
}

extern "C" __global__ void __launch_bounds__(256) wide_loads(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    wideTiles<8>(a, b, c);
}

/// The tile that tuning chose on this device: 128 x 128 x 16.
extern "C" __global__ void __launch_bounds__(256) tuned(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    wideTiles<16>(a, b, c);
}

/// Four warps of 64 x 64 in a block tile of 128 x 128 x 16; a thread has four pieces of 8 x 4 beside each other, 16 apart.
extern "C" __global__ void __launch_bounds__(128) warp_tiles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    __shared__ __align__(16) float tileA[16 * 128];
    __shared__ __align__(16) float tileB[16 * 128];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warpRow = warp / 2 * 64, warpColumn = warp % 2 * 64;
    const unsigned x = lane % 4 * 4, y = lane / 4 * 8;
    const unsigned row = blockIdx.y * 128, column = blockIdx.x * 128;
    float sums[8][4][4] = {};
    for (int k0 = 0; k0 < N; k0 += 16) {
        fill<128, 128, 16, 128>(tileA, tileB, a, b, row, column, k0);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float left[8], right[4][4];
#pragma unroll
            for (int i = 0; i < 8; ++i)
                left[i] = tileA[k * 128 + warpRow + y + i];
#pragma unroll
            for (int w = 0; w < 4; ++w)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    right[w][j] = tileB[k * 128 + warpColumn + w * 16 + x + j];
#pragma unroll
            for (int w = 0; w < 4; ++w)
#pragma unroll
                for (int i = 0; i < 8; ++i)
#pragma unroll
                    for (int j = 0; j < 4; ++j)
                        sums[i][w][j] += left[i] * right[w][j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int w = 0; w < 4; ++w)
#pragma unroll
        for (int i = 0; i < 8; ++i)
            *reinterpret_cast<float4*>(&c[(row + warpRow + y + i) * N + column + warpColumn + w * 16 + x])
                = make_float4(sums[i][w][0], sums[i][w][1], sums[i][w][2], sums[i][w][3]);
}
