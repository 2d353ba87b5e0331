#include "core/backend/network_message.h"
#include "core/frontend/zoo.h"
#include "core/graph/passes.h"
#include "core/wire/messages.h"
#include "core/wire/seeded.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <limits>

namespace tst_network_message {

using namespace lathe;
using lathe::test::must;

/// Networks go to another process and are the same there.
class TestNetworkMessage : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path constants() const { return m_folder.filePath("constants").toStdString(); }

    wire::Network messageOf(const graph::Graph& network) const
    {
        wire::Network message;
        const auto written = backend::writeNetwork(network, constants(), message);
        if (!written)
            qFatal("%s", written.error().message.c_str());
        wire::Network there; // through bytes, as it goes
        if (!there.ParseFromString(message.SerializeAsString()))
            qFatal("the message does not parse");
        return there;
    }

private slots:
    void everyAttributeAndConstantArrives()
    {
        graph::Graph network;
        network.name = "hand";
        const float weights[] = {1, 2, std::numeric_limits<float>::infinity(), -0.0f};
        const auto x = network.addValue("x", DType::F32, {2, 2});
        const auto w = network.addConstant("w", DType::F32, {2, 2}, graph::makeConst(weights, sizeof weights));
        const auto y = network.addValue("y", DType::F32, {2, 2});
        // Of what a pass left behind nothing is sent.
        network.addConstant("left behind", DType::F32, {1 << 16},
                            graph::makeConstLater(4 << 16, 1, []() -> Result<std::vector<std::byte>> {
                                return makeError(Errc::Internal, "nobody may look at this");
                            }));
        network.inputs = {x};
        network.outputs = {y};
        graph::Node node;
        node.name = "add";
        node.op = "add";
        node.origin = "Add_1";
        node.inputs = {x, w, graph::ValueId()};
        node.outputs = {y};
        node.attrs = {{"whole", std::int64_t(-7)},
                      {"real", -std::numeric_limits<double>::infinity()},
                      {"text", std::string("NCHW\0c", 6)},
                      {"wholes", std::vector<std::int64_t>{1, -1}},
                      {"reals", std::vector<double>{0.1, 1e300}},
                      {"texts", std::vector<std::string>{"", "a"}},
                      {"none", std::vector<std::string>{}}};
        network.addNode(node);
        const graph::Graph there = must(backend::readNetwork(messageOf(network)));
        QCOMPARE(there.name, network.name);
        QCOMPARE(there.nodes.size(), std::size_t(1));
        QVERIFY(there.nodes[0].attrs == node.attrs);
        QCOMPARE(there.nodes[0].origin, node.origin);
        QVERIFY(there.nodes[0].inputs == node.inputs && there.nodes[0].outputs == node.outputs);
        QVERIFY(there.inputs == network.inputs && there.outputs == network.outputs);
        QVERIFY(there.value(y).producer == network.value(y).producer);
        const auto constant = must(graph::contentsOf(*there.value(w).constant));
        QVERIFY(constant.bytes.size() == sizeof weights
                && std::memcmp(constant.bytes.data(), weights, sizeof weights) == 0);
        QVERIFY(std::filesystem::file_size(constants()) < 1024);
    }

    void networksGiveWhatTheyGaveHere_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"mlp", "resnet-18"})
            QTest::newRow(name) << name;
    }
    void networksGiveWhatTheyGaveHere()
    {
        QFETCH(QString, name);
        const graph::Graph network = must(frontend::buildZoo(name.toStdString(), {}));
        const graph::Graph there = must(backend::readNetwork(messageOf(network)));
        QCOMPARE(QString::fromStdString(graph::print(there)), QString::fromStdString(graph::print(network)));
        if (name != "mlp")
            return; // minutes
        std::vector<graph::HostTensor> inputs;
        for (const graph::ValueId id : network.inputs) {
            inputs.push_back(graph::HostTensor::zeros({network.value(id).dtype, network.value(id).shape}));
            wire::fillSeeded(1, network.value(id).dtype, {}, inputs.back().bytes);
        }
        const auto here = must(graph::interpret(network, inputs));
        const auto outputs = must(graph::interpret(there, inputs));
        for (std::size_t i = 0; i < here.size(); ++i)
            QVERIFY(outputs[i].bytes == here[i].bytes);
    }

    void whatDoesNotFitTogetherIsRefused()
    {
        const graph::Graph network = must(frontend::buildZoo("mlp", {}));
        const wire::Network whole = messageOf(network);
        const auto refused = [](const wire::Network& message, Errc code) {
            const auto read = backend::readNetwork(message);
            return !read && read.error().code == code;
        };
        wire::Network damaged = whole;
        damaged.set_constants_file(m_folder.filePath("none").toStdString());
        QVERIFY(refused(damaged, Errc::NotFound));
        for (int i = 0; i < whole.values_size(); ++i)
            if (whole.values(i).constant()) {
                damaged = whole;
                damaged.mutable_values(i)->set_offset(std::filesystem::file_size(constants()) - 1);
                QVERIFY(refused(damaged, Errc::BadFile));
                damaged = whole;
                damaged.mutable_values(i)->set_size(~0ULL);
                QVERIFY(refused(damaged, Errc::BadFile));
            }
        damaged = whole;
        damaged.mutable_values(0)->set_dtype(99);
        QVERIFY(refused(damaged, Errc::BadFile));
        damaged = whole;
        damaged.mutable_nodes(0)->set_inputs(0, 1 << 20);
        QVERIFY(refused(damaged, Errc::BadFile));
        damaged = whole;
        damaged.mutable_nodes(0)->add_attributes()->set_name("hollow");
        QVERIFY(refused(damaged, Errc::BadFile));
    }
};

LATHE_TEST(TestNetworkMessage)

} // namespace tst_network_message

#include "tst_network_message.moc"
