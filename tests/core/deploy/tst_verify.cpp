#include "core/deploy/verify.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/message.h"
#include "core/wire/seeded.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

namespace tst_verify {

using namespace lathe;
using namespace lathe::deploy;
using graph::HostTensor;
using test::must;

namespace {

using Tensors = std::vector<HostTensor>;
using Spoil = std::function<double(double)>;

/// A small network of one input and one output.
class Network
{
public:
    explicit Network(DType dtype, std::int64_t count = 200)
    {
        m_last = m_graph.addValue("x", dtype, {count});
        m_graph.inputs.push_back(m_last);
    }
    Network& node(const char* op, graph::Attrs attrs = {})
    {
        m_last = graph::append(m_graph, op, op, {m_last}, std::move(attrs), DType::F32, {}, op);
        return *this;
    }
    Network& with(const char* op, float constant)
    {
        const graph::ValueId c = graph::addFloats(m_graph, std::string(op) + "_constant", {1}, {constant});
        m_last = graph::append(m_graph, op, op, {m_last, c}, {}, DType::F32, {}, op);
        return *this;
    }
    graph::Graph finish()
    {
        m_graph.outputs = {m_last};
        return must(graph::inferTypes(m_graph));
    }

private:
    graph::Graph m_graph;
    graph::ValueId m_last;
};

/// A library that runs a network by the reference executor, and then spoils what comes out.
class Pretended : public LibraryHost
{
public:
    Pretended(graph::Graph network, Spoil spoil)
        : m_network(std::move(network))
        , m_spoil(std::move(spoil))
    {
        const auto portOf = [this](graph::ValueId id) {
            const graph::Value& value = m_network.value(id);
            return PortInfo{value.name, {}, {value.dtype, value.shape}};
        };
        m_inputs = {portOf(m_network.inputs[0])};
        m_outputs = {portOf(m_network.outputs[0])};
    }
    const std::vector<PortInfo>& inputs() const override { return m_inputs; }
    const std::vector<PortInfo>& outputs() const override { return m_outputs; }
    int runs = 0;

private:
    Result<LibraryRun> runChecked(const LibraryRunRequest& request) override
    {
        ++runs;
        LibraryRun run;
        LATHE_TRY_ASSIGN(run.outputs, graph::interpret(m_network, request.inputs));
        HostTensor& out = run.outputs[0];
        for (std::int64_t i = 0; m_spoil && i < out.type.shape[0]; ++i)
            wire::writeElement(out.bytes.data(), i, out.type.dtype,
                               m_spoil(wire::readElement(out.bytes.data(), i, out.type.dtype)));
        return run;
    }

    graph::Graph m_network;
    Spoil m_spoil;
    std::vector<PortInfo> m_inputs, m_outputs;
};

/// A library whose "logits" have anything behind the rows that exist, and are wrong in one of these if `spoilt`.
class Rows : public LibraryHost
{
public:
    Rows(const graph::Graph& network, bool spoilt)
        : m_network(network)
        , m_spoilt(spoilt)
    {
        for (const graph::ValueId id : network.inputs)
            m_inputs.push_back({network.value(id).name, {}, {network.value(id).dtype, network.value(id).shape}});
        const graph::Value& out = network.value(network.outputs[0]);
        m_outputs = {{out.name, {}, {out.dtype, out.shape}, {0}}};
    }
    const std::vector<PortInfo>& inputs() const override { return m_inputs; }
    const std::vector<PortInfo>& outputs() const override { return m_outputs; }

private:
    Result<LibraryRun> runChecked(const LibraryRunRequest& request) override
    {
        LibraryRun run;
        LATHE_TRY_ASSIGN(run.outputs, graph::interpret(m_network, request.inputs));
        graph::Graph inside = m_network;
        inside.outputs = {m_network.nodes[0].outputs[0]};
        inside.outputExtents.clear();
        LATHE_TRY_ASSIGN(const Tensors logits, graph::interpret(inside, request.inputs));
        for (const std::string& name : request.observe)
            run.observed.emplace_back(name, logits[0]);
        for (auto& [name, tensor] : run.observed) {
            std::ranges::fill(tensor.as<float>().subspan(6), 77.0F);
            if (m_spoilt)
                tensor.as<float>()[4] += 1;
        }
        return run;
    }

    graph::Graph m_network;
    bool m_spoilt;
    std::vector<PortInfo> m_inputs, m_outputs;
};

struct Verified
{
    VerifyReport report;
    int runs = 0, evaluations = 0;
    QStringList failed() const
    {
        QStringList words;
        for (const KindReport& kind : report.kinds)
            if (!kind.passed)
                words << QString::fromStdString(kind.inputs);
        return words;
    }
};

Verified verified(const graph::Graph& reference, const graph::Graph& library, const Spoil& spoil,
                  VerifyOptions options = {})
{
    Verified out;
    Pretended host(library, spoil);
    const Evaluate evaluate = [&out](const graph::Graph& network, const Tensors& inputs) {
        ++out.evaluations;
        return graph::interpret(network, inputs);
    };
    out.report = must(verifyLibrary(host, evaluate, reference, nullptr, options));
    out.runs = host.runs;
    return out;
}

VerifyOptions allKinds(const graph::Graph& network)
{
    VerifyOptions options;
    options.kinds = kindsThatSuit(inputTypesOf(network));
    return options;
}

} // namespace

class TestVerify : public QObject
{
    Q_OBJECT

private slots:
    void eachKindIsRunAndTold()
    {
        const graph::Graph network = Network(DType::F32).node("tanh").finish();
        const Verified v = verified(network, network, nullptr, allKinds(network));
        QVERIFY2(v.report.passed, v.report.text.c_str());
        QStringList kinds;
        for (const KindReport& kind : v.report.kinds)
            kinds << QString::fromStdString(kind.inputs);
        QCOMPARE(kinds, (QStringList{"normal", "large", "zeros", "nan"}));
        QVERIFY2(v.report.text.find("normal (0), large (0), zeros (0), nan (0)") != std::string::npos,
                 v.report.text.c_str());
    }

    void theUsualCheckRunsEverythingOnce()
    {
        const graph::Graph network = Network(DType::F32).node("tanh").finish();
        const Verified v = verified(network, network, [](double y) { return y * (1 + 1e-6); });
        QVERIFY(v.report.passed);
        QCOMPARE(v.runs, 1); // what it takes stays what it took
        QCOMPARE(v.evaluations, 1);
        VerifyOptions closely;
        closely.closely = true;
        QCOMPARE(verified(network, network, nullptr, closely).evaluations, 1);
        QCOMPARE(verified(
                     network, network, [](double y) { return y * (1 + 5e-5); }, closely)
                     .evaluations,
                 2);
    }

    void mistakesThatOneKindShows_data()
    {
        QTest::addColumn<Spoil>("spoil");
        QTest::addColumn<DType>("dtype");
        QTest::addColumn<QString>("failed");
        QTest::newRow("NaN is lost") << Spoil([](double y) { return std::isnan(y) ? 0 : y; }) << DType::F32 << "nan";
        QTest::newRow("large numbers are cut off")
            << Spoil([](double y) { return std::clamp(y, -100.0, 100.0); }) << DType::F32 << "large";
        QTest::newRow("the sign of zero is lost")
            << Spoil([](double y) { return y == 0 ? 0 : y; }) << DType::F32 << "zeros";
        QTest::newRow("small numbers are lost")
            << Spoil([](double y) { return y != 0 && std::abs(y) < 1e-3 ? 0 : y; }) << DType::F32 << "normal large";
        QTest::newRow("the end of the type is off")
            << Spoil([](double y) { return y == 2147483647 ? 2147483646 : y; }) << DType::I32 << "integers";
    }
    void mistakesThatOneKindShows()
    {
        QFETCH(Spoil, spoil);
        QFETCH(DType, dtype);
        QFETCH(QString, failed);
        const graph::Graph network = Network(dtype, 2000).node("negative").node("negative").finish();
        const Verified v = verified(network, network, spoil, allKinds(network));
        QCOMPARE(v.failed().join(' '), failed);
        QVERIFY(!v.report.passed);
        QVERIFY2(v.report.text.find("on " + failed.section(' ', 0, 0).toStdString() + " inputs") != std::string::npos,
                 v.report.text.c_str());
    }

    void aNetworkThatLosesItsDigitsIsToldOf()
    {
        // The library adds both constants up first: it is right, and the reference is not.
        const graph::Graph reference = Network(DType::F32).with("add", 1e7F).with("subtract", 1e7F).finish();
        const graph::Graph library = Network(DType::F32).node("identity").finish();
        const Verified v = verified(reference, library, nullptr);
        QVERIFY2(v.report.passed, v.report.text.c_str());
        QCOMPARE(v.report.illConditioned, std::vector<std::string>{"identity"});
        QVERIFY2(v.report.text.find("is ill-conditioned: rounding alone changes it by") != std::string::npos,
                 v.report.text.c_str());
        QVERIFY(v.report.maxRelError > 0.1);
        // What is far off is wrong all the same.
        const Verified wrong = verified(reference, library, [](double y) { return y + 20; });
        QVERIFY(!wrong.report.passed);
        QCOMPARE(wrong.report.illConditioned, std::vector<std::string>{"identity"});
        // Another network, as far off as that, is not excused.
        const graph::Graph sound = Network(DType::F32).with("add", 1).finish();
        const Verified off = verified(sound, sound, [](double y) { return y + 0.1; });
        QVERIFY(!off.report.passed && off.report.illConditioned.empty());
    }

    void indicesAreMadeUpWithinTheirTable()
    {
        graph::Graph network;
        const graph::ValueId places = network.addValue("places", DType::I64, {100});
        network.inputs = {places};
        const graph::ValueId table = graph::addFloats(network, "table", {7}, std::vector<float>(7, 0.5F));
        network.outputs = {
            graph::append(network, "take", "take", {table, places}, {{"axis", std::int64_t{0}}}, DType::F32, {})};
        network = must(graph::inferTypes(network));
        const Verified v = verified(network, network, nullptr, allKinds(network));
        QVERIFY2(v.report.passed, v.report.text.c_str());
        for (const KindReport& kind : v.report.kinds)
            QVERIFY2(kind.refused.empty(), kind.refused.c_str());
    }

    void whatCannotBeMadeUpIsRefusedOrTold()
    {
        // Neither the reference executor nor anybody else knows what these must be.
        const graph::Graph network = Network(DType::I32).node("negative").finish();
        Pretended host(network, nullptr);
        int asked = 0;
        const Evaluate once = [&asked](const graph::Graph& g, const Tensors& inputs) -> Result<Tensors> {
            if (++asked != 1)
                return makeError(Errc::InvalidArgument, "these are no good");
            return graph::interpret(g, inputs);
        };
        const VerifyReport told = must(verifyLibrary(host, once, network, nullptr, allKinds(network)));
        QVERIFY(told.passed);
        QVERIFY(told.kinds[0].refused.empty());
        QCOMPARE(told.kinds[1].refused, std::string("these are no good"));
        const VerifyReport refused = must(verifyLibrary(host, once, network, nullptr, allKinds(network)));
        QVERIFY(!refused.passed && refused.refused && refused.refused->code == Errc::InvalidArgument);
        QCOMPARE(refused.text, std::string("these are no good"));
    }

    void whatTheLibraryGetsWrongIsNoFaultOfItsInputs()
    {
        // A result of another shape: an error, and not made-up inputs that do not suit.
        const graph::Graph network = Network(DType::F32, 8).node("negative").finish();
        Pretended host(Network(DType::F32, 8).node("reshape", {{"newshape", std::vector<std::int64_t>{4, 2}}}).finish(),
                       nullptr);
        const auto report = verifyLibrary(host, graph::interpret, network, nullptr, {});
        QVERIFY(!report && report.error().code == Errc::InvalidArgument);
        QVERIFY2(report.error().message.find("its reference") != std::string::npos, report.error().message.c_str());
    }

    void rowsBehindTheTrueSizeAreNotCompared()
    {
        // The first n rows of x, and their softmax: what lies behind them inside of a library means nothing.
        graph::Graph network;
        const graph::ValueId x = network.addValue("x", DType::F32, {4, 3}), n = network.addValue("n", DType::I64, {});
        network.inputs = {x, n};
        const graph::ValueId logits = graph::append(network, "logits", "negative", {x}, {}, DType::F32, {4, 3});
        network.outputs = {
            graph::append(network, "y", "softmax", {logits}, {{"axis", std::int64_t{1}}}, DType::F32, {4, 3})};
        network.outputExtents = {{0, 0, n}};
        VerifyOptions options;
        HostTensor given = HostTensor::zeros({DType::F32, {4, 3}}), count = HostTensor::zeros({DType::I64, {}});
        given.as<float>()[4] = 2;
        count.as<std::int64_t>()[0] = 2;
        options.inputs = {given, count};
        for (const bool spoilt : {false, true}) {
            Rows host(network, spoilt);
            const VerifyReport report = must(verifyLibrary(host, graph::interpret, network, nullptr, options));
            QVERIFY2(report.passed == !spoilt, report.text.c_str());
            QVERIFY(report.notCompared.empty());
        }
    }

    void givenValuesTakeTheirPlace()
    {
        const graph::Graph network = Network(DType::F32, 3).node("negative").finish();
        VerifyOptions options = allKinds(network);
        HostTensor given = HostTensor::zeros({DType::F32, {3}});
        given.as<float>()[1] = 7;
        options.inputs = {given};
        const Verified v = verified(
            network, network, [](double y) { return y == -7 ? 0 : y; }, options);
        QCOMPARE(v.report.kinds.size(), std::size_t(1));
        QCOMPARE(v.failed(), QStringList{"given"});
    }
};

LATHE_TEST(TestVerify)

} // namespace tst_verify

#include "tst_verify.moc"
