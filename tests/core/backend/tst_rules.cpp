#include "core/backend/rules.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>

using namespace lathe;
using namespace lathe::backend;

/// Rules of back ends: added by hand, and refused as plugins. (tests/examples/back_end has one that is taken.)
class TestRules : public QObject
{
    Q_OBJECT

private slots:
    void pluginsThatAreNoneAreRefusedWithTheReason_data()
    {
        QTest::addColumn<QString>("plugin");
        QTest::addColumn<QString>("reason");
        QTest::newRow("of another build") << "stranger_rules.so"
                                          << "belongs to build another build";
        QTest::newRow("of another kind") << "misnamed_rules.so"
                                         << "elsewhere";
        QTest::newRow("without an entry") << "hollow_rules.so"
                                          << "lathe_backend_rules";
    }
    void pluginsThatAreNoneAreRefusedWithTheReason()
    {
        QFETCH(QString, plugin);
        QFETCH(QString, reason);
        const std::vector<RefusedRules> refused = loadRules(LATHE_REFUSED_PLUGINS);
        QCOMPARE(refused.size(), std::size_t{3});
        const auto found = std::find_if(refused.begin(), refused.end(),
                                        [&plugin](const RefusedRules& r) { return r.plugin == plugin.toStdString(); });
        QVERIFY(found != refused.end());
        QVERIFY(found->error.code == Errc::Incompatible);
        QVERIFY2(found->error.message.find(reason.toStdString()) != std::string::npos, found->error.message.c_str());
        QVERIFY(!Target::parse("elsewhere"));
    }

    void aFileThatDoesNotLoadIsOneOfThem()
    {
        QTemporaryDir folder;
        std::ofstream(folder.filePath("paper_rules.so").toStdString()) << "no library";
        std::ofstream(folder.filePath("paper_codegen.so").toStdString()) << "not looked at";
        const std::vector<RefusedRules> refused = loadRules(folder.path().toStdString());
        QCOMPARE(refused.size(), std::size_t{1});
        QCOMPARE(refused.front().plugin, std::string("paper_rules.so"));
        QVERIFY(loadRules(folder.filePath("nowhere").toStdString()).empty());
    }

    void rulesAddTheirKindAndReplaceWhatIsKnown()
    {
        QVERIFY(!rulesOf(*Target::parse("vta")));
        BackendRules rules;
        rules.kind = *findTargetKind("vta");
        rules.kind.offered = {{"vta", "a board"}};
        rules.policies = {"random"};
        addRules(rules);
        QCOMPARE(findTargetKind("vta")->offered.size(), std::size_t{1});
        QCOMPARE(rulesOf(*Target::parse("vta -threads=2"))->policies.front(), std::string("random"));
        rules.policies.clear();
        addRules(rules);
        QVERIFY(rulesOf(*Target::parse("vta"))->policies.empty());
        QVERIFY(!rulesOf(*Target::parse("cpu")));
    }
};

LATHE_TEST(TestRules)
#include "tst_rules.moc"
