#include "core/deploy/npy.h"
#include "core/session/loaded_model.h"
#include "core/session/session.h"
#include "core/session/weights.h"
#include "core/support/files.h"
#include "core/support/mapped_file.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

namespace tst_weights {

using namespace lathe;
using session::Weights;
using session::WeightStatistics;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// A model of one constant and nothing else.
std::shared_ptr<session::LoadedModel> modelOf(DType dtype, std::vector<std::int64_t> shape,
                                              std::shared_ptr<const graph::ConstData> data)
{
    auto model = std::make_shared<session::LoadedModel>();
    model->graph.addConstant("w", dtype, std::move(shape), std::move(data));
    return model;
}

template<typename T>
std::shared_ptr<Weights> weightsOf(DType dtype, const std::vector<T>& values)
{
    return std::make_shared<Weights>(modelOf(dtype, {static_cast<std::int64_t>(values.size())},
                                             graph::makeConst(values.data(), values.size() * sizeof(T))));
}

} // namespace

class TestWeights : public QObject
{
    Q_OBJECT
private slots:
    void statisticsLeaveOutWhatIsNotFinite();
    void theHistogramHoldsEveryFiniteValue();
    void everyTypeIsRead();
    void statisticsAreMadeOncePerTensor();
    void statisticsCanBeStopped();
    void valuesInAFileStayThere();
    void aConstantMadeLaterIsMadeWhenItIsLookedAt();
    void savedValuesAreReadBack();
    void aFileThatWasCutShortIsNoStatistics();
    void whatIsNoConstantIsRefused();
    void whatAConstantWasMadeOfIsKnown();
};

void TestWeights::statisticsLeaveOutWhatIsNotFinite()
{
    const auto weights = weightsOf<float>(DType::F32, {1, -3, 0, -0.0F, kNan, kInfinite, -kInfinite, 2});
    const auto s = weights->statistics(0, {});
    QVERIFY(s);
    QCOMPARE((*s)->count, 8);
    QCOMPARE((*s)->zeros, 2);
    QCOMPARE((*s)->nans, 1);
    QCOMPARE((*s)->infinities, 2);
    QCOMPARE((*s)->min, -3.0);
    QCOMPARE((*s)->max, 2.0);
    QCOMPARE((*s)->mean, 0.0);
    QCOMPARE((*s)->deviation, std::sqrt(14.0 / 5));
    const auto none = weightsOf<float>(DType::F32, {kNan, kInfinite})->statistics(0, {});
    QVERIFY(none && std::isnan((*none)->mean) && std::isnan((*none)->min) && (*none)->histogram.empty());
}

void TestWeights::theHistogramHoldsEveryFiniteValue()
{
    std::vector<double> values;
    for (int i = 0; i < 6400; ++i)
        values.push_back(i);
    const auto even = weightsOf<double>(DType::F64, values)->statistics(0, {});
    QVERIFY(even);
    QCOMPARE((*even)->histogram.size(), std::size_t(WeightStatistics::kBins));
    std::int64_t sum = 0;
    for (const std::int64_t bin : (*even)->histogram) {
        QVERIFY(bin >= 99 && bin <= 101);
        sum += bin;
    }
    QCOMPARE(sum, 6400);
    const auto same = weightsOf<double>(DType::F64, {3, 3, 3})->statistics(0, {});
    QVERIFY(same && (*same)->histogram == std::vector<std::int64_t>{3} && (*same)->deviation == 0);
    constexpr double kMost = std::numeric_limits<double>::max();
    const auto wide = weightsOf<double>(DType::F64, {-kMost, kMost, 0})->statistics(0, {});
    QVERIFY(wide);
    QCOMPARE((*wide)->histogram.front(), 1);
    QCOMPARE((*wide)->histogram.back(), 1);
}

void TestWeights::everyTypeIsRead()
{
    const auto check = [](DType dtype, const auto& values, const std::vector<std::string>& texts, double max) {
        const auto weights = weightsOf(dtype, values);
        const auto read = weights->texts(0, 0, static_cast<std::int64_t>(texts.size()));
        QVERIFY(read);
        QVERIFY2(*read == texts, toString(dtype));
        QCOMPARE((*weights->statistics(0, {}))->max, max);
    };
    check(DType::F32, std::vector<float>{0.1F, -2}, {"0.1", "-2"}, double(0.1F));
    check(DType::F64, std::vector<double>{0.1, 1e300}, {"0.1", "1e+300"}, 1e300);
    check(DType::F16, std::vector<std::uint16_t>{0x3c00, 0x2e66}, {"1", "0.099976"}, 1);
    check(DType::BF16, std::vector<std::uint16_t>{0x3f80, 0xc000}, {"1", "-2"}, 1);
    check(DType::I8, std::vector<std::int8_t>{-128, 127}, {"-128", "127"}, 127);
    check(DType::U8, std::vector<std::uint8_t>{0, 255}, {"0", "255"}, 255);
    check(DType::I16, std::vector<std::int16_t>{-5, 5}, {"-5", "5"}, 5);
    check(DType::U16, std::vector<std::uint16_t>{1, 65535}, {"1", "65535"}, 65535);
    check(DType::I32, std::vector<std::int32_t>{-7, 7}, {"-7", "7"}, 7);
    check(DType::U32, std::vector<std::uint32_t>{1, 4000000000U}, {"1", "4000000000"}, 4e9);
    check(DType::I64, std::vector<std::int64_t>{-9007199254740993, 2}, {"-9007199254740993", "2"}, 2);
    check(DType::U64, std::vector<std::uint64_t>{18446744073709551615ULL, 1}, {"18446744073709551615", "1"},
          18446744073709551615.0);
    check(DType::Bool, std::vector<std::uint8_t>{0, 1}, {"0", "1"}, 1);
}

void TestWeights::statisticsAreMadeOncePerTensor()
{
    const auto weights = weightsOf<float>(DType::F32, {1, 2});
    const auto first = weights->statistics(0, {});
    const auto again = weights->statistics(0, {});
    QVERIFY(first && again);
    QVERIFY(first->get() == again->get());
}

void TestWeights::statisticsCanBeStopped()
{
    const auto weights = weightsOf<float>(DType::F32, {1, 2});
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = weights->statistics(0, stop.get_token());
    QVERIFY(!stopped);
    QVERIFY(stopped.error().code == Errc::Cancelled);
    QVERIFY(weights->statistics(0, {})); // nothing half done was kept
}

void TestWeights::valuesInAFileStayThere()
{
    // 100 million values, nearly all of them a hole of the file: what is looked at costs as much as a small one.
    constexpr std::int64_t kCount = 100'000'000;
    const QTemporaryDir dir;
    const std::filesystem::path path = dir.filePath(QStringLiteral("weights")).toStdString();
    {
        std::ofstream out(path, std::ios::binary);
        out.seekp(kCount * 4 - 4);
        const float last = 7;
        out.write(reinterpret_cast<const char*>(&last), 4);
    }
    auto file = MappedFile::open(path);
    QVERIFY(file);
    auto data = std::make_shared<graph::ConstData>();
    data->data = file->bytes().data();
    data->bytes = kCount * 4;
    data->mapped = true;
    data->owner = std::make_shared<MappedFile>(*file);
    Weights weights(modelOf(DType::F32, {10000, 10000}, data));
    QElapsedTimer timer;
    timer.start();
    const auto values = weights.texts(0, kCount - 3, 3);
    QVERIFY(values);
    QVERIFY((*values == std::vector<std::string>{"0", "0", "7"}));
    QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!weights.texts(0, kCount - 2, 3)); // past the end
}

void TestWeights::aConstantMadeLaterIsMadeWhenItIsLookedAt()
{
    int made = 0;
    Weights weights(modelOf(DType::F32, {2}, graph::makeConstLater(8, 0, [&made]() -> Result<std::vector<std::byte>> {
                                ++made;
                                const float values[] = {1, 5};
                                const auto* bytes = reinterpret_cast<const std::byte*>(values);
                                return std::vector<std::byte>(bytes, bytes + 8);
                            })));
    QCOMPARE(made, 0);
    QCOMPARE(weights.texts(0, 1, 1)->front(), std::string("5"));
    QCOMPARE((*weights.statistics(0, {}))->mean, 3.0);
    QCOMPARE(made, 1); // and kept while it is looked at
}

void TestWeights::savedValuesAreReadBack()
{
    const QTemporaryDir dir;
    const std::filesystem::path path = dir.filePath(QStringLiteral("w.npy")).toStdString();
    const float values[] = {1, 2, 3, kNan, 5, -6};
    Weights weights(modelOf(DType::F32, {2, 3}, graph::makeConst(values, sizeof values)));
    QVERIFY(weights.save(0, path));
    const auto tensor = deploy::readNpy(path);
    QVERIFY(tensor);
    QVERIFY((tensor->type == graph::TensorType{DType::F32, {2, 3}}));
    QVERIFY(std::memcmp(tensor->bytes.data(), values, sizeof values) == 0);
    const auto refused = weights.save(0, path / "below");
    QVERIFY(!refused);
    const std::uint16_t halves[] = {0x3f80};
    Weights brain(modelOf(DType::BF16, {1}, graph::makeConst(halves, sizeof halves)));
    QVERIFY(brain.save(0, path));
    QVERIFY(deploy::readNpy(path)->type.dtype == DType::U16);
}

void TestWeights::aFileThatWasCutShortIsNoStatistics()
{
    const QTemporaryDir dir;
    const std::filesystem::path path = dir.filePath(QStringLiteral("weights")).toStdString();
    std::ofstream(path, std::ios::binary) << std::string(1 << 20, 'x');
    auto file = MappedFile::open(path);
    QVERIFY(file);
    auto data = std::make_shared<graph::ConstData>();
    data->data = file->bytes().data();
    data->bytes = 1 << 20;
    data->mapped = true;
    Weights weights(modelOf(DType::U8, {1 << 20}, data));
    QVERIFY(weights.texts(0, 0, 1));
    std::filesystem::resize_file(path, 10);
    const auto statistics = weights.statistics(0, {});
    QVERIFY(!statistics);
    QVERIFY(statistics.error().code == Errc::BadFile);
    QVERIFY(!weights.save(0, dir.filePath(QStringLiteral("out.npy")).toStdString()));
    QVERIFY(!std::filesystem::exists(dir.filePath(QStringLiteral("out.npy")).toStdString()));
}

void TestWeights::whatIsNoConstantIsRefused()
{
    auto model = std::make_shared<session::LoadedModel>();
    model->graph.addValue("x", DType::F32, {1});
    Weights weights(model);
    for (const std::int32_t constant : {-1, 0, 1})
        QVERIFY(weights.texts(constant, 0, 1).error().code == Errc::InvalidArgument);
}

void TestWeights::whatAConstantWasMadeOfIsKnown()
{
    // Batch norms become arithmetic on their parameters, and the weights another layout.
    session::OpenOptions options;
    options.model.source = "zoo:resnet-18";
    const auto opened = session::TuningSession::open(options);
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    std::int64_t derived = 0;
    for (const session::NodeView& node : (*opened)->graph()->nodes)
        for (const session::TensorView& input : node.inputs) {
            if (input.constant < 0 || !input.derived)
                continue;
            ++derived;
            QVERIFY2(!input.sources.empty() && !input.steps.empty(), input.name.c_str());
            for (const std::string& source : input.sources) // the parameters' own names: none that a pass gave
                QVERIFY2(source.ends_with("weight") || source.ends_with("gamma") || source.ends_with("beta")
                             || source.ends_with("mean") || source.ends_with("var") || source.ends_with("bias"),
                         source.c_str());
            if (input.name == "stage1_unit1_conv1_weight") {
                QCOMPARE(input.sources, std::vector<std::string>{"stage1_unit1_conv1_weight"});
                QCOMPARE(input.steps, (std::vector<std::string>{"layout", "scale"}));
            }
        }
    QVERIFY2(derived > 20, std::to_string(derived).c_str());
}

LATHE_TEST(TestWeights)

} // namespace tst_weights

#include "tst_weights.moc"
