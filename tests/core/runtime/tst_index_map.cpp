#include "core/runtime/layout_transform.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace tst_index_map {

using namespace lathe;

namespace {

std::uint64_t testSeed()
{
    bool given = false;
    const auto seed = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&given);
    return given ? seed : 20261121;
}

IndexMap nchw16c()
{
    IndexMap map;
    map.logicalRank = 4;
    const std::int64_t shape[] = {1, 20, 7, 7};
    std::copy(std::begin(shape), std::end(shape), map.logicalShape);
    map.physicalRank = 5;
    const IndexMap::Axis axes[] = {{0, 1, 1, 0}, {1, 16, 2, 0}, {2, 1, 7, 0}, {3, 1, 7, 0}, {1, 1, 16, 0}};
    std::copy(std::begin(axes), std::end(axes), map.axes);
    map.makeDense();
    return map;
}

/// Random splits of random dimensions in random order, padded here and there.
IndexMap randomMap(const std::vector<std::int64_t>& shape, std::mt19937_64& random)
{
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    IndexMap map;
    map.logicalRank = static_cast<std::int32_t>(shape.size());
    std::vector<IndexMap::Axis> axes;
    for (std::int32_t d = 0; d < map.logicalRank; ++d) {
        map.logicalShape[d] = shape[static_cast<std::size_t>(d)];
        std::int64_t div = 1, left = map.logicalShape[d];
        while (left > 1 && pick(0, 1) == 1 && axes.size() < 16) {
            const std::int64_t extent = pick(1, 4);
            axes.push_back({d, div, extent, 1});
            div *= extent;
            left = (left + extent - 1) / extent;
        }
        axes.push_back({d, div, left + (pick(0, 5) == 0 ? 1 : 0), 1});
    }
    std::shuffle(axes.begin(), axes.end(), random);
    map.physicalRank = static_cast<std::int32_t>(axes.size());
    std::copy(axes.begin(), axes.end(), map.axes);
    std::int64_t stride = 1;
    for (int j = map.physicalRank - 1; j >= 0; --j) {
        map.axes[j].stride = stride;
        stride = stride * map.axes[j].extent + (pick(0, 3) == 0 ? pick(1, 3) : 0);
    }
    return map;
}

/// Calls f with every logical index.
template<typename F>
void forEachIndex(const IndexMap& map, F&& f)
{
    std::int64_t index[kMaxRank] = {};
    for (std::int64_t n = map.logicalCount(); n > 0; --n) {
        f(index);
        for (int d = map.logicalRank - 1; d >= 0 && ++index[d] == map.logicalShape[d]; --d)
            index[d] = 0;
    }
}

} // namespace

class TestIndexMap : public QObject
{
    Q_OBJECT
private slots:
    void plainIsRowMajorAndDense()
    {
        const std::int64_t shape[] = {2, 3, 5};
        IndexMap map = IndexMap::plain(shape, 3);
        QVERIFY(map.isPlain());
        QVERIFY(isWellFormed(map));
        QCOMPARE(map.elementCount(), 30);
        const std::int64_t index[] = {1, 2, 3};
        QCOMPARE(map.offset(index), 28);
        map.axes[0].stride = 16;
        QVERIFY(!map.isPlain());
        QVERIFY(IndexMap::plain(nullptr, 0).isPlain());
        QCOMPARE(IndexMap::plain(nullptr, 0).elementCount(), 1);
    }

    void channelBlocksPadWithZero()
    {
        const IndexMap blocked = nchw16c();
        const IndexMap plain = IndexMap::plain(blocked.logicalShape, 4);
        std::vector<float> src(static_cast<std::size_t>(plain.elementCount())),
            dst(static_cast<std::size_t>(blocked.elementCount()), -1.0F);
        std::iota(src.begin(), src.end(), 1.0F);
        transformLayout(plain, src.data(), blocked, dst.data(), DType::F32);
        // channel 17 = block 1, lane 1; pixel (2, 3)
        QCOMPARE(dst[static_cast<std::size_t>(((1 * 7 + 2) * 7 + 3) * 16 + 1)], src[(17 * 7 + 2) * 7 + 3]);
        // channels 20..31 are padding
        for (std::size_t pixel = 0; pixel < 49; ++pixel)
            for (std::size_t lane = 4; lane < 16; ++lane)
                QCOMPARE(dst[(49 + pixel) * 16 + lane], 0.0F);
    }

    void roundTripsOverRandomMapsGiveBackTheTensor_data()
    {
        QTest::addColumn<int>("dtype");
        QTest::newRow("int8") << static_cast<int>(DType::I8);
        QTest::newRow("bfloat16") << static_cast<int>(DType::BF16);
        QTest::newRow("float32") << static_cast<int>(DType::F32);
        QTest::newRow("float64") << static_cast<int>(DType::F64);
    }
    void roundTripsOverRandomMapsGiveBackTheTensor()
    {
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        const auto bytes = static_cast<std::size_t>(sizeOf(type));
        std::mt19937_64 random(testSeed());
        for (int round = 0; round < 300; ++round) {
            std::vector<std::int64_t> shape(std::uniform_int_distribution<std::size_t>(0, 5)(random));
            for (std::int64_t& extent : shape)
                extent = std::uniform_int_distribution<std::int64_t>(1, shape.size() > 3 ? 7 : 40)(random);
            const IndexMap plain = IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
            const IndexMap first = randomMap(shape, random), second = randomMap(shape, random);
            const QByteArray where = "seed " + QByteArray::number(static_cast<qulonglong>(testSeed())) + " round "
                                     + QByteArray::number(round);
            QVERIFY2(isWellFormed(first) && isWellFormed(second), where.constData());
            std::vector<unsigned char> src(static_cast<std::size_t>(plain.elementCount()) * bytes);
            for (unsigned char& byte : src)
                byte = static_cast<unsigned char>(1 + random() % 255);
            std::vector<unsigned char> a(static_cast<std::size_t>(first.elementCount()) * bytes, 0xEE);
            std::vector<unsigned char> b(static_cast<std::size_t>(second.elementCount()) * bytes, 0xEE);
            std::vector<unsigned char> back(src.size(), 0xEE);
            transformLayout(plain, src.data(), first, a.data(), type);
            transformLayout(first, a.data(), second, b.data(), type);
            transformLayout(second, b.data(), plain, back.data(), type);
            QVERIFY2(back == src, where.constData());
            // Every element where offset() says it is, everything else zero: count what is not zero.
            std::size_t wrong = 0, nonZero = 0;
            forEachIndex(plain, [&](const std::int64_t* index) {
                if (std::memcmp(&b[static_cast<std::size_t>(second.offset(index)) * bytes],
                                &src[static_cast<std::size_t>(plain.offset(index)) * bytes], bytes)
                    != 0)
                    ++wrong;
            });
            for (const unsigned char byte : b)
                nonZero += byte != 0 ? 1 : 0;
            QVERIFY2(wrong == 0 && nonZero == src.size(), where.constData());
        }
    }

    void partsTogetherDoTheWhole()
    {
        std::mt19937_64 random(testSeed());
        for (int round = 0; round < 60; ++round) {
            const std::vector<std::int64_t> shape = {3, 17, 9, 5};
            const IndexMap from = randomMap(shape, random), to = randomMap(shape, random);
            std::vector<std::uint32_t> src(static_cast<std::size_t>(from.elementCount()), 0);
            std::uint32_t next = 1;
            forEachIndex(
                from, [&](const std::int64_t* index) { src[static_cast<std::size_t>(from.offset(index))] = next++; });
            std::vector<std::uint32_t> whole(static_cast<std::size_t>(to.elementCount()), 7), pieces(whole.size(), 7);
            transformLayout(from, src.data(), to, whole.data(), DType::U32);
            LayoutTransform transform;
            QVERIFY(transform.prepare(from, to, DType::U32));
            const auto parts = static_cast<std::uint32_t>(1 + round % 7);
            if (transform.hasPadding())
                for (std::uint32_t part = 0; part < parts; ++part)
                    transform.zero(pieces.data(), part, parts);
            for (std::uint32_t part = 0; part < parts; ++part)
                transform.copy(src.data(), pieces.data(), part, parts);
            QCOMPARE(pieces, whole);
        }
    }

    void mapsThatAreNoBijectionAreRefused_data()
    {
        QTest::addColumn<int>("what");
        const char* const rows[] = {"zero extent",     "dimension out of range", "a digit is missing",
                                    "a digit twice",   "does not cover",         "strides overlap",
                                    "negative stride", "rank too large",         "product overflows"};
        for (int i = 0; i < 9; ++i)
            QTest::newRow(rows[i]) << i;
    }
    void mapsThatAreNoBijectionAreRefused()
    {
        QFETCH(int, what);
        IndexMap map = nchw16c();
        QVERIFY(isWellFormed(map));
        switch (what) {
        case 0: map.axes[2].extent = 0; break;
        case 1: map.axes[2].dim = 4; break;
        case 2: map.axes[1].div = 32; break;
        case 3: map.axes[1].div = 1; break;
        case 4: map.axes[1].extent = 1; break;
        case 5: map.axes[1].stride = 16; break;
        case 6: map.axes[1].stride = -784; break;
        case 7: map.physicalRank = kMaxPhysicalRank + 1; break;
        default: map.axes[0].extent = map.axes[2].extent = std::int64_t{1} << 40; break;
        }
        QVERIFY(!isWellFormed(map));
    }

    void mapsWithoutElementsHaveExtentsInRange()
    {
        const auto plain = [](std::vector<std::int64_t> shape) {
            return IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
        };
        QVERIFY(isWellFormed(plain({0})) && isWellFormed(plain({3, 0, 5})));
        QVERIFY(!isWellFormed(plain({0, -5})) && !isWellFormed(plain({-5, 0})));
        // Its strides are in range, its extents are not.
        IndexMap far = plain({1, 1, 0});
        far.logicalShape[0] = far.axes[0].extent = std::int64_t{1} << 62;
        QVERIFY(!isWellFormed(far));
        far.logicalShape[1] = far.axes[1].extent = 8;
        QVERIFY(!isWellFormed(far));
    }
};

LATHE_TEST(TestIndexMap)

} // namespace tst_index_map

#include "tst_index_map.moc"
