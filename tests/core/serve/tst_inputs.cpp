#include "core/serve/inputs.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"
#include "core/wire/seeded.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>
#include <vector>

namespace tst_inputs {

using namespace lathe;

/// What buffers hold before a kernel runs.
class TestInputs : public QObject
{
    Q_OBJECT

    /// [rows, columns], the second split by `inner`, which comes last and is padded to full.
    static ArgSpec split(std::int64_t rows, std::int64_t columns, std::int64_t inner)
    {
        ArgSpec spec{"x", ArgRole::Input, DType::F32, {}};
        const std::int64_t shape[] = {rows, columns};
        spec.map = IndexMap::plain(shape, 2);
        if (inner > 1) {
            spec.map.physicalRank = 3;
            spec.map.axes[0] = {1, inner, (columns + inner - 1) / inner, 1};
            spec.map.axes[1] = {0, 1, rows, 1};
            spec.map.axes[2] = {1, 1, inner, 1};
            spec.map.makeDense();
        }
        return spec;
    }
    static wire::Buffer fromSeed(std::uint64_t seed, double high = 1)
    {
        wire::Buffer buffer;
        buffer.set_fill(wire::Buffer::SEED);
        buffer.set_seed(seed);
        buffer.set_low(0);
        buffer.set_high(high);
        return buffer;
    }
    static std::vector<float> numbers(std::span<const std::byte> bytes)
    {
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    /// Of each element of the logical tensor, and of padding.
    template<typename Expected>
    static void compare(const std::vector<float>& got, const ArgSpec& spec, const Expected& expected)
    {
        QCOMPARE(static_cast<std::int64_t>(got.size()), spec.map.elementCount());
        std::vector<bool> used(got.size());
        for (std::int64_t r = 0; r < spec.map.logicalShape[0]; ++r)
            for (std::int64_t c = 0; c < spec.map.logicalShape[1]; ++c) {
                const std::int64_t index[] = {r, c};
                const auto at = static_cast<std::size_t>(spec.map.offset(index));
                QCOMPARE(got[at], expected(r * spec.map.logicalShape[1] + c));
                used[at] = true;
            }
        for (std::size_t i = 0; i < got.size(); ++i)
            QVERIFY(used[i] || got[i] == 0);
    }

private slots:
    void eachLayoutAndSeedHasItsOwnValues()
    {
        serve::Inputs inputs;
        wire::BlobStore blobs;
        for (int turn = 0; turn < 2; ++turn) // the second time all of it is there
            for (const std::uint64_t seed : {1, 2})
                for (const double high : {1.0, 4.0})
                    for (const std::int64_t inner : {1, 4, 5}) {
                        const ArgSpec spec = split(3, 10, inner);
                        const auto bytes = inputs.bytesOf(fromSeed(seed, high), spec, blobs);
                        QVERIFY(bytes);
                        compare(numbers(*bytes), spec, [&](std::int64_t i) {
                            return static_cast<float>(
                                wire::seededValue(seed, static_cast<std::uint64_t>(i), DType::F32, {0, high}));
                        });
                    }
        QCOMPARE(inputs.made(), std::uint64_t{4 + 8}); // of each seed and range plain values, and two layouts
    }

    void anotherShapeOfAsManyElementsIsAnotherTensor()
    {
        serve::Inputs inputs;
        wire::BlobStore blobs;
        for (const auto& [rows, columns] : {std::pair{4, 6}, std::pair{6, 4}}) {
            const ArgSpec spec = split(rows, columns, 4);
            const auto bytes = inputs.bytesOf(fromSeed(7), spec, blobs);
            QVERIFY(bytes);
            compare(numbers(*bytes), spec, [](std::int64_t i) {
                return static_cast<float>(wire::seededValue(7, static_cast<std::uint64_t>(i), DType::F32, {0, 1}));
            });
        }
    }

    void aBlobIsReadAndAMissingOneSaidSo()
    {
        serve::Inputs inputs;
        wire::BlobStore blobs;
        std::vector<Hash128> hashes;
        for (const float first : {10.F, 20.F}) {
            std::string values(24 * sizeof(float), '\0');
            for (int i = 0; i < 24; ++i)
                wire::writeElement(values.data(), i, DType::F32, static_cast<double>(first) + i);
            hashes.push_back(blobs.put(std::move(values)));
        }
        for (int turn = 0; turn < 2; ++turn)
            for (std::size_t which = 0; which < 2; ++which)
                for (const std::int64_t inner : {1, 4}) {
                    wire::Buffer buffer;
                    buffer.set_fill(wire::Buffer::BLOB);
                    wire::toWire(hashes[which], buffer.mutable_blob());
                    const ArgSpec spec = split(4, 6, inner);
                    const auto bytes = inputs.bytesOf(buffer, spec, blobs);
                    QVERIFY(bytes);
                    compare(numbers(*bytes), spec,
                            [&](std::int64_t i) { return (which == 0 ? 10.F : 20.F) + static_cast<float>(i); });
                }
        QCOMPARE(inputs.made(), std::uint64_t{2});
        wire::Buffer missing;
        missing.set_fill(wire::Buffer::BLOB);
        wire::toWire(contentHash("nothing"), missing.mutable_blob());
        const auto nothing = inputs.bytesOf(missing, split(4, 6, 1), blobs);
        QVERIFY(!nothing && nothing.error().code == Errc::InvalidArgument);
        wire::Buffer other;
        other.set_fill(wire::Buffer::BLOB);
        wire::toWire(hashes[0], other.mutable_blob());
        QVERIFY(!inputs.bytesOf(other, split(4, 7, 1), blobs)); // not its size
    }

    void outputsAreZeroOrPoisoned()
    {
        serve::Inputs inputs;
        wire::BlobStore blobs;
        const ArgSpec spec = split(3, 10, 4);
        wire::Buffer buffer;
        buffer.set_fill(wire::Buffer::POISON);
        for (const float value : numbers(*inputs.bytesOf(buffer, spec, blobs)))
            QVERIFY(value != value);
        buffer.set_fill(wire::Buffer::ZERO);
        for (const float value : numbers(*inputs.bytesOf(buffer, spec, blobs)))
            QCOMPARE(value, 0.F);
        QCOMPARE(inputs.made(), std::uint64_t{0});
    }

    void whatIsNotUsedIsGivenUp()
    {
        // Eight of 20 MiB in layouts of their own do not all stay; what was used last does.
        serve::Inputs inputs;
        wire::BlobStore blobs;
        const ArgSpec spec = split(5, 1 << 20, 4);
        for (std::uint64_t seed = 0; seed < 8; ++seed)
            QVERIFY(inputs.bytesOf(fromSeed(seed), spec, blobs));
        const std::uint64_t made = inputs.made();
        QVERIFY(inputs.bytesOf(fromSeed(7), spec, blobs));
        QCOMPARE(inputs.made(), made);
        QVERIFY(inputs.bytesOf(fromSeed(0), spec, blobs));
        QCOMPARE(inputs.made(), made + 1); // its plain values are still there
    }
};

LATHE_TEST(TestInputs)

} // namespace tst_inputs

#include "tst_inputs.moc"
