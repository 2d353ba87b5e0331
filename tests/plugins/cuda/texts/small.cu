// The kernels of small_*.sass, which NVRTC 13.5 and nvdisasm -hex made of them; sections without code or sizes are left out.
extern "C" __global__ void __launch_bounds__(64) small(const float4* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n)
{
    __shared__ __align__(16) float tile[256];
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
    for (int i = 0; i < 96; i += 8) {
        tile[threadIdx.x * 2] = b[(blockIdx.x * 96 + i) * 64 + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < 5; ++j) {
            const float4 x = *reinterpret_cast<const float4*>(&tile[(threadIdx.x % 8) * 8]);
            const float4 y = a[j * 1024 + threadIdx.x];
            sum.x += x.x * y.x;
            sum.y += x.y * y.y;
            sum.z += x.z * y.z;
            sum.w += x.w * y.w;
        }
        __syncthreads();
    }
    if (threadIdx.x < n)
        c[blockIdx.x * 64 + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
extern "C" __global__ void open_loop(const float* __restrict__ a, float* __restrict__ c, int n)
{
    float s = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i)
        s += a[i * 32 + threadIdx.x];
    c[threadIdx.x] = s;
}
extern "C" __global__ void spills(float* c)
{
    float array[64];
#pragma unroll 1
    for (int i = 0; i < 64; ++i)
        array[i] = c[i];
    c[threadIdx.x] = array[threadIdx.x % 64];
}
