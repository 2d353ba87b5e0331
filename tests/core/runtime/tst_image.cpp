#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>
#include <functional>
#include <random>

namespace tst_image {

using namespace lathe;
using namespace lathe::runtime;
using deploy::ImageWriter;

namespace {

IndexMap plain(std::vector<std::int64_t> shape)
{
    return IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
}

/// input -> kernel (with weights) -> arena -> transform -> output
std::vector<std::byte> smallImage()
{
    ImageWriter writer("small");
    IndexMap transposed = plain({4, 8});
    std::swap(transposed.axes[0], transposed.axes[1]);
    transposed.makeDense();
    const auto in = writer.addTensor({"x", DType::F32, Storage::Input, 0, plain({4, 8})});
    const auto weights = writer.addTensor({"w", DType::F32, Storage::Weights, 64, plain({8})});
    const auto middle = writer.addTensor({"m", DType::F32, Storage::Arena, 128, transposed});
    const auto out = writer.addTensor({"y", DType::F32, Storage::Output, 0, plain({4, 8})});
    const auto count = writer.addTensor({"n", DType::I64, Storage::Arena, 0, plain({1})});
    const std::uint32_t arguments[] = {in, weights, middle};
    writer.addKernel("scale", arguments, 1, 0, 2);
    writer.addTransform("back", middle, out);
    writer.addInput(in, "NC");
    writer.addOutput(out, "NC");
    writer.addExtent(0, 1, count);
    return writer.finish({.arena = 256, .weights = 96, .teamScratch = 64, .partScratch = 10, .phases = 2});
}

/// input -> copy to a device -> two launches with scratch between -> copy -> output
std::vector<std::byte> deviceImage()
{
    ImageWriter writer("on a device");
    const auto device = writer.addDevice("opencl -device=mali", 1024, 256);
    const auto in = writer.addTensor({"x", DType::F32, Storage::Input, 0, plain({4, 8})});
    const auto there = writer.addTensor({"x there", DType::F32, Storage::Arena, 0, plain({4, 8}), device});
    const auto weights = writer.addTensor({"w", DType::F32, Storage::Weights, 64, plain({8}), device});
    const auto result = writer.addTensor({"y there", DType::F32, Storage::Arena, 256, plain({4, 8}), device});
    const auto out = writer.addTensor({"y", DType::F32, Storage::Output, 0, plain({4, 8})});
    KernelInfo kernel;
    kernel.name = "scale";
    kernel.form = KernelForm::Launches;
    kernel.parameters.resize(3);
    kernel.scratch = {100, 128};
    kernel.launches = {{"scale_0", {0, 1, 3, 4}, {4, 1, 1}, {8, 1, 1}, 64},
                       {"scale_1", {3, 4, 2}, {1, 1, 1}, {32, 1, 1}, 0}};
    writer.addCopy("to the device", in, there);
    const std::uint32_t arguments[] = {there, weights, result};
    writer.addDeviceKernel("scale", device, arguments, 1, writer.addLaunches(device, kernel));
    writer.addCopy("from the device", result, out);
    writer.addInput(in, "");
    writer.addOutput(out, "");
    return writer.finish({.weights = 96});
}

/// A description at an address that is a multiple of 8, as sections are, in a block of exactly its size.
bool opens(const std::vector<std::byte>& bytes, ErrorText* why = nullptr)
{
    std::vector<std::uint64_t> aligned(bytes.size() / 8 + 1);
    if (!bytes.empty())
        std::memcpy(aligned.data(), bytes.data(), bytes.size());
    Image image;
    ErrorText error;
    const bool good = openImage(reinterpret_cast<const std::byte*>(aligned.data()), bytes.size(), image, error);
    if (why != nullptr)
        *why = error;
    return good;
}

ImageHeader& header(std::vector<std::byte>& bytes)
{
    return *reinterpret_cast<ImageHeader*>(bytes.data());
}
template<typename T>
T& record(std::vector<std::byte>& bytes, const ImageTable& table, std::size_t index)
{
    return *reinterpret_cast<T*>(bytes.data() + table.offset + index * sizeof(T));
}

} // namespace

class TestImage : public QObject
{
    Q_OBJECT
private slots:
    void aWrittenDescriptionOpens()
    {
        const std::vector<std::byte> bytes = smallImage();
        ErrorText error;
        QVERIFY2(opens(bytes, &error), error.text);
    }

    void aDeviceHasTensorsAndLaunches()
    {
        const std::vector<std::byte> bytes = deviceImage();
        std::vector<std::uint64_t> aligned(bytes.size() / 8 + 1);
        std::memcpy(aligned.data(), bytes.data(), bytes.size());
        Image image;
        ErrorText error;
        QVERIFY2(openImage(reinterpret_cast<const std::byte*>(aligned.data()), bytes.size(), image, error), error.text);
        QCOMPARE(image.header->devices.count, std::uint64_t{1});
        QCOMPARE(image.string(image.devices[0].target), "opencl -device=mali");
        QCOMPARE(image.devices[0].scratchBytes, std::uint64_t{512}); // each at a multiple of 256
        QCOMPARE(image.header->launches.count, std::uint64_t{2});
        QCOMPARE(image.string(image.launches[1].symbol), "scale_1");
        QCOMPARE(image.launchBuffers[image.launches[1].firstBuffer + 1].offset, std::uint64_t{256});
        QCOMPARE(image.launchBuffers[image.launches[1].firstBuffer + 2].argument, std::uint32_t{2});
        QCOMPARE(image.instructions[1].device, std::uint32_t{1});
    }

    void aRuntimeWithoutTheDeviceSaysSo()
    {
        const std::vector<std::byte> bytes = deviceImage();
        std::vector<std::uint64_t> aligned(bytes.size() / 8 + 1);
        std::memcpy(aligned.data(), bytes.data(), bytes.size());
        alignas(64) static const std::byte weights[96] = {};
        Model model;
        ErrorText error;
        QVERIFY(model.open({reinterpret_cast<const std::byte*>(aligned.data()), bytes.size(), weights, sizeof weights},
                           false, error)
                == Status::Damaged);
        QCOMPARE(error.text, "the network has kernels for \"opencl -device=mali\", and this runtime has no driver for "
                             "that kind of device");
    }

    void everyTruncationIsRefused()
    {
        const std::vector<std::byte> whole = smallImage();
        for (std::size_t n = 0; n < whole.size(); ++n) {
            ErrorText error;
            QVERIFY2(!opens({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}, &error),
                     qPrintable(QString::number(n)));
            QVERIFY(error.text[0] != '\0');
        }
        std::vector<std::byte> longer = whole;
        longer.resize(longer.size() + 8);
        QVERIFY(!opens(longer));
    }

    void everyChangedByteIsRefused()
    {
        const std::vector<std::byte> whole = smallImage();
        for (std::size_t i = 0; i < whole.size(); ++i)
            for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
                std::vector<std::byte> bytes = whole;
                bytes[i] ^= static_cast<std::byte>(flip);
                QVERIFY2(!opens(bytes), qPrintable(QString::number(i)));
            }
    }

    /// With a right checksum, as somebody who means harm would write it: what opens must hold together.
    void garbageWithARightChecksumIsHarmless()
    {
        std::mt19937_64 random(7);
        int opened = 0;
        for (const std::vector<std::byte>& whole : {smallImage(), deviceImage()})
            for (std::size_t i = 0; i < whole.size(); ++i)
                for (int kind = 0; kind < 5; ++kind) {
                    std::vector<std::byte> bytes = whole;
                    bytes[i] = kind == 0   ? std::byte{0}
                               : kind == 1 ? std::byte{0xFF}
                               : kind == 2 ? std::byte{0x80}
                                           : static_cast<std::byte>(random());
                    deploy::sealImage(bytes);
                    std::vector<std::uint64_t> aligned(bytes.size() / 8 + 1);
                    std::memcpy(aligned.data(), bytes.data(), bytes.size());
                    Image image;
                    ErrorText error;
                    if (!openImage(reinterpret_cast<const std::byte*>(aligned.data()), bytes.size(), image, error))
                        continue;
                    ++opened;
                    const ImageHeader& h = *image.header;
                    for (std::uint64_t t = 0; t < h.tensors.count; ++t) {
                        const ImageTensor& tensor = image.tensors[t];
                        QVERIFY(tensor.device <= h.devices.count);
                        if (tensor.storage == static_cast<std::uint32_t>(Storage::Arena))
                            QVERIFY(
                                tensor.offset + tensor.bytes
                                <= (tensor.device == 0 ? h.arenaBytes : image.devices[tensor.device - 1].arenaBytes));
                        if (tensor.storage == static_cast<std::uint32_t>(Storage::Weights))
                            QVERIFY(tensor.offset + tensor.bytes <= h.weightsBytes);
                        QVERIFY(std::strlen(image.string(tensor.name)) < h.strings.count);
                    }
                }
        QVERIFY(opened > 0); // names may change
    }

    void anotherVersionIsTold()
    {
        std::vector<std::byte> bytes = smallImage();
        header(bytes).version = 2;
        deploy::sealImage(bytes);
        ErrorText error;
        QVERIFY(!opens(bytes, &error));
        QCOMPARE(error.text, "the model description has version 2, this runtime reads version 3");
    }

    void whatDoesNotHoldTogetherIsRefusedOnDevices_data()
    {
        using Damage = std::function<void(std::vector<std::byte>&)>;
        QTest::addColumn<Damage>("damage");
        const auto row = [](const char* name, Damage damage) { QTest::newRow(name) << damage; };
        const auto launch = [](std::vector<std::byte>& b, std::size_t i) -> ImageLaunch& {
            return record<ImageLaunch>(b, header(b).launches, i);
        };
        const auto tensor = [](std::vector<std::byte>& b, std::size_t i) -> ImageTensor& {
            return record<ImageTensor>(b, header(b).tensors, i);
        };
        const auto buffer = [](std::vector<std::byte>& b, std::size_t i) -> ImageLaunchBuffer& {
            return record<ImageLaunchBuffer>(b, header(b).launchBuffers, i);
        };
        row("no such device", [=](auto& b) { tensor(b, 1).device = 2; });
        row("input on a device", [=](auto& b) { tensor(b, 0).device = 1; });
        row("output on a device", [=](auto& b) { tensor(b, 4).device = 1; });
        row("beyond the device's arena",
            [](auto& b) { record<ImageDevice>(b, header(b).devices, 0).arenaBytes = 256; });
        row("unaligned on the device", [=](auto& b) { tensor(b, 3).offset = 192; });
        row("odd alignment", [](auto& b) { record<ImageDevice>(b, header(b).devices, 0).alignment = 192; });
        row("device without a name", [](auto& b) { record<ImageDevice>(b, header(b).devices, 0).target = 1U << 20; });
        row("in place of nothing", [=](auto& b) { tensor(b, 1).inPlaceOf = 6; });
        row("in place of no port", [=](auto& b) { tensor(b, 1).inPlaceOf = 4; });
        row("in place of another size", [=](auto& b) {
            tensor(b, 1).inPlaceOf = 5;
            tensor(b, 4).shape[0] = 2;
            tensor(b, 4).bytes = 64;
            record<ImageAxis>(b, header(b).axes, tensor(b, 4).firstAxis).extent = 2;
        });
        row("a kernel writes in place of an input", [=](auto& b) { tensor(b, 3).inPlaceOf = 1; });
        row("on the processor, in place", [=](auto& b) { tensor(b, 4).inPlaceOf = 1; });
        row("weights in place", [=](auto& b) { tensor(b, 2).inPlaceOf = 1; });
        row("kernel of another device",
            [](auto& b) { record<ImageInstruction>(b, header(b).instructions, 1).device = 0; });
        row("copy on a device", [](auto& b) { record<ImageInstruction>(b, header(b).instructions, 0).device = 1; });
        row("argument elsewhere", [](auto& b) { record<std::uint32_t>(b, header(b).arguments, 2) = 0; });
        row("launches outside", [](auto& b) { record<ImageInstruction>(b, header(b).instructions, 1).firstPhase = 1; });
        row("no launches", [](auto& b) { record<ImageInstruction>(b, header(b).instructions, 1).phaseCount = 0; });
        row("no blocks", [=](auto& b) { launch(b, 0).grid[1] = 0; });
        row("too many blocks", [=](auto& b) { launch(b, 0).grid[0] = 0x80000000U; });
        row("no threads", [=](auto& b) { launch(b, 1).block[2] = 0; });
        row("too many threads", [=](auto& b) { launch(b, 1).block[1] = launch(b, 1).block[0] = 1024; });
        row("too much shared memory", [=](auto& b) { launch(b, 0).sharedBytes = kMostSharedBytes + 1; });
        row("no symbol", [=](auto& b) { launch(b, 0).symbol = 0; });
        row("buffers outside", [=](auto& b) { launch(b, 1).firstBuffer = 5; });
        row("no such argument", [=](auto& b) { buffer(b, 1).argument = 3; });
        row("argument with a place", [=](auto& b) { buffer(b, 1).offset = 64; });
        row("of another kernel", [=](auto& b) { launch(b, 0).argumentCount = 4; });
        row("scratch outside", [=](auto& b) { buffer(b, 3).bytes = 257; });
        row("unaligned scratch", [=](auto& b) { buffer(b, 3).offset = 64; });
    }
    void whatDoesNotHoldTogetherIsRefusedOnDevices()
    {
        QFETCH(std::function<void(std::vector<std::byte>&)>, damage);
        std::vector<std::byte> bytes = deviceImage();
        QVERIFY(opens(bytes));
        record<ImageTensor>(bytes, header(bytes).tensors, 1).inPlaceOf = 1; // as it may be
        deploy::sealImage(bytes);
        QVERIFY(opens(bytes));
        damage(bytes);
        deploy::sealImage(bytes);
        ErrorText error;
        QVERIFY(!opens(bytes, &error));
        QVERIFY(error.text[0] != '\0');
    }

    void whatDoesNotHoldTogetherIsRefused_data()
    {
        using Damage = std::function<void(std::vector<std::byte>&)>;
        QTest::addColumn<Damage>("damage");
        const auto row = [](const char* name, Damage damage) { QTest::newRow(name) << damage; };
        row("another version", [](auto& b) { header(b).version = kImageVersion + 1; });
        row("arena too small", [](auto& b) { header(b).arenaBytes = 128; });
        row("weights too small", [](auto& b) { header(b).weightsBytes = 64; });
        row("phases too few", [](auto& b) { header(b).phaseCount = 1; });
        row("absurd arena", [](auto& b) { header(b).arenaBytes = UINT64_MAX; });
        row("unaligned offset", [](auto& b) { record<ImageTensor>(b, header(b).tensors, 2).offset = 100; });
        row("unknown dtype", [](auto& b) { record<ImageTensor>(b, header(b).tensors, 2).dtype = 13; });
        row("bytes that differ from the map", [](auto& b) { record<ImageTensor>(b, header(b).tensors, 2).bytes = 64; });
        row("negative extent", [](auto& b) { record<ImageTensor>(b, header(b).tensors, 2).shape[0] = -4; });
        row("overlapping strides", [](auto& b) { record<ImageAxis>(b, header(b).axes, 0).stride = 1; });
        row("huge extent", [](auto& b) { record<ImageAxis>(b, header(b).axes, 0).extent = INT64_MAX; });
        row("unknown instruction", [](auto& b) { record<ImageInstruction>(b, header(b).instructions, 0).kind = 6; });
        row("argument outside", [](auto& b) { record<std::uint32_t>(b, header(b).arguments, 0) = 5; });
        row("kernel writes a weight", [](auto& b) { record<std::uint32_t>(b, header(b).arguments, 2) = 1; });
        row("kernel writes an input", [](auto& b) { record<std::uint32_t>(b, header(b).arguments, 2) = 0; });
        row("transform onto itself", [](auto& b) { record<std::uint32_t>(b, header(b).arguments, 3) = 3; });
        row("transform of another shape", [](auto& b) { record<std::uint32_t>(b, header(b).arguments, 3) = 1; });
        row("input port that is no input", [](auto& b) { record<ImagePort>(b, header(b).inputs, 0).tensor = 2; });
        row("extent of no output", [](auto& b) { record<ImageExtent>(b, header(b).extents, 0).output = 1; });
        row("extent of no dimension", [](auto& b) { record<ImageExtent>(b, header(b).extents, 0).axis = 2; });
        row("extent that no tensor counts", [](auto& b) { record<ImageExtent>(b, header(b).extents, 0).count = 5; });
        row("extent that floats count", [](auto& b) { record<ImageExtent>(b, header(b).extents, 0).count = 2; });
        row("extent with more", [](auto& b) { record<ImageExtent>(b, header(b).extents, 0).reserved = 1; });
        row("strings without an end",
            [](auto& b) { b[header(b).strings.offset + header(b).strings.count - 1] = std::byte{'x'}; });
        row("table outside", [](auto& b) { header(b).tensors.count = 1U << 20; });
        row("table at an odd place", [](auto& b) { header(b).axes.offset += 4; });
    }
    void whatDoesNotHoldTogetherIsRefused()
    {
        QFETCH(std::function<void(std::vector<std::byte>&)>, damage);
        std::vector<std::byte> bytes = smallImage();
        damage(bytes);
        deploy::sealImage(bytes);
        ErrorText error;
        QVERIFY(!opens(bytes, &error));
        QVERIFY(error.text[0] != '\0');
    }
};

LATHE_TEST(TestImage)

} // namespace tst_image

#include "tst_image.moc"
