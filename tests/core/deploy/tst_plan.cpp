#include "core/deploy/in_place.h"
#include "core/runtime/executor.h"
#include "core/support/files.h"
#include "hand_network.h"
#include "hand_run.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace tst_plan {

using namespace lathe;
using namespace lathe::deploy;

extern "C" {
std::int32_t hand_clear(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
std::int32_t hand_scale(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
std::int32_t hand_relu(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
std::int32_t hand_add(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
}

namespace {

constexpr LathePhase kPhases[] = {hand_clear, hand_scale, hand_relu, hand_add};

} // namespace

class TestPlan : public QObject
{
    Q_OBJECT
private slots:
    void theHandNetworkRunsAsTheReferenceExecutorSays()
    {
        HandNetwork network;
        makeHandNetwork(network);
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        QVERIFY2(set, set ? "" : set.error().message.c_str());
        QCOMPARE(set->sources.size(), 3U);
        QCOMPARE(set->ofSubgraph, (std::vector<std::int32_t>{0, 1, -1, 2}));
        QCOMPARE(set->sources[0].constantInputs, (std::vector<bool>{false, true}));
        for (const bool inPlace : {true, false}) {
            PlanOptions options;
            options.inPlace = inPlace;
            const auto image = planModel(network.graph, network.partition, network.choices, *set, network.kernels,
                                         options);
            QVERIFY2(image, image ? "" : image.error().message.c_str());
            QCOMPARE(kindsOf(*image),
                     (QStringList{"kernel scale", "kernel relu", "transform layout of positive", "kernel shift"}));
            // scaled (2048 bytes), positive (2048, or in place of scaled), flat (1280)
            QCOMPARE(image->unsharedBytes, inPlace ? 2048U + 1280U : 2 * 2048U + 1280U);
            QCOMPARE(image->arenaBytes, inPlace ? 2048U + 1280U : 2 * 2048U);
            const auto expected = graph::interpret(network.graph, {someInput()});
            QVERIFY(expected);
            const std::vector<float> got = runImage(*image, kPhases);
            QCOMPARE(got.size(), 320U);
            const auto reference = (*expected)[0].as<float>();
            for (std::size_t i = 0; i < got.size(); ++i)
                QVERIFY(qAbs(got[i] - reference[i]) < 1e-6F);
        }
    }

    void largeWeightsGoToAFileAsTheyWouldToMemory()
    {
        HandNetwork network;
        makeHandNetwork(network);
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        QVERIFY(set);
        const auto inMemory = planModel(network.graph, network.partition, network.choices, *set, network.kernels, {});
        QVERIFY2(inMemory, inMemory ? "" : inMemory.error().message.c_str());
        QCOMPARE(inMemory->weightsBytes, inMemory->weights.size());
        const QTemporaryDir folder;
        for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{100}, inMemory->weightsBytes}) {
            PlanOptions options;
            options.weightsFile = folder.filePath("weights").toStdString();
            options.weightsInMemory = most;
            const auto image = planModel(network.graph, network.partition, network.choices, *set, network.kernels,
                                         options);
            QVERIFY2(image, image ? "" : image.error().message.c_str());
            QCOMPARE(image->weightsBytes, inMemory->weightsBytes);
            QVERIFY(image->description == inMemory->description);
            QCOMPARE(image->weights.empty(), most < inMemory->weightsBytes);
            if (!image->weights.empty())
                continue;
            const auto file = readFile(options.weightsFile);
            QVERIFY(file);
            QCOMPARE(file->size(), backend::kSectionFileStart + inMemory->weights.size());
            QVERIFY(std::memcmp(file->data() + backend::kSectionFileStart, inMemory->weights.data(),
                                inMemory->weights.size())
                    == 0);
        }
        PlanOptions nowhere;
        nowhere.weightsFile = folder.filePath("none/weights").toStdString();
        nowhere.weightsInMemory = 0;
        const auto refused = planModel(network.graph, network.partition, network.choices, *set, network.kernels,
                                       nowhere);
        QVERIFY(!refused);
        QVERIFY2(refused.error().code == Errc::StoreFailed
                     && refused.error().message.find("none/weights") != std::string::npos,
                 refused.error().message.c_str());
    }

    void anOutputThatIsAnInputIsCopied()
    {
        HandNetwork network;
        makeHandNetwork(network);
        network.graph.outputs.push_back(network.graph.inputs[0]);
        network.graph.outputs.push_back(network.graph.outputs[0]); // and one value twice
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        QVERIFY(set);
        const auto image = planModel(network.graph, network.partition, network.choices, *set, network.kernels, {});
        QVERIFY2(image, image ? "" : image.error().message.c_str());
        QCOMPARE(kindsOf(*image).mid(4), (QStringList{"copy output x", "copy output y"}));
    }

    void anOutputThatIsReadLaterIsNotOverwritten()
    {
        HandNetwork network;
        makeHandNetwork(network);
        // "scaled" leaves the network too: relu may not run in its place.
        network.graph.outputs.push_back(network.partition.subgraphs[0].outputs[0]);
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        const auto image = planModel(network.graph, network.partition, network.choices, *set, network.kernels, {});
        QVERIFY2(image, image ? "" : image.error().message.c_str());
        const std::vector<float> got = runImage(*image, kPhases);
        const auto expected = graph::interpret(network.graph, {someInput()});
        for (std::size_t i = 0; i < got.size(); ++i)
            QVERIFY(qAbs(got[i] - (*expected)[0].as<float>()[i]) < 1e-6F);
    }

    void equalKernelsAreCompiledOnce()
    {
        HandNetwork network;
        makeHandNetwork(network);
        // A second "shift" with the same definition and schedule, and a third with another schedule.
        network.partition.subgraphs.push_back(network.partition.subgraphs[3]);
        network.partition.subgraphs.push_back(network.partition.subgraphs[3]);
        network.choices.push_back(network.choices[3]);
        network.choices.push_back(network.choices[3]);
        for (std::size_t i = 0; i < network.choices.size(); ++i) // the vector moved
            if (network.choices[i].alternative != nullptr)
                network.choices[i].alternative = &*network.partition.subgraphs[i].untuned;
        network.choices[5].steps = "[[\"AN\",2,0,3]]";
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        QVERIFY(set);
        QCOMPARE(set->ofSubgraph, (std::vector<std::int32_t>{0, 1, -1, 2, 2, 3}));
        QVERIFY(set->sources[2].name != set->sources[3].name);
    }

    void equalConstantsAreStoredOnce()
    {
        HandNetwork network;
        makeHandNetwork(network);
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        const auto image = planModel(network.graph, network.partition, network.choices, *set, network.kernels, {});
        QCOMPARE(image->weights.size(), 128U + 1280U); // 80 bytes of w, then b at a multiple of 64
    }

    void subgraphsWithoutAProgramAreNamed()
    {
        HandNetwork network;
        makeHandNetwork(network);
        network.choices[1].alternative = nullptr;
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        QVERIFY(!set);
        QVERIFY(set.error().code == Errc::InvalidArgument);
        QVERIFY(set.error().message.find("relu") != std::string::npos);
        network.choices.pop_back();
        QVERIFY(!collectKernels(network.graph, network.partition, network.choices));
    }

    void kernelsThatDoNotFitAreRefused_data()
    {
        QTest::addColumn<int>("what");
        const char* const rows[] = {"missing parameter", "other dtype", "other element count", "no phases",
                                    "recipe on an activation"};
        for (int i = 0; i < 5; ++i)
            QTest::newRow(rows[i]) << i;
    }
    void kernelsThatDoNotFitAreRefused()
    {
        QFETCH(int, what);
        HandNetwork network;
        makeHandNetwork(network);
        const auto set = collectKernels(network.graph, network.partition, network.choices);
        QVERIFY(set);
        KernelInfo& relu = network.kernels[1];
        switch (what) {
        case 0: relu.parameters.pop_back(); break;
        case 1: relu.parameters[0].dtype = DType::F16; break;
        case 2: relu.parameters[0].map = plainMap({1, 20, 4, 5}); break;
        case 3: relu.phases.clear(); break;
        default:
            network.partition.subgraphs[1].untuned->bindings[0].recipe = network.partition.subgraphs[1].untuned->dag;
            break;
        }
        const auto image = planModel(network.graph, network.partition, network.choices, *set, network.kernels, {});
        QVERIFY(!image);
        QVERIFY(image.error().code == (what == 4 ? Errc::Unsupported : Errc::Internal));
    }

    void schedulesThatStoreTwiceOverwriteNothing()
    {
        QVERIFY(recomputes(R"([["OV", 2, 0, 4]])"));
        QVERIFY(!recomputes(R"([["SP", 2, 0, 8, [4], 1]])"));
        QVERIFY(recomputes("not steps"));
    }

    void onlyInputsThatAreReadElementByElementMayBeOverwritten()
    {
        HandNetwork network;
        makeHandNetwork(network);
        QCOMPARE(overwritableInputs(*network.choices[1].alternative->dag), (std::vector<bool>{true})); // relu
        QCOMPARE(overwritableInputs(*network.choices[3].alternative->dag), (std::vector<bool>{true, true})); // add
        QCOMPARE(overwritableInputs(*network.choices[0].alternative->dag),
                 (std::vector<bool>{true, false})); // broadcast multiply
        compute::DagBuilder builder; // out[i] = in[i] + in[7 - i]
        const auto in = builder.placeholder("in", {8}, DType::F32);
        const auto out = builder.compute("out", {8}, {}, "", [&](const std::vector<ir::Expr>& i) {
            return builder.at(in, {i[0]}) + builder.at(in, {ir::Expr(7) - i[0]});
        });
        const auto dag = std::move(builder).finish({out});
        QVERIFY(dag);
        QCOMPARE(overwritableInputs(**dag), (std::vector<bool>{false}));
    }
};

LATHE_TEST(TestPlan)

} // namespace tst_plan

#include "tst_plan.moc"
