#include "core/support/option_words.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_option_words {

using namespace lathe;

class TestOptionWords : public QObject
{
    Q_OBJECT

private slots:
    void wordsContradictWhereAKeyHasTwoValues()
    {
        QVERIFY(contradict("-gpu=a100", "expected -gpu=h100"));
        QVERIFY(contradict("-gpu=a100", "-threads=2  -gpu=a1000"));
        QVERIFY(contradict("-threads=2 -gpu=a100", "-gpu=h100"));
        QVERIFY(!contradict("-gpu=a100", "expected -gpu=a100"));
        QVERIFY(!contradict("-gpu=a100", "expected"));
        QVERIFY(!contradict("-gpu=a100", "-gpus=h100"));
        QVERIFY(!contradict("", "-gpu=h100"));
        QVERIFY(!contradict("gpu=a100", "gpu=h100")); // no words of a target
    }
};

LATHE_TEST(TestOptionWords)

} // namespace tst_option_words
#include "tst_option_words.moc"
