#include "tests/core/compute/reference_tasks.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/winograd.h"
#include "core/support/check.h"

namespace lathe::test {

using namespace compute;

namespace {

constexpr DType kF32 = DType::F32;

DagPtr finishTask(DagBuilder&& b, Tensor out)
{
    Result<DagPtr> dag = std::move(b).finish({out});
    LATHE_CHECK(dag.has_value()) << dag.error().message;
    return *dag;
}

Tensor input(DagBuilder& b, std::vector<std::int64_t> shape)
{
    return b.placeholder("placeholder", std::move(shape), kF32);
}

/// Epilogue letters: r residual add, m multiply by a channel vector, b add of a channel vector, R relu.
Tensor epilogue(DagBuilder& b, Tensor x, const std::string& kinds)
{
    const std::vector<std::int64_t> shape = b.shape(x);
    for (const char kind : kinds) {
        if (kind == 'r')
            x = binary(b, Binary::Add, x, input(b, shape));
        else if (kind == 'm')
            x = binary(b, Binary::Multiply, x, input(b, {1, 1, 1, shape[3]}));
        else if (kind == 'b')
            x = binary(b, Binary::Add, x, input(b, {1, 1, 1, shape[3]}));
        else
            x = unary(b, Unary::Relu, x);
    }
    return x;
}

Conv2dParams nhwc(std::int64_t stride, std::int64_t padding)
{
    Conv2dParams p;
    p.layout = ImageLayout::Nhwc;
    p.strides = {stride, stride};
    p.padding = {padding, padding, padding, padding};
    return p;
}

DagPtr winograd(std::int64_t size, std::int64_t channels, std::int64_t m, const std::string& kinds)
{
    DagBuilder b;
    const Tensor x = input(b, {1, size, size, channels});
    const Tensor w = input(b, {m + 2, m + 2, channels, channels});
    return finishTask(std::move(b), epilogue(b, conv2dWinograd(b, x, w, m, nhwc(1, 1), NameEra::Flat), kinds));
}

DagPtr direct(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
              const std::string& kinds, NameEra era)
{
    DagBuilder b;
    const Tensor x = input(b, {1, size, size, in});
    const Tensor w = input(b, {kernel, kernel, in, out});
    return finishTask(std::move(b), epilogue(b, conv2d(b, x, w, nhwc(stride, kernel / 2), era), kinds));
}

DagPtr depthwise(std::int64_t size, std::int64_t channels, std::int64_t stride)
{
    DagBuilder b;
    const Tensor x = input(b, {1, size, size, channels});
    const Tensor w = input(b, {3, 3, channels, 1});
    return finishTask(std::move(b), epilogue(b, depthwiseConv2d(b, x, w, nhwc(stride, 1), NameEra::Nested), "bR"));
}

DagPtr softmaxDag()
{
    DagBuilder b;
    return finishTask(std::move(b), softmax(b, input(b, {1, 1000}), -1));
}

DagPtr denseDag(std::int64_t depth, NameEra era)
{
    DagBuilder b;
    const Tensor x = input(b, {1, depth});
    const Tensor w = input(b, {1000, depth});
    const Tensor y = dense(b, x, w, era);
    const Tensor bias = input(b, era == NameEra::Nested ? std::vector<std::int64_t>{1, 1000}
                                                        : std::vector<std::int64_t>{1000});
    return finishTask(std::move(b), binary(b, Binary::Add, y, bias));
}

DagPtr globalPool(std::int64_t channels)
{
    DagBuilder b;
    return finishTask(std::move(b),
                      compute::globalPool<2>(b, input(b, {1, 7, 7, channels}), PoolKind::Average, ImageLayout::Nhwc));
}

DagPtr stemPool()
{
    DagBuilder b;
    Pool2dParams p;
    p.layout = ImageLayout::Nhwc;
    p.kernel = {3, 3};
    p.strides = {2, 2};
    p.padding = {1, 1, 1, 1};
    return finishTask(std::move(b), epilogue(b, pool2d(b, input(b, {1, 112, 112, 64}), PoolKind::Max, p), "bR"));
}

DagPtr mobilenetStem()
{
    DagBuilder b;
    Tensor x = conv2d(b, input(b, {1, 224, 224, 3}), input(b, {3, 3, 3, 32}), nhwc(2, 1), NameEra::Nested);
    x = binary(b, Binary::Multiply, x, input(b, {1, 112, 1, 1}));
    x = binary(b, Binary::Add, x, input(b, {1, 112, 1, 1}));
    return finishTask(std::move(b), unary(b, Unary::Relu, x));
}

} // namespace

std::vector<ReferenceTask> resnet18Tasks()
{
    const auto conv = [](std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                         const std::string& kinds) {
        return direct(size, in, out, kernel, stride, kinds, NameEra::Flat);
    };
    return {
        {"0 softmax", softmaxDag(), 4000, "d7b65649a4dd54becea0a52aabbc5af5", "b32ed43fb351136894c322ee49097a1a"},
        {"1 dense", denseDag(512, NameEra::Flat), 1025000, "9847f8cc0b305137f49f2c5c0c8ab25d",
         "d09dc1a6bb90d59c91b68989ad3492ff"},
        {"2 global pool", globalPool(512), 26112, "69115f188984ae34ede37c3b8ca40b43",
         "7de313da0ca29a8c63f647791692430d"},
        {"3 winograd 7 residual scaled", winograd(7, 512, 2, "rmbR"), 142182400, "ad6cecbf5d85cb1cda3c2bb7af170211",
         "8d5a93959138dc7b2ee1f1b3219dfa14"},
        {"4 winograd 7", winograd(7, 512, 2, "bR"), 142132224, "3a69f9fbc63760d99e36b4c17b3bfc57",
         "ac6920940de3797cc3f9f9c260675e5d"},
        {"5 winograd 7 residual", winograd(7, 512, 2, "r"), 142107136, "d730bcd28f0920f6b97245e2a11bd8d6",
         "7e83a2ee5cd5d50282ed19310700046a"},
        {"6 conv 14", conv(14, 256, 512, 3, 2, "bR"), 115655680, "12b88bedece6984af589a28b43e0f3c4",
         "1f6cd3637ec856bf5cf5010a623eed05"},
        {"7 winograd 14 residual relu", winograd(14, 256, 2, "rbR"), 114953216, "f3b6c10fcc6ce01ff01add933e4d21e9",
         "424ba83160af31badc0b098136e1a3b0"},
        {"8 winograd 14", winograd(14, 256, 2, "bR"), 114903040, "b8b52b9be9df6102466a22a014c44c1f",
         "a169cd0053d3a7ca82998fcb62e42c58"},
        {"9 winograd 14 residual", winograd(14, 256, 2, "r"), 114852864, "d374e472bd9d8164892b9e28a0a8cb59",
         "0141ffc4fbabc10cc5a94c954419055b"},
        {"10 conv 28", conv(28, 128, 256, 3, 2, "bR"), 115705856, "12b88bedece6984af589a28b43e0f3c4",
         "81aae4b8e2c076a4014d403e8a2c70a1"},
        {"11 winograd 28 residual relu", winograd(28, 128, 2, "rbR"), 127145984, "c4500b4e2fd04e695c32d2f31bbdc14a",
         "c7a6b56bdc04b94c829fb2ef9874019e"},
        {"12 winograd 28", winograd(28, 128, 2, "bR"), 127045632, "e4cdf917b876dbdd64488c3818d9c141",
         "c035cc8b0568a8e054d06bd7f4950550"},
        {"13 winograd 28 residual", winograd(28, 128, 2, "r"), 126945280, "dac19035dd5fe9424ee8617421b9c817",
         "c5ee3e05edd9754492d0763aa41fd025"},
        {"14 conv 56", conv(56, 64, 128, 3, 2, "bR"), 115806208, "12b88bedece6984af589a28b43e0f3c4",
         "022ebb6b7c55c5ed030421380ec83a04"},
        {"15 winograd 56 residual relu", winograd(56, 64, 4, "rbR"), 128851968, "1e3c4211ffd2f2db91078ae4d04b779d",
         "de0df0893e01892cfe69f7bc2c24111f"},
        {"16 winograd 56", winograd(56, 64, 4, "bR"), 128651264, "b818b53148cd450f86569dfc3e04cb8a",
         "f2e3c09a00e7d0a9897f70497e089f1e"},
        {"17 winograd 56 residual", winograd(56, 64, 4, "r"), 128450560, "3ea73fb9b0364374730d09e068821f95",
         "fa26946d7ac51126bfa859cb183f9ca1"},
        {"18 max pool", stemPool(), 2207744, "a5612fdeb9db4d579a75ec225ea4c06a", "ba2026d923536b75e9b4faed89287d5f"},
        {"19 stem", conv(224, 3, 64, 7, 2, "bR"), 237633536, "12b88bedece6984af589a28b43e0f3c4",
         "a0eb8d6048282a4a0986cc2ccf14eaa2"},
        {"20 shortcut 56", conv(56, 64, 64, 1, 1, ""), 25690112, "7006235cfc29b73be524cf390ed5a977",
         "bf78a7bf0209980f72953637dfd14a6f"},
        {"21 shortcut 28", conv(56, 64, 128, 1, 2, ""), 12845056, "f4380bb1dc62422a69ad4a1a9771f927",
         "6630936c26852f2b89dbfa2ff37fbb9c"},
        {"22 shortcut 14", conv(28, 128, 256, 1, 2, ""), 12845056, "f4380bb1dc62422a69ad4a1a9771f927",
         "ba5f918733ccbbd4a1d7fd3724665a2f"},
        {"23 shortcut 7", conv(14, 256, 512, 1, 2, ""), 12845056, "f4380bb1dc62422a69ad4a1a9771f927",
         "21ad409d72953de188314010134e3acd"},
    };
}

std::vector<ReferenceTask> mobilenetTasks()
{
    const std::string pointwiseMd5 = "1037be767e8e18197e87653d81c34558";
    const std::string depthwiseMd5 = "06fce76bd84cb904eee50b905ca9449a";
    const std::string strided = "c87ba68bc180312f5716af09a77ca15b";
    const auto pointwise = [](std::int64_t size, std::int64_t in, std::int64_t out) {
        return direct(size, in, out, 1, 1, "bR", NameEra::Nested);
    };
    return {
        {"0 pw", pointwise(7, 1024, 1024), 102860800, pointwiseMd5, {}},
        {"1 pw", pointwise(14, 256, 512), 51580928, pointwiseMd5, {}},
        {"2 dw", depthwise(28, 256, 1), 4014080, depthwiseMd5, {}},
        {"3 pw", pointwise(28, 128, 256), 51781632, pointwiseMd5, {}},
        {"4 pw", pointwise(7, 512, 1024), 51480576, pointwiseMd5, {}},
        {"5 global pool", globalPool(1024), 52224, "69115f188984ae34ede37c3b8ca40b43", {}},
        {"6 softmax", softmaxDag(), 4000, "d7b65649a4dd54becea0a52aabbc5af5", {}},
        {"7 pw", pointwise(56, 128, 128), 103563264, pointwiseMd5, {}},
        {"8 dw", depthwise(7, 1024, 1), 1003520, depthwiseMd5, {}},
        {"9 pw", pointwise(56, 64, 128), 52183040, pointwiseMd5, {}},
        {"10 dw", depthwise(14, 512, 2), 501760, strided, {}},
        {"11 pw", pointwise(28, 256, 256), 103161856, pointwiseMd5, {}},
        {"12 dw", depthwise(56, 128, 1), 8028160, depthwiseMd5, {}},
        {"13 dw", depthwise(112, 64, 2), 4014080, strided, {}},
        {"14 dw", depthwise(112, 32, 1), 8028160, depthwiseMd5, {}},
        {"15 dw", depthwise(56, 128, 2), 2007040, strided, {}},
        {"16 stem", mobilenetStem(), 22880256, "2ca148ecea6508ce625f85719021344f", {}},
        {"17 pw", pointwise(14, 512, 512), 102961152, pointwiseMd5, {}},
        {"18 dense", denseDag(1024, NameEra::Nested), 2049000, "7d44c6e3c81cd80f61ff2265b2bae89a", {}},
        {"19 dw", depthwise(14, 512, 1), 2007040, depthwiseMd5, {}},
        {"20 dw", depthwise(28, 256, 2), 1003520, strided, {}},
        {"21 pw", pointwise(112, 32, 64), 52985856, pointwiseMd5, {}},
    };
}

} // namespace lathe::test
