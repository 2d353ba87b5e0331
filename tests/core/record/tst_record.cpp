#include "core/record/record_json.h"
#include "core/support/message.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>

namespace tst_record {

using namespace lathe;
using nlohmann::json;

namespace {

Record sample()
{
    Record record;
    record.trial = "00112233445566778899aabbccddeeff";
    record.session = 3;
    record.round = 7;
    record.index = 42;
    const std::int64_t shape[] = {1, 20, 7, 7};
    EdgeState edge;
    edge.map = IndexMap{};
    edge.map.logicalRank = 4;
    std::copy(shape, shape + 4, edge.map.logicalShape);
    edge.map.physicalRank = 2;
    edge.map.axes[0] = {1, 16, 2, 784};
    edge.map.axes[1] = {1, 1, 16, 1};
    edge.split = "rows";
    record.candidate = {"task", "winograd:4", {edge}, "sketch", "lathe-cpu/1:x", {1, -2, 3}, R"([["CI", 2]])"};
    record.result.about = about(say(Msg::RunTookLong, 2.5, say(Msg::WhileTiming)));
    record.result.costsNs = {1000.25, 3000.5};
    record.result.verified = true;
    record.result.durationsMs = {{"build", 12.5}};
    record.result.conditions = "{}";
    record.result.device = {"board", R"({"cpu":"x"})"};
    record.timeMs = 1700000000123;
    return record;
}

} // namespace

class TestRecord : public QObject
{
    Q_OBJECT

private slots:
    void jsonRoundTripsEveryField()
    {
        const Record record = sample();
        const auto back = recordFromJson(json::parse(toJson(record).dump()));
        QVERIFY(back);
        QVERIFY(toJson(*back) == toJson(record));
        QVERIFY(back->candidate.edges == record.candidate.edges);
        QVERIFY(back->candidate.hash() == record.candidate.hash());
        QCOMPARE(back->result.costsNs, record.result.costsNs);
        QCOMPARE(back->result.about->number("seconds"), 2.5);
    }

    void whatATextIsAboutMayBeAbsentOrUnknown()
    {
        Record record = sample();
        record.result.about = {}; // as older versions wrote it
        const json old = toJson(record);
        QVERIFY(!old["result"].contains("about"));
        QVERIFY(!recordFromJson(old)->result.about);
        json newer = old;
        newer["result"]["text"] = "melted";
        newer["result"]["about"] = {{"id", "WarpsMelted"}, {"with", {{"warps", 3}}}};
        const auto read = recordFromJson(newer);
        QVERIFY(read);
        QVERIFY(!read->result.about);
        QCOMPARE(read->result.text, std::string("melted"));
    }

    void equalDevicesHaveOneKeyWhereverTheyArePluggedIn()
    {
        const auto gpu = [](const char* key, const char* name, int cores) {
            return identityOf(
                json{{"kind", "cuda"}, {"key", key}, {"name", name}, {"hardware", {{"num_cores", {{"value", cores}}}}}}
                    .dump());
        };
        const DeviceIdentity one = gpu("0", "H100", 132);
        QVERIFY(QString::fromStdString(one.key).startsWith("cuda-"));
        QCOMPARE(one.key.size(), std::string("cuda-").size() + 12);
        QCOMPARE(gpu("1", "H100", 132).key, one.key);
        QVERIFY(gpu("1", "H100", 132).fingerprint != one.fingerprint);
        QVERIFY(gpu("0", "H200", 132).key != one.key);
        QVERIFY(gpu("0", "H100", 114).key != one.key);
        // What was never a fingerprint stays what it is.
        QVERIFY((identityOf("here") == DeviceIdentity{"here", "here"}));
        QVERIFY((identityOf("") == DeviceIdentity{}));
        QVERIFY(QString::fromStdString(identityOf("{}").key).startsWith("device-"));
    }

    void aLineOfBeforeDevicesHadKeysGetsOne()
    {
        json line = toJson(sample());
        QCOMPARE(recordFromJson(line)->result.device.key, std::string("board"));
        line.erase("device_key");
        const auto old = recordFromJson(line);
        QVERIFY(old);
        QVERIFY(old->result.device == identityOf(R"({"cpu":"x"})"));
    }

    void theHashSeesEveryFieldOfACandidate()
    {
        const Candidate base = sample().candidate;
        const std::function<void(Candidate&)> changes[] = {
            [](Candidate& c) { c.task += "x"; },
            [](Candidate& c) { c.alternative = "direct"; },
            [](Candidate& c) { c.edges[0].split = "channels"; },
            [](Candidate& c) { c.edges[0].map.axes[1].stride = 2; },
            [](Candidate& c) { c.edges.clear(); },
            [](Candidate& c) { c.kind = "steps"; },
            [](Candidate& c) { c.sketch += "y"; },
            [](Candidate& c) { c.genome[1] = 2; },
            [](Candidate& c) { c.genome.push_back(0); },
            [](Candidate& c) { c.steps = "[]"; },
            [](Candidate& c) { std::swap(c.task, c.alternative); },
        };
        std::vector<Hash128> seen{base.hash()};
        for (const auto& change : changes) {
            Candidate other = base;
            change(other);
            QVERIFY(std::find(seen.begin(), seen.end(), other.hash()) == seen.end());
            seen.push_back(other.hash());
        }
        QVERIFY(Candidate(base).hash() == base.hash());
    }

    void theHashIsTheSameOnEveryMachine()
    {
        Candidate candidate;
        candidate.task = "t";
        candidate.genome = {1, 2};
        QCOMPARE(QString::fromStdString(candidate.hash().hex()),
                 QString::fromStdString(contentHash(std::string_view("\1\0\0\0\0\0\0\0t"
                                                                     "\0\0\0\0\0\0\0\0"
                                                                     "\0\0\0\0\0\0\0\0"
                                                                     "\6\0\0\0\0\0\0\0sketch"
                                                                     "\0\0\0\0\0\0\0\0"
                                                                     "\2\0\0\0\0\0\0\0"
                                                                     "\1\0\0\0\0\0\0\0"
                                                                     "\2\0\0\0\0\0\0\0"
                                                                     "\0\0\0\0\0\0\0\0",
                                                                     8 * 9 + 7))
                                            .hex()));
    }

    void meanOfNothingIsInfinite()
    {
        QVERIFY(std::isinf(TrialResult().meanNs()));
        QCOMPARE(sample().result.meanNs(), 2000.375);
    }

    void stagesHaveNamesThatReadBack()
    {
        for (int i = 0; i <= 6; ++i) {
            const auto stage = static_cast<TrialStage>(i);
            QVERIFY(trialStageFromString(toString(stage)) == stage);
        }
        QVERIFY(!trialStageFromString("nowhere"));
    }

    void whatIsOffIsNamed_data()
    {
        QTest::addColumn<QByteArray>("patch");
        QTest::addColumn<QByteArray>("word");
        QTest::newRow("round") << QByteArray(R"({"round": 1e30})") << QByteArray("round");
        QTest::newRow("index") << QByteArray(R"({"index": 5000000000})") << QByteArray("index");
        QTest::newRow("trial") << QByteArray(R"({"trial": 5})") << QByteArray("trial");
        QTest::newRow("genome") << QByteArray(R"({"candidate": {"genome": [1, "x"]}})") << QByteArray("genome");
        QTest::newRow("edges") << QByteArray(
            R"({"candidate": {"edges": [{"map": {"shape": [1], "axes": [[3, 1, 1, 1]]}}]}})")
                               << QByteArray("axes");
        QTest::newRow("rank") << QByteArray(R"({"candidate": {"edges": [{"map": {"shape": [1,1,1,1,1,1,1,1,1]}}]}})")
                              << QByteArray("shape");
        QTest::newRow("elements") << QByteArray(
            R"({"candidate": {"edges": [{"map": {"shape": [4294967296, 4294967296]}}]}})")
                                  << QByteArray("index map");
        QTest::newRow("reach") << QByteArray(
            R"({"candidate": {"edges": [{"map": {"shape": [2], "axes": [[0, 1, 4294967296, 4294967296]]}}]}})")
                               << QByteArray("index map");
        QTest::newRow("stage") << QByteArray(R"({"result": {"stage": "lunch"}})") << QByteArray("stage");
        QTest::newRow("code") << QByteArray(R"({"result": {"code": "Nope"}})") << QByteArray("code");
        QTest::newRow("costs") << QByteArray(R"({"result": {"costs_ns": [-1]}})") << QByteArray("costs_ns");
        QTest::newRow("candidate") << QByteArray(R"({"candidate": []})") << QByteArray("candidate");
    }
    void whatIsOffIsNamed()
    {
        QFETCH(QByteArray, patch);
        QFETCH(QByteArray, word);
        json value = toJson(sample());
        value.merge_patch(json::parse(patch.toStdString()));
        const auto record = recordFromJson(value);
        QVERIFY(!record);
        QVERIFY(record.error().code == Errc::BadFile);
        QVERIFY2(record.error().message.find(word.toStdString()) != std::string::npos, record.error().message.c_str());
    }

    void unknownKeysAreIgnored()
    {
        json value = toJson(sample());
        value["later"] = 1;
        QVERIFY(recordFromJson(value));
    }
};

LATHE_TEST(TestRecord)

} // namespace tst_record

#include "tst_record.moc"
