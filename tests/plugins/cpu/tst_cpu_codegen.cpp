#include "plugins/cpu/codegen/cpu_codegen.h"
#include "tests/plugins/cpu/loaded_kernel.h"
#include "tests/plugins/cpu/nests.h"

#include <QTest>

#include <cmath>

using namespace lathe;
using namespace lathe::test;

namespace {

std::unique_ptr<backend::Codegen> codegenFor(const char* text)
{
    const Result<Target> target = Target::parse(text);
    if (!target)
        qFatal("%s", target.error().message.c_str());
    Result<std::unique_ptr<backend::Codegen>> codegen = cpu::CpuCodegen::create(*target);
    if (!codegen)
        qFatal("%s", codegen.error().message.c_str());
    return *std::move(codegen);
}

} // namespace

class TstCpuCodegen : public QObject
{
    Q_OBJECT
private slots:
    void aTiledMatmulIsRightForAnyNumberOfParts();
};

void TstCpuCodegen::aTiledMatmulIsRightForAnyNumberOfParts()
{
    constexpr int m = 12, n = 32, k = 17;
    const schedule::LoweredKernel kernel = matmul(m, n, k, 4, 16);
    const auto codegen = codegenFor("cpu");
    const Result<backend::Artifact> artifact = codegen->build({&kernel, 1});
    QVERIFY2(artifact, artifact ? "" : artifact.error().message.c_str());
    const Result<LoadedKernels> loaded = LoadedKernels::load(*artifact);
    QVERIFY2(loaded, loaded ? "" : loaded.error().message.c_str());
    GuardedBuffer a(m * k * 4);
    GuardedBuffer b(k * n * 4);
    GuardedBuffer c(m * n * 4);
    auto* pa = static_cast<float*>(a.data());
    auto* pb = static_cast<float*>(b.data());
    auto* pc = static_cast<float*>(c.data());
    for (int i = 0; i < m * k; ++i)
        pa[i] = static_cast<float>(i % 7) - 3;
    for (int i = 0; i < k * n; ++i)
        pb[i] = static_cast<float>(i % 5) - 2;
    for (const unsigned parts : {1U, 2U, 5U}) {
        std::fill(pc, pc + m * n, -1.0F);
        QCOMPARE(loaded->run(0, {pa, pb, pc}, parts), 0);
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
                float want = 0;
                for (int q = 0; q < k; ++q)
                    want += pa[i * k + q] * pb[q * n + j];
                QCOMPARE(pc[i * n + j], want);
            }
        }
        QVERIFY(c.tailIntact());
    }
}

QTEST_APPLESS_MAIN(TstCpuCodegen)
#include "tst_cpu_codegen.moc"
