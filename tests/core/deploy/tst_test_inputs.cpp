#include "core/deploy/npy.h"
#include "core/deploy/test_inputs.h"
#include "core/support/files.h"
#include "core/wire/seeded.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <set>

namespace tst_test_inputs {

using namespace lathe;
using namespace lathe::deploy;
using graph::HostTensor;
using graph::InputRange;
using graph::TensorType;
using graph::ValueRange;
using test::must;

namespace {

HostTensor made(DType dtype, std::int64_t count, InputKind kind, const InputRange& range = {})
{
    return makeTestInputs({TensorType{dtype, {count}}}, {range}, kind, 1).at(0);
}

std::vector<double> valuesOf(const HostTensor& tensor)
{
    std::vector<double> values;
    for (std::int64_t i = 0; i < tensor.type.shape[0]; ++i)
        values.push_back(wire::readElement(tensor.bytes.data(), i, tensor.type.dtype));
    return values;
}

InputRange range(double low, double high, bool needed = true)
{
    return {ValueRange{low, high}, needed, false};
}

} // namespace

/// What networks are verified and timed on where nobody gives values.
class TestTestInputs : public QObject
{
    Q_OBJECT

private slots:
    void kindsAreThoseThatDiffer()
    {
        using enum InputKind;
        const auto kinds = [](std::vector<DType> dtypes) {
            std::vector<TensorType> types;
            for (const DType dtype : dtypes)
                types.push_back({dtype, {4}});
            return kindsThatSuit(types);
        };
        QVERIFY((kinds({DType::F32}) == std::vector{Normal, Large, Zeros, NotANumber}));
        QVERIFY((kinds({DType::I64}) == std::vector{Normal, Zeros, Integers}));
        QVERIFY((kinds({DType::F16, DType::U8}) == std::vector{Normal, Large, Zeros, Integers, NotANumber}));
        QVERIFY((kinds({DType::Bool}) == std::vector{Normal}));
        for (const InputKind kind : kInputKinds)
            QVERIFY(inputKindOf(toString(kind)) == kind);
        QVERIFY(!inputKindOf("strange"));
    }

    void normalOnesAreThoseThatLibrariesMake()
    {
        for (const DType dtype : {DType::F32, DType::F16, DType::I64, DType::U8, DType::Bool}) {
            std::vector<std::byte> own(static_cast<std::size_t>(100 * sizeOf(dtype)));
            wire::fillSeeded(wire::inputSeed(1, 0), dtype, {}, own);
            QVERIFY(made(dtype, 100, InputKind::Normal).bytes == own);
        }
        QVERIFY(runInputs({TensorType{DType::F32, {4}}}, {InputRange{}}).empty());
        QCOMPARE(runInputs({TensorType{DType::I32, {4}}}, {range(0, 2)}).size(), std::size_t(1));
    }

    void valuesStayInTheirRange()
    {
        for (const InputKind kind : kInputKinds)
            for (const DType dtype : {DType::I32, DType::U8, DType::I64, DType::F32})
                for (const auto& [low, high] : {std::pair(0, 4), std::pair(3, 3), std::pair(1, 100), std::pair(0, 0)}) {
                    const std::vector<double> values = valuesOf(made(dtype, 1000, kind, range(low, high)));
                    const auto [least, largest] = std::ranges::minmax_element(values);
                    QVERIFY(*least >= low && *largest <= high);
                    if (kind == InputKind::Normal && dtype != DType::F32) {
                        QCOMPARE(*least, double(low)); // and fill it
                        QCOMPARE(*largest, double(high));
                    }
                }
        const std::vector<double> negative = valuesOf(made(DType::I8, 1000, InputKind::Normal, range(-10, -8)));
        QVERIFY((std::set(negative.begin(), negative.end()) == std::set<double>{-10, -9, -8}));
    }

    void placesThatAreWrittenToAreDistinct()
    {
        for (const std::int64_t count : {1, 7, 50, 64}) {
            const std::vector<double> values = valuesOf(
                made(DType::I64, count, InputKind::Normal, {ValueRange{0, 63}, true, true}));
            const std::set<double> all(values.begin(), values.end());
            QCOMPARE(all.size(), static_cast<std::size_t>(count));
            QVERIFY(*all.begin() >= 0 && *all.rbegin() <= 63);
            QVERIFY(count < 50 || !std::ranges::is_sorted(values));
        }
    }

    void integersReachTheEndsOfTheirType()
    {
        const HostTensor tensor = made(DType::I64, 1000, InputKind::Integers);
        const auto wide = tensor.as<std::int64_t>();
        QCOMPARE(*std::ranges::min_element(wide), std::numeric_limits<std::int64_t>::min());
        QCOMPARE(*std::ranges::max_element(wide), std::numeric_limits<std::int64_t>::max());
        QVERIFY(std::ranges::count_if(wide, [](std::int64_t v) { return v < 0; }) > 300);
        const std::vector<double> bytes = valuesOf(made(DType::U8, 1000, InputKind::Integers));
        QCOMPARE(*std::ranges::min_element(bytes), 0.0);
        QCOMPARE(*std::ranges::max_element(bytes), 255.0);
        // What is only usual may be left.
        const std::vector<double> masks = valuesOf(made(DType::I32, 1000, InputKind::Integers, range(0, 1, false)));
        QVERIFY(*std::ranges::max_element(masks) > 1e9);
    }

    void floatsAreLargeZeroOrNoNumbers()
    {
        for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16}) {
            const std::vector<double> large = valuesOf(made(dtype, 2000, InputKind::Large));
            const auto [least, most] = std::ranges::minmax_element(large);
            QVERIFY(*most > (dtype == DType::F16 ? 50 : 5000) && *least < (dtype == DType::F16 ? -50 : -5000));
            QVERIFY(std::ranges::any_of(large, [](double v) { return std::abs(v) < 0.01; }));
            const std::vector<double> zeros = valuesOf(made(dtype, 10, InputKind::Zeros));
            for (std::size_t i = 0; i < zeros.size(); ++i)
                QVERIFY(zeros[i] == 0 && std::signbit(zeros[i]) == (i % 2 == 1));
            for (const std::int64_t count : {1, 10, 1000}) {
                const std::vector<double> some = valuesOf(made(dtype, count, InputKind::NotANumber));
                const auto nans = std::ranges::count_if(some, [](double v) { return std::isnan(v); });
                QVERIFY(nans >= 1 && nans <= count / 8 + 1);
            }
        }
    }

    void filesGiveInputs()
    {
        const TempDir dir = must(TempDir::create());
        const auto file = [&dir](const char* name) { return (dir.path() / name).string(); };
        const HostTensor x = made(DType::F32, 6, InputKind::Normal), half = made(DType::BF16, 4, InputKind::Normal);
        must(writeNpy(file("x.npy"), x));
        must(writeNpy(file("h.npy"), half));
        const std::vector<PortInfo> ports = {
            {"x", "", {DType::F32, {6}}}, {"x=y", "", {DType::F32, {6}}}, {"h", "", {DType::BF16, {4}}}};
        const auto given = must(readInputs(ports, {"h=" + file("h.npy"), "x=y=" + file("x.npy")}));
        QVERIFY(!given[0]);
        QVERIFY(given[1]->bytes == x.bytes);
        QVERIFY(given[2]->bytes == half.bytes && given[2]->type.dtype == DType::BF16); // NumPy has uint16 for it
        QVERIFY(must(readNpy(file("h.npy"))).type.dtype == DType::U16);

        const auto refused = [&](std::vector<std::string> words) {
            const auto read = readInputs(ports, words);
            return read ? QString() : QString::fromStdString(read.error().message);
        };
        QCOMPARE(refused({"x"}), "--input x is not of the form NAME=FILE.npy");
        QCOMPARE(refused({"z=1.npy"}), "the network has no input named z; it has x, x=y, h");
        QCOMPARE(refused({"x=" + file("x.npy"), "x=" + file("x.npy")}), "--input gives x twice");
        QVERIFY(refused({"x=" + file("absent.npy")}).contains("absent.npy"));
        QCOMPARE(refused({"h=" + file("x.npy")}),
                 QString::fromStdString(file("x.npy") + " holds float32 [6], but input 'h' takes bfloat16 [4]"));
        QCOMPARE(refused({"x=" + file("h.npy")}),
                 QString::fromStdString(file("h.npy") + " holds uint16 [4], but input 'x' takes float32 [6]"));
    }

    void elementTypesOfFiles()
    {
        const auto file = [](const char* descr) {
            std::string header = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,), }";
            header.append(118 - header.size() - 1, ' ');
            return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + std::string(4, '\1');
        };
        for (const char* const descr : {"<V2", "|V2"}) // as NumPy writes the type of ml_dtypes
            QVERIFY(must(parseNpy(file(descr), "x.npy")).type.dtype == DType::BF16);
        QVERIFY(must(parseNpy(file("<u2"), "x.npy")).type.dtype == DType::U16);
        const auto refused = parseNpy(file("<c8"), "x.npy");
        QVERIFY(refused.error().code == Errc::Unsupported);
        QCOMPARE(refused.error().message, std::string("x.npy has elements of type '<c8', which is not supported"));
    }

    void outputsHaveTheSizeThatARunGaveThem()
    {
        const auto dir = must(TempDir::create());
        const auto file = dir.path() / "boxes.npy";
        const PortInfo boxes{"boxes", "", {DType::F32, {90, 4}}, {0}};
        const auto read = [&](std::vector<std::int64_t> shape) {
            must(writeNpy(file, HostTensor::zeros({DType::F32, std::move(shape)})));
            return readNpy(file, boxes);
        };
        QCOMPARE(must(read({3, 4})).type.shape, (std::vector<std::int64_t>{3, 4}));
        QVERIFY(read({0, 4}) && read({90, 4}));
        for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{91, 4}, {3, 3}, {12}})
            QVERIFY(read(shape).error().code == Errc::InvalidArgument);
    }
};

LATHE_TEST(TestTestInputs)

} // namespace tst_test_inputs

#include "tst_test_inputs.moc"
