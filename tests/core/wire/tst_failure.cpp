#include "core/support/message.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace lathe;

class TestFailure : public QObject
{
    Q_OBJECT

private slots:
    void anErrorCrossesWithWhatItIsAbout()
    {
        wire::Failure sent, received;
        wire::setFailure(
            &sent, makeError(Errc::RunTimeout, say(Msg::RunTookLong, 10, say(Msg::WhileTiming))).note("device 2"));
        QVERIFY(received.ParseFromString(sent.SerializeAsString()));
        const Error error = wire::errorOf(received);
        QVERIFY(error.code == Errc::RunTimeout);
        QCOMPARE(error.message, std::string("device 2: the run took longer than 10 s while timing the kernel"));
        QCOMPARE(error.about->number("seconds"), 10.0);
        QCOMPARE(textOf(*error.about), error.message);
    }

    void aTextAloneCrossesToo()
    {
        wire::Failure failure;
        wire::setFailure(&failure, makeError(Errc::BuildFailed, std::string("a compiler\xff said")));
        const Error error = wire::errorOf(failure);
        QCOMPARE(error.message, std::string("a compiler\xff said"));
        QVERIFY(!error.about);
    }

    void aCodeOfAnotherVersionIsInternal()
    {
        wire::Failure failure;
        failure.set_code(4000);
        QVERIFY(wire::errorOf(failure).code == Errc::Internal);
    }
};

LATHE_TEST(TestFailure)
#include "tst_failure.moc"
