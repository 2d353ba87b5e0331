#include "compiled_model.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_model_names {

using namespace lathe;
using namespace lathe::test;

/// Inputs and outputs keep the model's names, order, types and ranks, whatever the passes make of what is between.
class TestModelNames : public QObject
{
    Q_OBJECT

private slots:
    void outputsBehindMovementKeepTheirNames()
    {
        CompiledModel model;
        std::vector<float> image(2 * 8 * 8);
        for (std::size_t i = 0; i < image.size(); ++i)
            image[i] = static_cast<float>(i % 13) - 6;
        model.input("image", wire::Float, {1, 2, 8, 8}, image);
        std::vector<float> weights(3 * 2 * 3 * 3, 0.25F);
        model.model().initializers = {wire::tensor("w", wire::Float, {3, 2, 3, 3}, wire::floats(weights)),
                                      wire::tensor("shape", wire::Int64, {2}, wire::ints({1, -1}))};
        model.node("Conv", {"image", "w"}, "convolved");
        model.node("Transpose", {"convolved"}, "turned", wire::intsAttribute("perm", {0, 2, 3, 1}));
        model.node("Reshape", {"convolved", "shape"}, "flat");
        model.node("Relu", {"flat"}, "last");
        must(model.compile());
        QCOMPARE(model.names(), (std::vector<std::string>{"convolved", "turned", "flat", "last"}));
        const auto& outputs = model.library().outputs();
        QCOMPARE(outputs[1].type.shape, (std::vector<std::int64_t>{1, 6, 6, 3}));
        QCOMPARE(outputs[2].type.shape, (std::vector<std::int64_t>{1, 108}));
        for (const std::string& name : model.names())
            QVERIFY2(model.compiled(name).bytes == model.evaluated(name).bytes, name.c_str());
    }

    void whatDoesNothingIsANetworkToo()
    {
        CompiledModel model;
        model.input("x", wire::Float, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
        model.node("Identity", {"x"}, "same");
        model.node("Dropout", {"x"}, "dropped");
        must(model.compile());
        QCOMPARE(model.names(), (std::vector<std::string>{"same", "dropped"}));
        QCOMPARE(model.library().inputs().at(0).name, std::string("x"));
        for (const char* name : {"same", "dropped"})
            QCOMPARE(valuesOf<float>(model.compiled(name)), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    }

    void oneValueMayBeSeveralOutputs()
    {
        CompiledModel model;
        model.input("x", wire::Float, {3}, std::vector<float>{-1, 0, 2});
        model.node("Relu", {"x"}, "first");
        model.node("Identity", {"first"}, "second");
        model.node("Abs", {"first"}, "third");
        must(model.compile());
        QCOMPARE(model.names(), (std::vector<std::string>{"first", "second", "third"}));
        for (const char* name : {"first", "second", "third"})
            QCOMPARE(valuesOf<float>(model.compiled(name)), (std::vector<float>{0, 0, 2}));
    }
};

LATHE_TEST_GUILESS(TestModelNames)

} // namespace tst_model_names

#include "tst_model_names.moc"
