#include "plugins/cuda/device/driver.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_cuda_stub {

/// A library that is no driver. A process opens one alone.
class TestCudaStub : public QObject
{
    Q_OBJECT

private slots:
    void theToolkitsStubIsNoDriver()
    {
        qputenv("LATHE_CUDA_DRIVER", LATHE_STUB_DRIVER);
        std::string problem;
        QVERIFY(lathe::cuda::openDriver(problem) == nullptr);
        QVERIFY2(problem.find("is the CUDA toolkit's stub, not the NVIDIA driver") != std::string::npos,
                 problem.c_str());
    }
};

LATHE_TEST(TestCudaStub)

} // namespace tst_cuda_stub

#include "tst_cuda_stub.moc"
