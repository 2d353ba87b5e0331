#include "core/broker/channel.h"
#include "core/broker/connection.h"
#include "core/broker/desk.h"
#include "core/broker/inbox.h"
#include "core/broker/subjects.h"
#include "core/broker/unguessable.h"
#include "core/serve/farm_runner.h"
#include "core/support/files.h"
#include "core/wire/hash_field.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"
#include "core/wire/process_port.h"
#include "tests/support/farm_device.h"
#include "tests/support/farm_runner.h"
#include "tests/support/killed_run.h"
#include "tests/support/measured.h"
#include "tests/support/nats_proxy.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>
#include <csignal>
#include <fstream>
#include <limits>
#include <map>
#include <thread>

namespace tst_farm_lies {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::FarmDevice;
using lathe::test::FarmRunner;
using lathe::test::firstDifference;
using lathe::test::joined;
using lathe::test::kAllLineFaults;
using lathe::test::LineFault;
using lathe::test::LinePlan;
using lathe::test::measureAll;
using lathe::test::Measured;
using lathe::test::measureHere;
using lathe::test::named;
using lathe::test::NatsProxy;
using lathe::test::NatsServer;
using lathe::test::optionsFor;

namespace {

constexpr int kRequests = 12;

/// What a device says to a job.
using Lie = std::function<void(const wire::RunJob& job, broker::Channel& channel)>;

/// A device that takes part as any other does, and lies when it is asked for something.
class Liar
{
public:
    Liar(std::string broker, std::string name, std::string device, Lie lie)
        : m_device(std::move(device))
        , m_lie(std::move(lie))
        , m_desk({.key = "board", .device = std::move(name)}, broker::unguessable)
        , m_thread([this, broker = std::move(broker)](const std::stop_token& stop) { run(broker, stop); })
    {
    }
    int lies() const { return m_lies; }

private:
    void run(const std::string& broker, const std::stop_token& stop)
    {
        const auto opened = broker::Connection::open({broker});
        if (!opened)
            return;
        m_connection = *opened;
        const auto inbox = std::make_shared<broker::Inbox>();
        const auto claims = m_connection->subscribe("lathe.claim.board.*",
                                                    [inbox](auto subject, auto bytes) { inbox->put(subject, bytes); });
        for (broker::Desk::Time told = {}; !stop.stop_requested(); ::usleep(5'000)) {
            const broker::Desk::Time now = broker::Desk::Clock::now();
            for (const auto& heard : inbox->takeAll())
                if (const auto claim = broker::claimIn(heard.subject, heard.bytes))
                    m_desk.hear(*claim, now);
            turn(now);
            broker::DeviceNotice notice = m_desk.notice(now);
            if (now - told < std::chrono::milliseconds(300) && notice.state == m_told)
                continue;
            told = now;
            m_told = notice.state;
            m_connection->publish(broker::hereSubject(notice.key, notice.device), broker::toText(notice));
        }
        m_channel.reset();
        m_connection->settle();
    }

    void turn(broker::Desk::Time now)
    {
        const broker::Desk::Step step = m_desk.turn(now);
        if (step.over)
            end(now);
        if (step.offer) {
            const std::string user = m_desk.notice(now).user;
            m_session = step.offer->session;
            m_greeted = false;
            auto channel = broker::Channel::open(
                m_connection, broker::fromDeviceSubject(step.offer->device, user, m_session),
                broker::toDeviceSubject(step.offer->device, user, m_session), m_session);
            if (channel)
                m_channel = *std::move(channel);
            m_connection->publish(broker::offerSubject(user), broker::toText(*step.offer));
        }
        if (!m_channel)
            return;
        (void)m_channel->pump();
        auto message = m_channel->next();
        for (; message && *message; message = m_channel->next())
            answer(**message, now);
        (void)m_channel->pump();
        if (!message)
            end(now);
    }

    void answer(const wire::Message& message, broker::Desk::Time now)
    {
        m_desk.taken(m_session, now);
        if (!std::exchange(m_greeted, true))
            m_channel->queue(wire::helloOf({"lathe-runner", {}}));
        if (message.has_open_device()) {
            wire::Message opened;
            opened.mutable_device_opened()->set_json(m_device);
            m_channel->queue(opened);
        }
        if (message.has_run_job()) {
            ++m_lies;
            m_lie(message.run_job(), *m_channel);
        }
    }

    void end(broker::Desk::Time now)
    {
        m_channel.reset();
        m_desk.returned(m_session, now);
    }

    std::string m_device;
    Lie m_lie;
    broker::Desk m_desk;
    std::shared_ptr<broker::Connection> m_connection;
    std::unique_ptr<broker::Channel> m_channel;
    Hash128 m_session;
    bool m_greeted = false;
    broker::DeviceState m_told = broker::DeviceState::Sick;
    std::atomic<int> m_lies = 0;
    std::jthread m_thread; ///< ends first
};

/// An answer in which all is well, but for what `spoil` does to it.
Lie result(std::function<void(wire::RunResult&)> spoil)
{
    return [spoil = std::move(spoil)](const wire::RunJob& job, broker::Channel& channel) {
        wire::Message message;
        wire::RunResult& result = *message.mutable_run_result();
        result.set_id(job.id());
        *result.mutable_trial() = job.trial();
        result.add_costs_ns(5);
        result.set_verified(true);
        spoil(result);
        channel.queue(message);
    };
}

Lie costs(std::vector<double> values)
{
    return result([values = std::move(values)](wire::RunResult& result) {
        result.mutable_costs_ns()->Assign(values.begin(), values.end());
    });
}

std::map<std::string, Lie> allLies()
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
    const auto missing = [](const wire::RunJob& job, broker::Channel& channel) {
        wire::Message message;
        message.mutable_missing()->set_id(job.id());
        *message.mutable_missing()->add_blobs() = job.artifacts(0).blob();
        channel.queue(message);
    };
    const auto blob = [](const wire::RunJob& job, broker::Channel& channel) {
        wire::Message message;
        *message.mutable_blob()->mutable_hash() = job.artifacts(0).blob();
        message.mutable_blob()->set_total(4);
        message.mutable_blob()->set_data("none");
        channel.queue(message);
    };
    return {{"no-cost", costs({})},
            {"zero", costs({0})},
            {"negative", costs({-5})},
            {"not-a-number", costs({kNoNumber})},
            {"infinite", costs({kInfinity})},
            {"largest", costs({1e308})},
            {"a-million", costs(std::vector<double>(1'000'000, 5.0))},
            {"stage", result([](auto& result) { result.set_stage(3'000'000'000); })},
            {"other-id", result([](auto& result) { result.set_id(result.id() + 1'000'000); })},
            {"other-trial", result([](auto& result) {
                 wire::toWire({1, 2}, result.mutable_trial());
             })},
            {"times", result([](auto& result) { result.set_measure_ms(kNoNumber); })},
            {"misses-all", missing},
            {"wrong-blob", blob}};
}

/// Of a device whose turns are short; its audit log tells who had it.
serve::FarmRunnerOptions shortTurns(serve::AuditLog& audit)
{
    serve::FarmRunnerOptions options;
    options.desk.key = "board";
    options.desk.device = "board1";
    options.desk.slice = std::chrono::milliseconds(300);
    options.audit = &audit;
    return options;
}

} // namespace

/// Devices that lie, hang, or cannot write, and users who share one. Nothing that was measured right is lost, and
/// nothing else is kept.
class TestFarmLies : public QObject
{
    Q_OBJECT

    lathe::test::Calm m_calm;

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
        const QString failed = m_calm.measure(kRequests);
        QVERIFY2(failed.isEmpty(), qPrintable(failed));
    }

    void devicesThatLieAreLeftOut()
    {
        NatsServer server;
        QVERIFY(server.start());
        auto board = FarmRunner::start(server.url(), "board", named("honest"));
        QVERIFY(board);
        std::vector<std::string> notices;
        MeasurerOptions options = optionsFor(server.url());
        options.onNotice = [&](const Message& notice) { notices.push_back(textOf(notice)); };
        auto measurer = Measurer::create(options);
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        // They say that they are what the honest one is, else they would not be taken.
        const std::string device = (*measurer)->devices().front().fingerprint;
        std::map<std::string, std::unique_ptr<Liar>> liars;
        for (const auto& [name, lie] : allLies())
            liars[name] = std::make_unique<Liar>(server.url(), name, device, lie);
        const auto haveLied = [&] {
            return std::ranges::all_of(liars, [](const auto& liar) { return liar.second->lies() > 0; });
        };
        const int count = 10 * kRequests;
        const Measured calm = measureHere(count);
        const Deadline soon = Deadline::inSeconds(20);
        const Measured measured = measureAll(**measurer, count, [&](std::size_t index) {
            if (index < std::size_t(count) - 20 && !haveLied()
                && !soon.passed()) // until all had something to lie about
                std::this_thread::sleep_for(std::chrono::milliseconds(150));
        });
        QVERIFY2(measured.error.empty(), measured.error.c_str());
        QCOMPARE(measured.lines.size(), std::size_t(count));
        // Three of them in turn may have had the same candidate, which then is what brings devices down.
        for (std::size_t i = 0; i < measured.lines.size(); ++i)
            QVERIFY2(measured.lines[i] == calm.lines[i]
                         || measured.lines[i].find("unexpected answer from the") != std::string::npos,
                     measured.lines[i].c_str());
        for (const auto& [name, liar] : liars) {
            QVERIFY2(liar->lies() > 0, name.c_str());
            const std::string out = name + " no longer measures for this run: ";
            QVERIFY2(std::ranges::any_of(notices, [&](const auto& n) { return n.starts_with(out); }),
                     (name + "\n" + joined(notices)).c_str());
        }
    }

    /// Who cannot write down what ran on a device lets nothing run on it, and says why.
    void aDeviceWithoutRoomForItsAuditLogEnds()
    {
        NatsServer server;
        QVERIFY(server.start());
        SubprocessOptions words;
        const auto program = findProgram("lathe-runner");
        QVERIFY(program);
        words.program = *program;
        words.arguments = {"--broker", server.url(), "--key", "board", "--name", named("full"), "--audit", "/dev/full"};
        words.pipeOutput = false;
        std::stop_source ended;
        Result<RunOutput> output = makeError(Errc::Internal, "it was not run");
        std::jthread runner([&] {
            output = runProcess(words, {}, Deadline::inSeconds(60));
            ended.request_stop();
        });
        const auto measurer = Measurer::create(optionsFor(server.url()), ended.get_token());
        runner.join();
        QVERIFY(!measurer); // it has run nothing
        QVERIFY2(output, output ? "" : output.error().message.c_str());
        QCOMPARE(output->exit.signalled, false);
        QCOMPARE(output->exit.code, 1);
        const QStringList lines = QString::fromStdString(output->errors).split('\n', Qt::SkipEmptyParts);
        QVERIFY(!lines.isEmpty());
        QVERIFY2(lines.last().startsWith("lathe-runner: ") && lines.last().contains("/dev/full")
                     && lines.last().contains("No space left on device"),
                 output->errors.c_str());
    }

    void twoUsersOfOneDeviceBothFinish()
    {
        NatsServer server;
        QVERIFY(server.start());
        const auto dir = TempDir::create();
        QVERIFY(dir);
        auto audit = serve::AuditLog::open(dir->path() / "audit");
        QVERIFY(audit);
        NatsProxy runners(server.port());
        NatsProxy lines[] = {NatsProxy(server.port()), NatsProxy(server.port())};
        Measured measured[2];
        {
            const FarmDevice board(runners.url(), shortTurns(*audit));
            LinePlan plan;
            plan.faults = {kAllLineFaults.begin(), kAllLineFaults.end()};
            plan.every = 20;
            for (NatsProxy* const line : {&runners, &lines[0], &lines[1]}) {
                plan.seed = m_calm.nextSeed();
                line->setPlan(plan);
            }
            const auto use = [&](int user) {
                auto measurer = Measurer::create(optionsFor(lines[user].url(), user == 0 ? "ada" : "bob"));
                if (!measurer)
                    measured[user].error = measurer.error().message;
                else // for as long as some turns
                    measured[user] = measureAll(**measurer, kRequests, [](std::size_t) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(40));
                    });
            };
            std::jthread bob([&] { use(1); });
            use(0);
        }
        for (int user = 0; user < 2; ++user) {
            QVERIFY2(measured[user].error.empty(), measured[user].error.c_str());
            QCOMPARE(firstDifference(measured[user].lines, m_calm.lines()), QString());
            for (const LineFault fault : kAllLineFaults)
                QVERIFY(lines[user].done(fault) > 0);
        }
        // It went back and forth.
        std::ifstream log(dir->path() / "audit");
        int leases = 0;
        for (std::string line; std::getline(log, line);)
            leases += line.find("\"lease\"") != std::string::npos;
        QVERIFY2(leases >= 3, std::to_string(leases).c_str());
    }

    void aDeviceThatHangsCostsNothing_data()
    {
        QTest::addColumn<bool>("alone");
        QTest::newRow("another one goes on") << false;
        QTest::newRow("it goes on itself") << true;
    }
    /// Its process stands still, as that of a machine without memory does: it says nothing, and its connection stays.
    void aDeviceThatHangsCostsNothing()
    {
        QFETCH(bool, alone);
        NatsServer server;
        QVERIFY(server.start());
        const std::string name = named("hangs");
        auto hanging = FarmRunner::start(server.url(), "board", name);
        QVERIFY(hanging);
        std::optional<FarmRunner> other;
        std::vector<std::string> notices;
        MeasurerOptions options = optionsFor(server.url());
        options.onNotice = [&](const Message& notice) { notices.push_back(textOf(notice)); };
        auto measurer = Measurer::create(options);
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        std::jthread wakes; // starts no process, so that none ends with it
        bool stopped = false;
        const auto said = [&](const std::string& what) {
            return std::ranges::any_of(notices, [&](const auto& n) { return n.starts_with(what); });
        };
        const std::string left = name + " no longer measures", came = named("goes-on") + " measures";
        if (!alone) {
            auto started = FarmRunner::start(server.url(), "board", named("goes-on"));
            QVERIFY(started);
            other = std::move(*started);
        }
        const int count = alone ? kRequests : 6 * kRequests;
        const Deadline soon = Deadline::inSeconds(25);
        QElapsedTimer time;
        time.start();
        const Measured measured = measureAll(**measurer, count, [&](std::size_t) {
            if (!stopped && (alone || said(came))) {
                stopped = true;
                hanging->signal(SIGSTOP);
                wakes = std::jthread([&] {
                    std::this_thread::sleep_for(std::chrono::seconds(6));
                    hanging->signal(SIGCONT);
                });
            }
            if (!alone && !said(left) && !soon.passed()) // as long as there is something left to measure
                std::this_thread::sleep_for(std::chrono::milliseconds(150));
        });
        QVERIFY2(measured.error.empty(), measured.error.c_str());
        QVERIFY(stopped);
        QVERIFY2(said(left), joined(notices).c_str());
        // Back after seconds, it is given again within seconds, and not when it gives us up after a minute.
        QVERIFY2(!alone || time.elapsed() < 45'000, qPrintable(QString::number(time.elapsed())));
        const Measured calm = measureHere(count);
        QCOMPARE(firstDifference(measured.lines, calm.lines), QString());
    }
};

LATHE_TEST(TestFarmLies)

} // namespace tst_farm_lies

#include "tst_farm_lies.moc"
