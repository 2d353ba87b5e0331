#include "core/compute/dag.h"
#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/processes.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <set>

namespace tst_builder_client {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::childrenOf;
using lathe::test::must;

namespace {

constexpr auto kDeadline = std::chrono::minutes(1);

KernelJob job()
{
    compute::DagBuilder builder;
    const auto a = builder.placeholder("A", {8, 8}, DType::F32);
    const auto c = builder.reduce("C", {8}, {"i"}, "", ir::Combiner::Sum, {{"k", 8}},
                                  [&](const auto& axes, const auto& r) {
                                      return builder.at(a, {axes[0], r[0]});
                                  });
    return {"k0_0123456789abcdef", compute::toJson(*must(std::move(builder).finish({c}))).dump(), "[]", {false}};
}

Result<BuiltProduct> build(BuilderClient& client)
{
    const KernelJob one = job();
    return client.build({&one, 1}, Product::Artifact, Deadline::in(kDeadline));
}

/// Whether something was written to a pipe of the process that it has not read.
bool hasUnread(pid_t pid)
{
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
        if (!std::filesystem::read_symlink(entry.path(), gone).string().starts_with("pipe:"))
            continue;
        const int pipe = ::open(entry.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        int bytes = 0;
        const bool unread = pipe >= 0 && ::ioctl(pipe, FIONREAD, &bytes) == 0 && bytes > 0;
        if (pipe >= 0)
            ::close(pipe);
        if (unread)
            return true;
    }
    return false;
}

} // namespace

/// A lathe-builder that somebody kills.
class TestBuilderClient : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
    } // QtTest's handler would end the test where a worker dies first

    /// Drivers do, and nobody else reads it.
    void oneThatSaysMuchIsHeardOut()
    {
        QTemporaryDir folder;
        const std::string script = folder.filePath("builder").toStdString();
        const std::string program = must(findProgram("lathe-builder")).string();
        const std::string text = "#!/bin/sh\nyes | head -c 1000000 >&2\nexec " + program + "\n";
        QVERIFY(writeFileAtomically(script, std::string_view(text)));
        QVERIFY(::chmod(script.c_str(), 0700) == 0);
        WorkerPrograms programs;
        programs.builder = script;
        const auto client = must(BuilderClient::start("sim", programs));
        QVERIFY(build(*client));
    }

    void killedWhileIdleItIsStartedAnew()
    {
        const auto client = must(BuilderClient::start("sim"));
        for (int i = 0; i < 2; ++i) {
            const auto product = build(*client);
            QVERIFY2(product && product->kernels.at(0).code == Errc::Ok,
                     product ? "" : product.error().message.c_str());
            for (const pid_t child : childrenOf(::getpid()))
                ::kill(child, SIGKILL);
        }
    }

    void killedAtWorkItIsReplacedAndAskedAgain()
    {
        const auto client = must(BuilderClient::start("sim"));
        const std::vector<pid_t> first = childrenOf(::getpid());
        QCOMPARE(first.size(), std::size_t{1});
        ::kill(first[0], SIGSTOP); // so that it does not get to what it is asked
        auto built = std::async(std::launch::async, [&client] { return build(*client); });
        QTRY_VERIFY_WITH_TIMEOUT(hasUnread(first[0]), 20000);
        ::kill(first[0], SIGKILL);
        const auto product = built.get();
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        QVERIFY2(product->kernels.at(0).code == Errc::Ok, product->kernels.at(0).text.c_str());
        QVERIFY(!product->bytes.empty());
    }

    void killedAgainAndAgainItIsGivenUp()
    {
        const auto dir = must(TempDir::create());
        const std::string script = (dir.path() / "script.json").string();
        must(writeFileAtomically(script, R"({"rules": [{"fault": "build-hang", "ordinal": 0}]})"));
        const auto client = must(BuilderClient::start("sim -script=" + script));
        std::set<pid_t> killed;
        auto built = std::async(std::launch::async, [&client] { return build(*client); });
        while (built.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
            for (const pid_t child : childrenOf(::getpid()))
                if (::kill(child, SIGKILL) == 0)
                    killed.insert(child);
        const auto product = built.get();
        QVERIFY(!product);
        QVERIFY2(product.error().code == Errc::WorkerCrashed, product.error().message.c_str());
        QVERIFY2(product.error().message.find("SIGKILL") != std::string::npos, product.error().message.c_str());
        QVERIFY(killed.size() >= 2);
    }
};

LATHE_TEST(TestBuilderClient)

} // namespace tst_builder_client

#include "tst_builder_client.moc"
