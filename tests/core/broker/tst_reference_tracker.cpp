#include "core/broker/reference_tracker.h"
#include "core/broker/subjects.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tst_reference_tracker {

using namespace lathe;
using namespace lathe::broker;
using nlohmann::json;
using std::chrono::seconds;
using Peer = ReferenceTracker::Peer;

namespace {

const std::string kGreeting("\x71\xF2\x02\x00", 4);

std::string frame(const std::string& text)
{
    std::string bytes;
    for (std::size_t i = 0; i < 4; ++i)
        bytes.push_back(static_cast<char>(text.size() >> (8 * i) & 0xFF));
    return bytes + text;
}

/// The texts of all frames, with spaces between; "cut" at the end: there is less of one than it says.
std::string textsOf(std::string_view bytes)
{
    std::string all;
    while (bytes.size() >= 4) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < 4; ++i)
            size |= std::size_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
        if (bytes.size() - 4 < size)
            break;
        all += (all.empty() ? "" : " ") + std::string(bytes.substr(4, size));
        bytes.remove_prefix(4 + size);
    }
    return bytes.empty() ? all : all + "cut";
}

/// A tracker and those who talk to it.
struct Scene
{
    ReferenceTracker tracker;
    ReferenceTracker::Time now = ReferenceTracker::Time() + std::chrono::hours(1);
    Peer last = 0;
    std::vector<Peer> dropped;

    /// One who was greeted. 0: nobody is let in.
    Peer come(const std::string& ip = "10.0.0.1")
    {
        if (!tracker.join(++last, ip, now))
            return 0;
        tracker.hear(last, kGreeting, now);
        const bool greeted = tracker.unsent(last) == kGreeting;
        tracker.sent(last, 4, now);
        return greeted ? last : 0;
    }
    void say(Peer peer, const std::string& text) { tracker.hear(peer, frame(text), now); }
    /// All that it was told since the last time.
    std::string told(Peer peer)
    {
        const std::string bytes(tracker.unsent(peer));
        tracker.sent(peer, bytes.size(), now);
        return textsOf(bytes);
    }
    std::string ask(Peer peer, const std::string& text)
    {
        say(peer, text);
        return told(peer);
    }
    void pass(seconds time)
    {
        for (const auto end = now + time; now < end;)
            tracker.pass(now += seconds(1));
    }
    bool isDropped(Peer peer)
    {
        for (const Peer each : tracker.takeDropped())
            dropped.push_back(each);
        return std::ranges::find(dropped, peer) != dropped.end();
    }
    /// "KEY free pending" of each key, then the servers.
    std::string summary()
    {
        const Peer asking = come();
        const json answer = json::parse(ask(asking, "[6]"), nullptr, false);
        tracker.leave(asking, now);
        if (!answer.is_array() || answer.size() != 2 || answer[0] != 0)
            return "no answer";
        std::string all;
        for (const auto& [key, count] : answer[1]["queue_info"].items())
            all += key + " " + count["free"].dump() + " " + count["pending"].dump() + ", ";
        for (const json& server : answer[1]["server_info"])
            all += server["key"].get<std::string>() + " at " + server["addr"].dump() + ", ";
        return all;
    }
    void here(const std::string& key, const std::string& name, DeviceState state, const std::string& about)
    {
        DeviceNotice notice;
        notice.state = state;
        notice.about = about;
        tracker.hearFarm(hereSubject(key, name), toText(notice), now);
    }
};

} // namespace

class TestReferenceTracker : public QObject
{
    Q_OBJECT

private slots:
    void whoGreetsIsGreeted()
    {
        Scene scene;
        QVERIFY(scene.tracker.join(1, "10.0.0.1", scene.now));
        for (const char byte : kGreeting.substr(0, 3))
            scene.tracker.hear(1, {&byte, 1}, scene.now);
        QVERIFY(scene.tracker.unsent(1).empty());
        scene.tracker.hear(1, kGreeting.substr(3) + frame("[1]"), scene.now); // and need not wait for it
        QCOMPARE(std::string(scene.tracker.unsent(1)), kGreeting + frame("0"));
        QVERIFY(!scene.isDropped(1));

        QVERIFY(scene.tracker.join(2, "10.0.0.1", scene.now));
        scene.tracker.hear(2, {"\x71\xF2\x0F\x00", 4}, scene.now); // it takes TVM's tracker for one of its servers
        QVERIFY(scene.tracker.unsent(2).empty());
        QVERIFY(scene.isDropped(2));
    }

    void itIsThereAndNobodyStopsIt()
    {
        Scene scene;
        const Peer peer = scene.come();
        QCOMPARE(scene.ask(peer, "[1]"), std::string("0"));
        QCOMPARE(scene.ask(peer, R"([2, ""])"), std::string("-1"));
        QCOMPARE(scene.ask(peer, R"([ 2, "0.7311" ])"), std::string("-1"));
        QCOMPARE(scene.ask(peer, "[1]"), std::string("0"));
    }

    void aDeviceThatIsFreeIsHandedOut()
    {
        Scene scene;
        const Peer server = scene.come("10.0.0.7"), client = scene.come();
        QCOMPARE(scene.ask(server, R"([3, "board", [9090, "board:0.5"], null])"), std::string("0"));
        QCOMPARE(scene.ask(server, "[7]"), std::string(R"(["board:0.5"])"));
        QCOMPARE(scene.ask(client, "[7]"), std::string("[]"));
        QCOMPARE(scene.summary(), std::string("board 1 0, "));
        QCOMPARE(scene.ask(client, R"([4, "board", "", 1])"), std::string(R"([0,["10.0.0.7",9090,"board:0.5"]])"));
        QCOMPARE(scene.ask(server, "[7]"), std::string("[]"));
        QCOMPARE(scene.summary(), std::string("board 0 0, "));
        // Offered anew, from elsewhere; the address may be left out, too.
        QCOMPARE(scene.ask(server, R"([3, "board", ["9091", "board:0.6"], "farm.example"])"), std::string("0"));
        QCOMPARE(scene.ask(client, R"([4, "board", "", 1])"), std::string(R"([0,["farm.example",9091,"board:0.6"]])"));
        QCOMPARE(scene.ask(server, R"([3, "board", [9092, "board:0.7"]])"), std::string("0"));
        QCOMPARE(scene.ask(client, R"([4, "board", "", 1])"), std::string(R"([0,["10.0.0.7",9092,"board:0.7"]])"));
    }

    void theFirstThatWasOfferedGoesFirst()
    {
        Scene scene;
        const Peer server = scene.come(), client = scene.come();
        for (const char* matchkey : {"9", "1", "5"})
            scene.ask(server, R"([3, "board", [9090, ")" + std::string(matchkey) + R"("], null])");
        for (const char* matchkey : {"9", "1", "5"})
            QCOMPARE(scene.ask(client, R"([4, "board", "", 1])"),
                     R"([0,["10.0.0.1",9090,")" + std::string(matchkey) + R"("]])");
    }

    void aMatchkeyIsOneDevice()
    {
        Scene scene;
        const Peer server = scene.come();
        for (int i = 0; i < 3; ++i)
            QCOMPARE(scene.ask(server, R"([3, "board", [9090, "a"], null])"), std::string("0"));
        QCOMPARE(scene.summary(), std::string("board 1 0, "));
        QCOMPARE(scene.ask(server, "[7]"), std::string(R"(["a"])"));
    }

    void whoWaitsIsServedByPriorityThenByArrival()
    {
        Scene scene;
        const Peer server = scene.come();
        const std::vector<std::pair<Peer, std::string>> clients = {
            {scene.come(), "1"}, {scene.come(), "2.5"}, {scene.come(), "-3"}, {scene.come(), "2.5"}};
        for (const auto& [client, priority] : clients)
            QCOMPARE(scene.ask(client, R"([4, "board", "", )" + priority + "]"), std::string());
        QCOMPARE(scene.summary(), std::string("board 0 4, "));
        for (const std::size_t next : {1u, 3u, 0u, 2u}) {
            QVERIFY(scene.tracker.isWaiting(clients[next].first));
            scene.pass(seconds(100)); // it is nobody's fault
            QCOMPARE(scene.ask(server, R"([3, "board", [9090, "a"], null])"), std::string("0"));
            QCOMPARE(scene.told(clients[next].first), std::string(R"([0,["10.0.0.1",9090,"a"]])"));
            QVERIFY(!scene.tracker.isWaiting(clients[next].first));
            for (const auto& [client, priority] : clients)
                QCOMPARE(scene.told(client), std::string());
        }
    }

    void answersComeInTheOrderOfTheQuestions()
    {
        Scene scene;
        const Peer server = scene.come(), client = scene.come();
        QCOMPARE(scene.ask(client, R"([4, "board", "", 1])"), std::string());
        QCOMPARE(scene.ask(client, "[1]"), std::string());
        scene.ask(server, R"([3, "board", [9090, "a"], null])");
        QCOMPARE(scene.told(client), std::string(R"([0,["10.0.0.1",9090,"a"]] 0)"));
    }

    void whoIsGoneDoesNotWaitAnyMore()
    {
        Scene scene;
        const Peer server = scene.come(), gone = scene.come(), next = scene.come();
        scene.ask(gone, R"([4, "board", "", 5])");
        scene.ask(next, R"([4, "board", "", 1])");
        scene.tracker.leave(gone, scene.now);
        QCOMPARE(scene.summary(), std::string("board 0 1, "));
        scene.ask(server, R"([3, "board", [9090, "a"], null])");
        QCOMPARE(scene.told(next), std::string(R"([0,["10.0.0.1",9090,"a"]])"));
        const Peer alone = scene.come();
        scene.ask(alone, R"([4, "phone", "", 1])");
        QCOMPARE(scene.summary(), std::string("board 0 0, phone 0 1, "));
        scene.tracker.leave(alone, scene.now);
        QCOMPARE(scene.summary(), std::string("board 0 0, "));
    }

    void whatDidNotReachItsRequesterGoesToTheNext()
    {
        Scene scene;
        const Peer server = scene.come(), gone = scene.come(), next = scene.come();
        scene.ask(server, R"([3, "board", [9090, "a"], null])");
        scene.ask(server, R"([3, "board", [9090, "b"], null])");
        scene.say(gone, R"([4, "board", "", 1])");
        QCOMPARE(scene.ask(server, "[7]"), std::string(R"(["b"])"));
        scene.tracker.leave(gone, scene.now);
        QCOMPARE(scene.ask(server, "[7]"), std::string(R"(["a","b"])"));
        QCOMPARE(scene.ask(next, R"([4, "board", "", 1])"), std::string(R"([0,["10.0.0.1",9090,"a"]])"));
        // It was told everything: the server sees itself that nobody comes.
        scene.tracker.leave(next, scene.now);
        QCOMPARE(scene.summary(), std::string("board 1 0, "));
    }

    void whatIsOfferedAnewMeanwhileIsNotDoubled()
    {
        Scene scene;
        const Peer server = scene.come(), gone = scene.come();
        scene.ask(server, R"([3, "board", [9090, "a"], null])");
        scene.say(gone, R"([4, "board", "", 1])");
        scene.ask(server, R"([3, "board", [9090, "new"], null])");
        scene.tracker.leave(gone, scene.now);
        QCOMPARE(scene.ask(server, "[7]"), std::string(R"(["new"])"));
        const Peer last = scene.come();
        scene.say(last, R"([4, "board", "", 1])");
        scene.tracker.leave(server, scene.now); // so that nobody is there to give it back to
        scene.tracker.leave(last, scene.now);
        QCOMPARE(scene.summary(), std::string());
    }

    void aServerThatLeavesTakesItsOffersBack()
    {
        Scene scene;
        const Peer server = scene.come(), other = scene.come("10.0.0.2"), client = scene.come();
        for (const char* matchkey : {"a", "b"}) // keys with ':' are as good
            scene.ask(server, R"([3, "a:b:c", [9090, ")" + std::string(matchkey) + R"("], null])");
        scene.ask(other, R"([3, "a:b:c", [9090, "c"], null])");
        scene.ask(server, R"([5, {"key": "server:a:b:c", "addr": [null, 9090]}])");
        QCOMPARE(scene.summary(), std::string(R"(a:b:c 3 0, server:a:b:c at ["10.0.0.1",9090], )"));
        scene.tracker.leave(server, scene.now);
        QCOMPARE(scene.summary(), std::string("a:b:c 1 0, "));
        QCOMPARE(scene.ask(client, R"([4, "a:b:c", "", 1])"), std::string(R"([0,["10.0.0.2",9090,"c"]])"));
        scene.tracker.leave(other, scene.now);
        QCOMPARE(scene.summary(), std::string());
    }

    void theSummaryShowsServersWhoSayWhoTheyAre()
    {
        Scene scene;
        const Peer first = scene.come("10.0.0.7"), second = scene.come("10.0.0.8"), third = scene.come("10.0.0.9");
        QCOMPARE(scene.ask(first, R"([5, {"key": "server:board", "addr": [null, 9090]}])"), std::string("0"));
        QCOMPARE(scene.ask(second, R"([5, {"key": "server:board", "addr": ["farm", "9091"]}])"), std::string("0"));
        QCOMPARE(scene.ask(third, R"([5, {"key": "server:old"}])"), std::string("0"));
        for (const char* name : {"client", "server", ""}) // their clients look for a key in each
            QCOMPARE(scene.ask(scene.come(), R"([5, {"key": ")" + std::string(name) + R"(", "addr": [null, 1]}])"),
                     std::string("0"));
        QCOMPARE(scene.summary(), std::string(R"(server:board at ["10.0.0.7",9090], server:board at ["farm",9091], )"
                                              R"(server:old at ["10.0.0.9",0], )"));
        // A key is shown with a server that is busy, too.
        scene.ask(first, R"([3, "board", [9090, "a"], null])");
        QCOMPARE(scene.ask(scene.come(), R"([4, "board", "", 1])"), std::string(R"([0,["10.0.0.7",9090,"a"]])"));
        QVERIFY(scene.summary().starts_with("board 0 0, server:board"));
    }

    void lathesDevicesAreShownAndNotHandedOut()
    {
        Scene scene;
        scene.here("board", "one", DeviceState::Free, R"({"host": "attic", "cores": 4})");
        scene.here("board", "two", DeviceState::Leased, R"({"host": "cellar"})");
        scene.here("watch", "w", DeviceState::Free, R"({"host": ["no", "name"]})");
        scene.tracker.hearFarm(claimSubject("board", "ada"), toText(ClaimNotice{{}, "t", {}, {}}), scene.now);
        scene.tracker.hearFarm("lathe.else", "{}", scene.now);
        QCOMPARE(scene.summary(), std::string("board 1 1, watch 1 0, server:board at [\"attic\",0], "
                                              "server:board at [\"cellar\",0], server:watch at [\"w\",0], "));
        // Keys of both are one.
        const Peer server = scene.come(), client = scene.come();
        scene.ask(server, R"([3, "board", [9090, "a"], null])");
        scene.ask(server, R"([5, {"key": "server:board", "addr": [null, 9090]}])");
        QVERIFY2(
            scene.summary().starts_with(R"(board 2 1, watch 1 0, server:board at ["10.0.0.1",9090], server:board)"),
            scene.summary().c_str());
        QCOMPARE(scene.ask(client, R"([4, "board", "", 1])"), std::string(R"([0,["10.0.0.1",9090,"a"]])"));
        QCOMPARE(scene.ask(client, R"([4, "board", "", 1])"), std::string());
        QVERIFY(scene.summary().starts_with("board 1 2, "));
        scene.pass(seconds(10)); // and what is lost is not there
        QCOMPARE(scene.summary(), std::string(R"(board 0 1, watch 0 0, server:board at ["10.0.0.1",9090], )"));
    }

    void whoSaysNonsenseIsDropped_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        const auto row = [](const char* name, const std::string& bytes) {
            QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()));
        };
        row("a negative length", "\xFF\xFF\xFF\xFF[1]");
        row("the least length", std::string("\x00\x00\x00\x80[1]", 7));
        row("a huge length", "\xFF\xFF\xFF\x7F[1]");
        row("longer than any request", std::string("\x01\x00\x01\x00", 4));
        row("nothing", frame(""));
        row("no JSON", frame("[1"));
        row("a nest", frame(std::string(60000, '[')));
        row("no UTF-8", frame("[4, \"\xC3\", \"\", 1]"));
        for (const char* text : {"1",
                                 "{}",
                                 "[]",
                                 R"(["1"])",
                                 "[1.5]",
                                 "[0]",
                                 "[8]",
                                 "[-1]",
                                 "[18446744073709551615]",
                                 "[2]",
                                 "[3]",
                                 R"([3, "k"])",
                                 R"([3, "k", [9090]])",
                                 R"([3, "k", [9090, 7], null])",
                                 R"([3, "k", [0, "m"], null])",
                                 R"([3, "k", [-1, "m"], null])",
                                 R"([3, "k", [65536, "m"], null])",
                                 R"([3, "k", ["", "m"], null])",
                                 R"([3, "k", ["1x", "m"], null])",
                                 R"([3, "k", [9090, "m"], 4])",
                                 R"([3, {}, [9090, "m"], null])",
                                 R"([3, "a\u0007b", [9090, "m"], null])",
                                 R"([4])",
                                 R"([4, "k", ""])",
                                 R"([4, 1, "", 1])",
                                 R"([4, "k", 1, 1])",
                                 R"([4, "k", "", "1"])",
                                 R"([4, "k", "", 1e999])",
                                 "[5]",
                                 "[5, []]",
                                 "[5, {}]",
                                 R"([5, {"key": 7}])",
                                 R"([5, {"key": "server:k", "addr": null}])",
                                 R"([5, {"key": "server:k", "addr": []}])",
                                 R"([5, {"key": "server:k", "addr": [7, 9090]}])",
                                 R"([5, {"key": "server:k", "addr": [null, null]}])"})
            row(text, frame(text));
        row("a key that is too long", frame(R"([4, ")" + std::string(257, 'k') + R"(", "", 1])"));
    }
    void whoSaysNonsenseIsDropped()
    {
        QFETCH(QByteArray, bytes);
        Scene scene;
        const Peer server = scene.come(), client = scene.come(), hostile = scene.come();
        scene.ask(hostile, R"([3, "k", [9090, "h"], null])");
        scene.ask(server, R"([3, "k", [9090, "s"], null])");
        scene.tracker.hear(hostile, {bytes.data(), static_cast<std::size_t>(bytes.size())}, scene.now);
        QVERIFY(scene.isDropped(hostile));
        QCOMPARE(scene.dropped.size(), std::size_t(1));
        QVERIFY(scene.tracker.unsent(hostile).empty());
        scene.say(hostile, "[1]"); // it is not heard any more
        QCOMPARE(scene.told(hostile), std::string());
        QCOMPARE(scene.ask(client, R"([4, "k", "", 1])"), std::string(R"([0,["10.0.0.1",9090,"s"]])"));
    }

    void theLongestTextsAreTaken()
    {
        Scene scene;
        const Peer peer = scene.come();
        const std::string key(256, 'k'), padding(ReferenceTracker::kMostFrameBytes - 300, ' ');
        QCOMPARE(scene.ask(peer, R"([3, ")" + key + R"(", [65535, "m"], null])"), std::string("0"));
        QCOMPARE(scene.summary(), key + " 1 0, ");
        QCOMPARE(scene.ask(peer, "[1" + padding + "]"), std::string("0"));
    }

    void piecesOfASentenceAreWaitedForAWhile()
    {
        Scene scene;
        const Peer slow = scene.come(), cut = scene.come(), quiet = scene.come();
        QVERIFY(scene.tracker.join(++scene.last, "10.0.0.1", scene.now));
        const Peer mute = scene.last;
        scene.pass(seconds(1000)); // who was greeted may be quiet
        QVERIFY(scene.isDropped(mute));
        QCOMPARE(scene.dropped.size(), std::size_t(1));
        const std::string whole = frame("[1]");
        for (const char byte : whole) {
            scene.tracker.hear(slow, {&byte, 1}, scene.now);
            scene.pass(seconds(2));
        }
        QCOMPARE(scene.told(slow), std::string("0"));
        scene.tracker.hear(cut, std::string_view(whole).substr(0, 5), scene.now);
        scene.pass(seconds(19));
        QVERIFY(!scene.isDropped(cut));
        scene.tracker.hear(cut, std::string_view(whole).substr(5, 1), scene.now); // a drop at a time is no whole one
        scene.pass(seconds(3));
        QVERIFY(scene.isDropped(cut));
        QVERIFY(!scene.isDropped(slow) && !scene.isDropped(quiet));
    }

    void whoTakesNoAnswerIsDropped()
    {
        Scene scene;
        const Peer peer = scene.come(), slow = scene.come();
        scene.say(peer, "[1]");
        for (int i = 0; i < 10; ++i)
            scene.say(slow, "[1]");
        for (int i = 0; i < 6; ++i) {
            scene.pass(seconds(10));
            scene.tracker.sent(slow, 5, scene.now);
        }
        QVERIFY(scene.isDropped(peer));
        QVERIFY(!scene.isDropped(slow));
        QCOMPARE(scene.told(slow), std::string("0 0 0 0"));
    }

    void whoAsksWithoutTakingIsNotHeard()
    {
        Scene scene;
        const Peer flood = scene.come();
        for (int i = 0; i < 100; ++i)
            scene.ask(flood, R"([3, "k)" + std::to_string(i) + R"(", [1, "m)" + std::to_string(i) + R"("], null])");
        for (int i = 0; i < 100'000 && scene.tracker.room(flood) >= 7; ++i)
            scene.say(flood, "[6]");
        QVERIFY(scene.tracker.room(flood) < 7);
        QVERIFY(scene.tracker.unsent(flood).size() < 70'000);
        QVERIFY(!scene.isDropped(flood));
        // It is answered as it takes.
        std::size_t answers = 0;
        while (!scene.tracker.unsent(flood).empty()) {
            const std::string texts = scene.told(flood);
            answers += static_cast<std::size_t>(std::ranges::count(texts, ' ')) + 1;
        }
        QVERIFY2(answers > 9000, std::to_string(answers).c_str());
        QCOMPARE(scene.tracker.room(flood), ReferenceTracker::kMostFrameBytes + 4);
    }

    void whoWaitsAndTalksOnIsDroppedAtLast()
    {
        Scene scene;
        const Peer peer = scene.come();
        scene.say(peer, R"([4, "board", "", 1])");
        while (scene.tracker.room(peer) >= 7)
            scene.say(peer, "[1]");
        scene.tracker.hear(peer, std::string(scene.tracker.room(peer) - 1, '\0'), scene.now);
        QVERIFY(!scene.isDropped(peer));
        scene.tracker.hear(peer, "1", scene.now); // it is not read to its end: whether it has gone cannot be known
        QVERIFY(scene.isDropped(peer));
        QCOMPARE(scene.summary(), std::string());
    }

    void offersAndKeysAreCounted()
    {
        Scene scene;
        const Peer peer = scene.come();
        const auto put = [&](const std::string& key, std::size_t i) {
            return scene.ask(peer, R"([3, ")" + key + R"(", [1, "m)" + std::to_string(i) + R"("], null])");
        };
        for (std::size_t i = 0; i < ReferenceTracker::kMostOffersOfOne; ++i)
            QCOMPARE(put("k", i), std::string("0"));
        QCOMPARE(put("k", ReferenceTracker::kMostOffersOfOne), std::string("-1"));
        QCOMPARE(put("k", 0), std::string("0"));
        const Peer client = scene.come();
        scene.ask(client, R"([4, "k", "", 1])");
        QCOMPARE(put("k", ReferenceTracker::kMostOffersOfOne), std::string("0"));

        std::size_t all = ReferenceTracker::kMostOffersOfOne;
        for (Peer more = 0; all < ReferenceTracker::kMostOffers; ++all) {
            if (all % ReferenceTracker::kMostOffersOfOne == 0)
                more = scene.come();
            QCOMPARE(scene.ask(more, R"([3, "k", [1, "m)" + std::to_string(all) + R"("], null])"), std::string("0"));
        }
        const Peer tooMany = scene.come();
        QCOMPARE(scene.ask(tooMany, R"([3, "k", [1, "m"], null])"), std::string("-1"));
        scene.tracker.leave(peer, scene.now);
        QCOMPARE(scene.ask(tooMany, R"([3, "k", [1, "m"], null])"), std::string("0"));

        const Peer keys = scene.come();
        for (std::size_t i = 0; i <= ReferenceTracker::kMostKeysOfOne; ++i)
            QCOMPARE(scene.ask(keys, R"([3, "x)" + std::to_string(i) + R"(", [1, "m"], null])"),
                     std::string(i < ReferenceTracker::kMostKeysOfOne ? "0" : "-1"));
    }

    void connectionsAreCountedAndTheIdleMakeRoom()
    {
        Scene scene;
        const Peer idle = scene.come(), server = scene.come(), client = scene.come(), named = scene.come();
        scene.ask(server, R"([3, "board", [9090, "a"], null])");
        scene.ask(client, R"([4, "phone", "", 1])");
        scene.ask(named, R"([5, {"key": "server:board"}])");
        scene.pass(seconds(1));
        for (std::size_t i = 4; i < ReferenceTracker::kMostPeers; ++i)
            QVERIFY(scene.come() != 0);
        QVERIFY(scene.come() == 0);
        scene.pass(ReferenceTracker::kIdle - seconds(1));
        QVERIFY(scene.come() != 0);
        QVERIFY(scene.isDropped(idle));
        QVERIFY(scene.come() == 0); // the others are idle for less
        QVERIFY(!scene.isDropped(server) && !scene.isDropped(client) && !scene.isDropped(named));
    }

    void whatIsNotSentYetHasABound()
    {
        Scene scene;
        std::vector<Peer> servers;
        for (std::size_t i = 0; i < ReferenceTracker::kMostKeys; ++i) {
            if (i % ReferenceTracker::kMostKeysOfOne == 0)
                servers.push_back(scene.come());
            const std::string key = std::to_string(i) + std::string(240, 'k');
            QCOMPARE(scene.ask(servers.back(), R"([3, ")" + key + R"(", [1, "m)" + std::to_string(i) + R"("], null])"),
                     std::string("0"));
        }
        const Peer late = scene.come();
        QCOMPARE(scene.ask(late, R"([3, "one more", [1, "m"], null])"), std::string("-1"));
        QCOMPARE(scene.ask(late, R"([4, "one more", "", 1])"), std::string("[-1]"));
        std::vector<Peer> hostile;
        for (int i = 0; i < 80; ++i) {
            hostile.push_back(scene.come());
            scene.say(hostile.back(), "[6]");
        }
        std::size_t bytes = 0;
        for (const Peer peer : hostile)
            bytes += scene.tracker.unsent(peer).size();
        QVERIFY(bytes > 0 && bytes <= ReferenceTracker::kMostUnsentBytes);
        QVERIFY(!scene.isDropped(late) && !scene.dropped.empty());
        QCOMPARE(scene.ask(late, "[1]"), std::string("0"));
        for (const Peer server : servers)
            QCOMPARE(scene.ask(server, "[1]"), std::string("0"));
        for (const Peer peer : hostile) // and what they did not take goes with them
            scene.tracker.leave(peer, scene.now);
        QVERIFY(scene.summary() != "no answer");
    }
};

LATHE_TEST(TestReferenceTracker)

} // namespace tst_reference_tracker

#include "tst_reference_tracker.moc"
