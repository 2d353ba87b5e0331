// Kernels to time the interpreter with: products of 256 x 256 x 256 by tiles of several shapes, and a 3 x 3 convolution of 56 x 56 x 64
// to 64 channels in the forms that Lathe's candidates have, from a good one to one that reuses nothing. 115.6 million products each.

__device__ inline float4 operator*(float a, float4 b) { return make_float4(a * b.x, a * b.y, a * b.z, a * b.w); }
__device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ inline float4 spread_float4(float a) { return make_float4(a, a, a, a); }

/// Tiles of 16 x 16: two reads of shared memory for each product.
extern "C" __global__ void __launch_bounds__(256) product_small(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ float ta[16][17], tb[16][16];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.x / 16 * 16 + ty, column = blockIdx.x % 16 * 16 + tx;
    float sum = 0;
    for (int k = 0; k < 256; k += 16) {
        ta[ty][tx] = a[row * 256 + k + tx];
        tb[ty][tx] = b[(k + ty) * 256 + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            sum += ta[ty][i] * tb[i][tx];
        __syncthreads();
    }
    c[row * 256 + column] = sum;
}

/// Tiles of ROWS x 64, each thread with ROWS / 16 x 4 elements.
template<int ROWS>
__device__ void product(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ __align__(16) float ta[16][ROWS], tb[16][64];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.x / 4 * ROWS, column = blockIdx.x % 4 * 64;
    float4 sum[ROWS / 16];
    for (int p = 0; p < ROWS / 16; ++p)
        sum[p] = spread_float4(0.0f);
    for (int k = 0; k < 256; k += 16) {
        __syncthreads();
        for (int f = 0; f < ROWS / 16; ++f)
            ta[t % 16][f * 16 + t / 16] = a[(row + f * 16 + t / 16) * 256 + k + t % 16];
        *(float4*)&tb[t / 16][t % 16 * 4] = *(const float4*)&b[(k + t / 16) * 256 + column + t % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i)
#pragma unroll
            for (int p = 0; p < ROWS / 16; ++p)
                sum[p] = sum[p] + ta[i][ty * (ROWS / 16) + p] * *(float4*)&tb[i][tx * 4];
    }
    for (int p = 0; p < ROWS / 16; ++p)
        *(float4*)&c[(row + ty * (ROWS / 16) + p) * 256 + column + tx * 4] = sum[p];
}
extern "C" __global__ void __launch_bounds__(256) product_32x64(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) { product<32>(a, b, c); }
extern "C" __global__ void __launch_bounds__(256) product_64x64(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) { product<64>(a, b, c); }

/// 56 pixels by 64 channels a block of 112 threads, each with 4 pixels by 8 channels.
extern "C" __global__ void __launch_bounds__(112)
conv_good(const float *__restrict__ data, const float *__restrict__ kernel, const float* __restrict__ bias, float *__restrict__ out)
{
    __shared__ __align__(16) float d_shared[9 * 10 * 8];
    __shared__ __align__(16) float w_shared[3 * 3 * 8 * 64];
    float4 sum[8];
    const int thread = threadIdx.x;
    const int by = blockIdx.x / 7, bx = blockIdx.x % 7; // 8 x 7 blocks of 7 x 8 pixels
    const int pg = thread / 8, cg = thread % 8; // pg 0..13 -> row pg/2, 4 columns (pg%2)*4
    for (int i = 0; i < 8; ++i) sum[i] = spread_float4(0.0f);
    for (int rc = 0; rc < 8; ++rc) {
        __syncthreads();
        for (int f = 0; f < 7; ++f) {
            const int at = f * 112 + thread;
            if (at < 720) {
                const int c = at % 8, x = at / 8 % 10, y = at / 80;
                const int iy = by * 7 + y - 1, ix = bx * 8 + x - 1;
                d_shared[at] = (0 <= iy && iy < 56 && 0 <= ix && ix < 56) ? data[(iy * 56 + ix) * 64 + rc * 8 + c] : 0.0f;
            }
        }
        for (int f = 0; f < 11; ++f) {
            const int at = f * 448 + thread * 4;
            if (at < 4608)
                *(float4*)&w_shared[at] = *(const float4*)&kernel[(at / 512) * 4096 + rc * 512 + at % 512];
        }
        __syncthreads();
        for (int ry = 0; ry < 3; ++ry)
            for (int rx = 0; rx < 3; ++rx)
#pragma unroll
                for (int c = 0; c < 8; ++c)
#pragma unroll
                    for (int p = 0; p < 4; ++p)
#pragma unroll
                        for (int q = 0; q < 2; ++q)
                            sum[p * 2 + q] = sum[p * 2 + q] + d_shared[((pg / 2 + ry) * 10 + (pg % 2) * 4 + p + rx) * 8 + c] * *(float4*)&w_shared[((ry * 3 + rx) * 8 + c) * 64 + cg * 8 + q * 4];
    }
    for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 2; ++q) {
            const float4 b = *(const float4*)&bias[cg * 8 + q * 4];
            const float4 s = sum[p * 2 + q];
            *(float4*)&out[((by * 7 + pg / 2) * 56 + bx * 8 + (pg % 2) * 4 + p) * 64 + cg * 8 + q * 4] = make_float4(fmaxf(s.x + b.x, 0.f), fmaxf(s.y + b.y, 0.f), fmaxf(s.z + b.z, 0.f), fmaxf(s.w + b.w, 0.f));
        }
}
/// 7 pixels by 8 channels a block of 28 threads, each with two channels; nothing is unrolled.
extern "C" __global__ void __launch_bounds__(28)
conv_poor(const float *__restrict__ data, const float *__restrict__ kernel, const float* __restrict__ bias, float *__restrict__ out)
{
    __shared__ __align__(16) float d_shared[3 * 9 * 4];
    __shared__ __align__(16) float w_shared[3 * 3 * 4 * 8];
    float sum[2];
    const int thread = threadIdx.x;
    const int by = blockIdx.x / 64, bx = blockIdx.x / 8 % 8, bc = blockIdx.x % 8; // 56 x 8 x 8 blocks of 1 x 7 pixels x 8 channels
    const int px = thread / 4, cg = thread % 4;
    for (int i = 0; i < 2; ++i) sum[i] = 0.0f;
    for (int rc = 0; rc < 16; ++rc) {
        __syncthreads();
        for (int f = 0; f < 4; ++f) {
            const int at = f * 28 + thread;
            if (at < 108) {
                const int c = at % 4, x = at / 4 % 9, y = at / 36;
                const int iy = by + y - 1, ix = bx * 7 + x - 1;
                d_shared[at] = (0 <= iy && iy < 56 && 0 <= ix && ix < 56) ? data[(iy * 56 + ix) * 64 + rc * 4 + c] : 0.0f;
            }
        }
        for (int f = 0; f < 11; ++f) {
            const int at = f * 28 + thread;
            if (at < 288)
                w_shared[at] = kernel[(at / 32) * 4096 + (rc * 4 + at / 8 % 4) * 64 + bc * 8 + at % 8];
        }
        __syncthreads();
#pragma unroll 1
        for (int ry = 0; ry < 3; ++ry)
#pragma unroll 1
            for (int rx = 0; rx < 3; ++rx)
#pragma unroll 1
                for (int c = 0; c < 4; ++c)
#pragma unroll
                    for (int q = 0; q < 2; ++q)
                        sum[q] = sum[q] + d_shared[(ry * 9 + px + rx) * 4 + c] * w_shared[((ry * 3 + rx) * 4 + c) * 8 + cg * 2 + q];
    }
    for (int q = 0; q < 2; ++q)
        out[(by * 56 + bx * 7 + px) * 64 + bc * 8 + cg * 2 + q] = fmaxf(sum[q] + bias[bc * 8 + cg * 2 + q], 0.f);
}
/// One element a thread, from global memory.
extern "C" __global__ void __launch_bounds__(64)
conv_direct(const float *__restrict__ data, const float *__restrict__ kernel, const float* __restrict__ bias, float *__restrict__ out)
{
    const int y = blockIdx.x / 56, x = blockIdx.x % 56, c = threadIdx.x;
    float sum = 0;
    for (int ry = 0; ry < 3; ++ry)
        for (int rx = 0; rx < 3; ++rx)
            for (int rc = 0; rc < 64; ++rc) {
                const int iy = y + ry - 1, ix = x + rx - 1;
                sum = sum + ((0 <= iy && iy < 56 && 0 <= ix && ix < 56) ? data[(iy * 56 + ix) * 64 + rc] : 0.0f) * kernel[((ry * 3 + rx) * 64 + rc) * 64 + c];
            }
    out[(y * 56 + x) * 64 + c] = fmaxf(sum + bias[c], 0.f);
}
