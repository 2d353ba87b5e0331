#include "tests/cuda_driver/opened_driver.h"
#include "tests/support/test_program.h"

#include <cmath>
#include <functional>
#include <random>

using lathe::cuda_driver::testing::Environment;
using lathe::cuda_driver::testing::OpenedDriver;

namespace tst_cuda_nvrtc {

const char* const kSource = R"(
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
extern "C" __global__ void __launch_bounds__(256) sgemm(const float* a, const float* b, float* c, int n)
{
    __shared__ float ta[16][17], tb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        ta[ty][tx] = a[row * n + k + tx];
        tb[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            sum += ta[ty][i] * tb[i][tx];
#ifndef MISSING_BARRIER
        __syncthreads();
#endif
    }
    c[row * n + column] = sum;
}
__device__ __forceinline__ void copy16(void* to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
extern "C" __global__ void __launch_bounds__(256) sgemm_async(const float* a, const float* b, float* c, int n)
{
    __shared__ __align__(16) float ta[2][16][64], tb[2][16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    auto load = [&](int stage, int k) {
        copy16(&tb[stage][t / 16][t % 16 * 4], &b[(k + t / 16) * n + column + t % 16 * 4]);
        float4 v = *(const float4*)&a[(row + t / 4) * n + k + t % 4 * 4];
        ta[stage][t % 4 * 4][t / 4] = v.x, ta[stage][t % 4 * 4 + 1][t / 4] = v.y;
        ta[stage][t % 4 * 4 + 2][t / 4] = v.z, ta[stage][t % 4 * 4 + 3][t / 4] = v.w;
        asm volatile("cp.async.commit_group;");
    };
    load(0, 0);
    for (int k = 0, stage = 0; k < n; k += 16, stage ^= 1) {
        if (k + 16 < n) {
            load(stage ^ 1, k + 16);
            asm volatile("cp.async.wait_group %0;" ::"n"(WAIT) : "memory");
        } else
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float4 x = *(float4*)&ta[stage][i][ty * 4], y = *(float4*)&tb[stage][i][tx * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int p = 0; p < 4; ++p)
#pragma unroll
                for (int q = 0; q < 4; ++q)
                    sum[p][q] += xs[p] * ys[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; ++p)
        *(float4*)&c[(row + ty * 4 + p) * n + column + tx * 4] = make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}
extern "C" __global__ void reduce(const float* x, float* out, int n)
{
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += x[i];
    for (int o = 16; o > 0; o >>= 1)
        s += __shfl_down_sync(~0u, s, o);
    __shared__ float parts[32];
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int o = 16; o > 0; o >>= 1)
            s += __shfl_xor_sync(~0u, s, o);
        if (threadIdx.x == 0)
            atomicAdd(out, s);
    }
}
// Split over k: each block adds its part, the last one to come applies what follows.
__device__ unsigned arrived[64];
extern "C" __global__ void split_dot(const float* x, const float* y, float* parts, float* out, int n)
{
    __shared__ float s[128];
    __shared__ bool last;
    int piece = n / gridDim.x, from = blockIdx.x * piece;
    float sum = 0;
    for (int i = threadIdx.x; i < piece; i += 128)
        sum += x[from + i] * y[from + i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int o = 64; o > 0; o /= 2) {
        if (threadIdx.x < o)
            s[threadIdx.x] += s[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = s[0];
#ifndef MISSING_FENCE
        __threadfence();
#endif
        last = atomicInc(&arrived[0], gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float total = 0;
        for (int i = 0; i < gridDim.x; ++i)
            total += parts[i];
        *out = total;
    }
}
__constant__ float table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
__device__ __noinline__ float looked_up(float v, int k)
{
    float t[8];
    for (int i = 0; i < 8; ++i)
        t[i] = v * table[i] + i;
    return t[k & 7];
}
extern "C" __global__ void call(float* y, const float* x)
{
    int i = threadIdx.x;
    y[i] = i % 3 == 0 ? looked_up(x[i], i) : x[i];
}
#define OF_ONE(name, f)                                                                                                \
    extern "C" __global__ void name(float* y, const float* x, int n)                                                   \
    {                                                                                                                  \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i < n) {                                                                                                   \
            float v = x[i];                                                                                            \
            y[i] = f;                                                                                                  \
        }                                                                                                              \
    }
OF_ONE(k_expf, expf(v))
OF_ONE(k_tanhf, tanhf(v))
OF_ONE(k_erff, erff(v))
OF_ONE(k_powf, powf(fabsf(v), 1.7f))
OF_ONE(k_sinf, sinf(v))
OF_ONE(k_sin_large, sinf(v * 1e6f))
OF_ONE(k_cosf, cosf(v))
OF_ONE(k_logf, logf(fabsf(v)))
OF_ONE(k_log1pf, log1pf(fabsf(v)))
OF_ONE(k_expm1f, expm1f(v))
OF_ONE(k_atanf, atanf(v))
OF_ONE(k_fmodf, fmodf(v, 3.f))
OF_ONE(k_roundf, roundf(v) + floorf(v) + ceilf(v) + truncf(v) + rintf(v))
OF_ONE(k_sqrt, sqrtf(fabsf(v)) + 1 / v + rsqrtf(fabsf(v)))
OF_ONE(k_double, (float)(exp((double)v) + sin((double)v) * pow(fabs((double)v), 0.3) + 1 / (double)v + sqrt(fabs((double)v))))
extern "C" __global__ void integers(long long* y, const int* x, const signed char* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long v = x[i], r = v * v / (c[i] | 1) + x[i] % (c[i] + 200) + __popc(x[i]) + __clz(x[i]) + (v >> 3) + __mulhi(x[i], 77);
    switch (x[i] & 7) {
    case 0: r *= 3; break;
    case 1: r -= 77; break;
    case 2: r ^= 5; break;
    case 3: r /= 7; break;
    case 4: r = c[i]; break;
    case 5: r += __dp4a(x[i], 0x01020304, 9); break;
    case 6: r = (short)x[i]; break;
    }
    y[i] = r;
}
)";

const char* const kHalfSource = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void halves(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        __half h = __float2half(x[i]);
        __nv_bfloat16 b = __float2bfloat16(x[i]);
        y[i] = __half2float(__hfma(h, h, __float2half(0.5f))) + __bfloat162float(b * b) + __half2float(__hmax(h, __float2half(0.f)));
    }
}
)";

/// What NVRTC makes of CUDA C++, run by the driver on the CPU. Skipped where there is no NVRTC
/// (LATHE_NVRTC=.../libnvrtc.so.13).
class TestCudaNvrtc : public QObject
{
    Q_OBJECT

    void* m_nvrtc = nullptr;
    QString m_include;

    template<typename... A>
    int nvrtc(const char* name, A... arguments) const
    {
        return reinterpret_cast<int (*)(A...)>(::dlsym(m_nvrtc, name))(arguments...);
    }

    std::string compiled(const std::string& source, const std::vector<const char*>& options) const
    {
        void* program = nullptr;
        nvrtc("nvrtcCreateProgram", &program, source.c_str(), "kernels.cu", 0, static_cast<const char* const*>(nullptr),
              static_cast<const char* const*>(nullptr));
        const int code = nvrtc("nvrtcCompileProgram", program, static_cast<int>(options.size()), options.data());
        size_t size = 0;
        nvrtc("nvrtcGetProgramLogSize", program, &size);
        std::string text(size, '\0');
        nvrtc("nvrtcGetProgramLog", program, text.data());
        if (code != 0) {
            qWarning("%s", text.c_str());
            return {};
        }
        nvrtc("nvrtcGetPTXSize", program, &size);
        text.assign(size, '\0');
        nvrtc("nvrtcGetPTX", program, text.data());
        nvrtc("nvrtcDestroyProgram", &program);
        return text;
    }

    std::string kernels(std::vector<const char*> more = {}) const
    {
        std::vector<const char*> options = {"--gpu-architecture=compute_80", "-DWAIT=1"};
        for (const char* option : more)
            options.push_back(option);
        return compiled(kSource, options);
    }

    static std::vector<float> numbers(size_t count, float scale, unsigned seed)
    {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> uniform(-scale, scale);
        std::vector<float> made(count);
        for (float& v : made)
            v = uniform(random);
        return made;
    }

    static void verifyProduct(const OpenedDriver& driver, void* function, unsigned n, unsigned tile,
                              std::array<unsigned, 3> block)
    {
        const std::vector<float> a = numbers(n * n, 1, 1), b = numbers(n * n, 1, 2);
        uint64_t da = driver.put(a), db = driver.put(b), dc = driver.allocate(n * n * 4);
        int size = static_cast<int>(n);
        QCOMPARE(driver.launch(function, {n / tile, n / tile, 1}, block, {&da, &db, &dc, &size}), 0);
        QCOMPARE(driver.synchronize(), 0);
        const std::vector<float> c = driver.get<float>(dc, n * n);
        for (unsigned i = 0; i < n; ++i)
            for (unsigned j = 0; j < n; ++j) {
                double sum = 0;
                for (unsigned k = 0; k < n; ++k)
                    sum += double(a[i * n + k]) * double(b[k * n + j]);
                QVERIFY2(std::fabs(double(c[i * n + j]) - sum) < 1e-4,
                         qPrintable(QStringLiteral("at %1, %2").arg(i).arg(j)));
            }
    }

private slots:
    void initTestCase()
    {
        const QString named = qEnvironmentVariable("LATHE_NVRTC"); // a file or a folder
        for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"})
            if (!m_nvrtc) {
                const QString file = named.isEmpty()            ? QLatin1String(name)
                                     : QFileInfo(named).isDir() ? named + QLatin1Char('/') + QLatin1String(name)
                                                                : named;
                m_nvrtc = ::dlopen(qPrintable(file), RTLD_NOW | RTLD_LOCAL);
            }
        QVERIFY2(m_nvrtc || qEnvironmentVariableIsEmpty("LATHE_TEST_CUDA"), "NVRTC was installed and is not there");
        if (!m_nvrtc)
            QSKIP("NVRTC is not there: set LATHE_NVRTC to libnvrtc.so.13 or its folder (PyPI: nvidia-cuda-nvrtc)");
        // Headers of halves lie beside it in the packages of PyPI.
        Dl_info info;
        if (::dladdr(::dlsym(m_nvrtc, "nvrtcVersion"), &info) != 0) {
            const QString include = QFileInfo(QString::fromLocal8Bit(info.dli_fname)).absolutePath()
                                    + QStringLiteral("/../include");
            if (QFile::exists(include + QStringLiteral("/cuda_fp16.h")))
                m_include = include;
        }
    }

    void saxpyAndReductions()
    {
        const OpenedDriver driver;
        driver.context();
        const std::string ptx = kernels();
        void* const saxpy = driver.function(ptx, "saxpy");
        QVERIFY2(saxpy, qPrintable(driver.log()));
        int n = 1000;
        float a = 2.5F, zero = 0;
        std::vector<float> x = numbers(1000, 1, 3), y = numbers(1000, 1, 4);
        uint64_t dx = driver.put(x), dy = driver.put(y), out = driver.put(std::vector<float>(1, zero));
        QCOMPARE(driver.launch(saxpy, {4, 1, 1}, {256, 1, 1}, {&dy, &dx, &a, &n}), 0);
        const std::vector<float> got = driver.get<float>(dy, 1000);
        double sum = 0;
        for (size_t i = 0; i < 1000; ++i) {
            QCOMPARE(got[i], std::fma(a, x[i], y[i]));
            sum += double(got[i]);
        }
        QCOMPARE(driver.launch(driver.function(ptx, "reduce"), {3, 1, 1}, {128, 1, 1}, {&dy, &out, &n}), 0);
        QVERIFY(std::fabs(double(driver.get<float>(out, 1)[0]) - sum) < 1e-3);
        uint64_t parts = driver.allocate(4 * 5);
        QCOMPARE(driver.launch(driver.function(ptx, "split_dot"), {5, 1, 1}, {128, 1, 1}, {&dx, &dy, &parts, &out, &n}),
                 0);
        double dot = 0;
        for (size_t i = 0; i < 1000; ++i)
            dot += double(x[i]) * double(got[i]);
        QVERIFY(std::fabs(double(driver.get<float>(out, 1)[0]) - dot) < 1e-3);
        QCOMPARE(driver.log(), QString());
        // Without the fence nothing says that the parts are there before the count.
        const std::string broken = kernels({"-DMISSING_FENCE"});
        QCOMPARE(
            driver.launch(driver.function(broken, "split_dot"), {5, 1, 1}, {128, 1, 1}, {&dx, &dy, &parts, &out, &n}),
            0);
        QVERIFY2(driver.log().contains(QStringLiteral("race in kernel split_dot")), qPrintable(driver.log()));
    }

    void products()
    {
        const OpenedDriver driver(Environment{{"LATHE_CUDA_DRIVER_COPIES", "both"}, {"LATHE_CUDA_DRIVER_STRICT", "1"}});
        driver.context();
        const std::string ptx = kernels();
        verifyProduct(driver, driver.function(ptx, "sgemm"), 64, 16, {16, 16, 1});
        verifyProduct(driver, driver.function(ptx, "sgemm_async"), 128, 64, {256, 1, 1});
        QCOMPARE(driver.log(), QString());
    }

    void bugsOfProductsAreFound()
    {
        const OpenedDriver driver;
        driver.context();
        unsigned n = 64;
        int size = 64;
        uint64_t a = driver.put(numbers(n * n, 1, 1)), b = driver.put(numbers(n * n, 1, 2)),
                 c = driver.allocate(n * n * 4);
        QCOMPARE(driver.launch(driver.function(kernels({"-DMISSING_BARRIER"}), "sgemm"), {4, 4, 1}, {16, 16, 1},
                               {&a, &b, &c, &size}),
                 0);
        QVERIFY2(driver.log().contains(QStringLiteral("race in kernel sgemm")), qPrintable(driver.log()));
        // One group too many is left in flight.
        QCOMPARE(driver.launch(driver.function(kernels({"-UWAIT", "-DWAIT=2"}), "sgemm_async"), {1, 1, 1}, {256, 1, 1},
                               {&a, &b, &c, &size}),
                 0);
        QVERIFY2(driver.log().contains(QStringLiteral("asynchronous copy in kernel sgemm_async")),
                 qPrintable(driver.log()));
        QVERIFY2(driver.log().contains(QStringLiteral("fills with a cp.async")), qPrintable(driver.log()));
        // A grid that is too large runs over the end.
        QCOMPARE(driver.launch(driver.function(kernels(), "sgemm"), {5, 4, 1}, {16, 16, 1}, {&a, &b, &c, &size}), 0);
        QCOMPARE(driver.synchronize(), 700);
        QVERIFY2(driver.log().contains(QStringLiteral("fault in kernel sgemm, PTX line")), qPrintable(driver.log()));
    }

    void functionsOfFloats()
    {
        struct Row
        {
            const char* name;
            std::function<double(double)> of;
            double tolerance;
        };
        const std::vector<Row> rows = {
            {"k_expf", [](double v) { return std::exp(v); }, 3e-7},
            {"k_tanhf", [](double v) { return std::tanh(v); }, 3e-7},
            {"k_erff", [](double v) { return std::erf(v); }, 3e-7},
            {"k_powf", [](double v) { return std::pow(std::fabs(v), double(1.7F)); }, 1e-6},
            {"k_sinf", [](double v) { return std::sin(v); }, 1e-6},
            {"k_sin_large", [](double v) { return std::sin(double(float(v) * 1e6F)); }, 1e-6},
            {"k_cosf", [](double v) { return std::cos(v); }, 1e-6},
            {"k_logf", [](double v) { return std::log(std::fabs(v)); }, 1e-6},
            {"k_log1pf", [](double v) { return std::log1p(std::fabs(v)); }, 3e-7},
            {"k_expm1f", [](double v) { return std::expm1(v); }, 3e-7},
            {"k_atanf", [](double v) { return std::atan(v); }, 3e-7},
            {"k_fmodf", [](double v) { return std::fmod(v, 3.0); }, 0},
            {"k_roundf",
             [](double v) { return std::round(v) + std::floor(v) + std::ceil(v) + std::trunc(v) + std::rint(v); }, 0},
            {"k_sqrt", [](double v) { return std::sqrt(std::fabs(v)) + 1 / v + 1 / std::sqrt(std::fabs(v)); }, 1e-6},
            {"k_double",
             [](double v) {
                 return std::exp(v) + std::sin(v) * std::pow(std::fabs(v), 0.3) + 1 / v + std::sqrt(std::fabs(v));
             },
             3e-7},
        };
        const OpenedDriver driver;
        driver.context();
        const std::string ptx = kernels();
        int n = 500;
        const std::vector<float> x = numbers(500, 20, 5);
        uint64_t dx = driver.put(x), dy = driver.allocate(2000);
        for (const Row& row : rows) {
            void* const function = driver.function(ptx, row.name);
            QVERIFY2(function, qPrintable(driver.log()));
            QCOMPARE(driver.launch(function, {4, 1, 1}, {128, 1, 1}, {&dy, &dx, &n}), 0);
            const std::vector<float> got = driver.get<float>(dy, 500);
            for (size_t i = 0; i < 500; ++i) {
                const double wanted = row.of(double(x[i]));
                QVERIFY2(std::fabs(double(got[i]) - wanted) <= row.tolerance * std::max(1.0, std::fabs(wanted)),
                         qPrintable(QStringLiteral("%1 of %2 gives %3 instead of %4")
                                        .arg(QString::fromLatin1(row.name))
                                        .arg(double(x[i]))
                                        .arg(double(got[i]))
                                        .arg(wanted)));
            }
        }
        QCOMPARE(driver.log(), QString());
    }

    void callsAndIntegers()
    {
        const OpenedDriver driver;
        driver.context();
        const std::string ptx = kernels();
        const std::vector<float> x = numbers(64, 4, 6);
        uint64_t dx = driver.put(x), dy = driver.allocate(256);
        QCOMPARE(driver.launch(driver.function(ptx, "call"), {1, 1, 1}, {64, 1, 1}, {&dy, &dx}), 0);
        const std::vector<float> got = driver.get<float>(dy, 64);
        for (int i = 0; i < 64; ++i)
            QCOMPARE(got[static_cast<size_t>(i)],
                     i % 3 == 0 ? std::fma(x[static_cast<size_t>(i)], static_cast<float>(1 << (i & 7)),
                                           static_cast<float>(i & 7))
                                : x[static_cast<size_t>(i)]);
        std::vector<int32_t> v(300);
        std::vector<int8_t> c(300);
        std::mt19937 random(7);
        for (size_t i = 0; i < 300; ++i) {
            v[i] = static_cast<int32_t>(random());
            c[i] = static_cast<int8_t>(random());
        }
        uint64_t dv = driver.put(v), dc = driver.put(c), dr = driver.allocate(2400);
        int n = 300;
        QCOMPARE(driver.launch(driver.function(ptx, "integers"), {3, 1, 1}, {128, 1, 1}, {&dr, &dv, &dc, &n}), 0);
        const std::vector<int64_t> r = driver.get<int64_t>(dr, 300);
        for (size_t i = 0; i < 300; ++i) {
            const int64_t w = v[i];
            int64_t e = w * w / (c[i] | 1) + v[i] % (c[i] + 200) + std::popcount(uint32_t(v[i]))
                        + std::countl_zero(uint32_t(v[i])) + (w >> 3) + (w * 77 >> 32);
            int dot = 9;
            for (int k = 0; k < 4; ++k)
                dot += int8_t(v[i] >> 8 * k) * (4 - k);
            switch (v[i] & 7) {
            case 0: e *= 3; break;
            case 1: e -= 77; break;
            case 2: e ^= 5; break;
            case 3: e /= 7; break;
            case 4: e = c[i]; break;
            case 5: e += dot; break;
            case 6: e = int16_t(v[i]); break;
            default: break;
            }
            QCOMPARE(r[i], e);
        }
        QCOMPARE(driver.log(), QString());
    }

    void halves()
    {
        if (m_include.isEmpty())
            QSKIP("cuda_fp16.h does not lie beside NVRTC");
        const std::string include = "-I" + m_include.toStdString();
        const OpenedDriver driver;
        driver.context();
        void* const function = driver.function(
            compiled(kHalfSource, {"--gpu-architecture=compute_80", include.c_str()}), "halves");
        QVERIFY2(function, qPrintable(driver.log()));
        const std::vector<float> x = numbers(200, 8, 8);
        uint64_t dx = driver.put(x), dy = driver.allocate(800);
        int n = 200;
        QCOMPARE(driver.launch(function, {1, 1, 1}, {256, 1, 1}, {&dy, &dx, &n}), 0);
        const std::vector<float> got = driver.get<float>(dy, 200);
        for (size_t i = 0; i < 200; ++i)
            QVERIFY(std::fabs(got[i] - (x[i] * x[i] * 2 + 0.5F + std::max(x[i], 0.F))) < 0.02F * (1 + x[i] * x[i]));
        QCOMPARE(driver.log(), QString());
    }

    void everyArchitectureLoads()
    {
        for (const char* architecture : {"--gpu-architecture=compute_75", "--gpu-architecture=compute_86",
                                         "--gpu-architecture=compute_90", "--gpu-architecture=compute_120"}) {
            std::string source = kSource;
            if (std::string(architecture).ends_with("75")) // has no cp.async
                source = source.substr(0, source.find("__device__ __forceinline__"))
                         + source.substr(source.find("extern \"C\" __global__ void reduce"));
            const OpenedDriver driver(Environment{{"LATHE_CUDA_DRIVER_CAPABILITY", "12.0"}});
            driver.context();
            QVERIFY2(driver.function(compiled(source, {architecture, "-DWAIT=1", "-lineinfo"}), "saxpy"),
                     qPrintable(driver.log()));
        }
    }
};

LATHE_TEST(TestCudaNvrtc)

} // namespace tst_cuda_nvrtc

#include "tst_cuda_nvrtc.moc"
