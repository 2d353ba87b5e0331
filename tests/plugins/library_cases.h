#pragma once

#include "tests/plugins/library_calls.h"

#include <QString>
#include <QtTest>

#include <string>
#include <string_view>
#include <vector>

namespace lathe::test {

/// Of each buffer of doubledLaunch().
inline constexpr std::size_t kFloats = 64, kFloatBytes = kFloats * sizeof(float);

/// Of the two launches of "y = 2 x + 1" that each back end has in its language: k_0 doubles, k_1 adds one.
inline runtime::LaunchRequest doubledLaunch(const char* symbol)
{
    const bool isFirst = std::string_view(symbol) != "k_1";
    runtime::LaunchRequest request;
    request.symbol = symbol;
    request.grid[0] = isFirst ? 4 : 8;
    request.block[0] = isFirst ? 16 : 8;
    return request;
}

/// Both, ready, which leave 2 x + 1 in y.
template<const runtime::DeviceDriver& D>
struct Doubled
{
    Owned<runtime::DeviceMemory, D> x, y, scratch;
    Owned<runtime::DeviceLaunch, D> first, second;
};

template<const runtime::DeviceDriver& D>
Doubled<D> doubled(const ContextOf<D>& context, const QueueOf<D>& queue)
{
    Doubled<D> d;
    for (auto* const memory : {&d.x, &d.y, &d.scratch})
        *memory = must(allocate(context, kFloatBytes));
    d.first = must(prepare(queue, doubledLaunch("k_0"), {d.x.get(), d.scratch.get()}));
    d.second = must(prepare(queue, doubledLaunch("k_1"), {d.scratch.get(), d.y.get()}));
    return d;
}

/// Empty if they compute what they should of begin, begin + 1 ...
template<const runtime::DeviceDriver& D>
QString run(const QueueOf<D>& queue, const Doubled<D>& d, float begin = 3)
{
    std::vector<float> in(kFloats), out(kFloats);
    for (std::size_t i = 0; i < kFloats; ++i)
        in[i] = begin + static_cast<float>(i);
    for (const std::string& problem :
         {problemOf(D.write, queue.get(), d.x.get(), static_cast<const void*>(in.data()), kFloatBytes, false),
          problemOf(D.launch, queue.get(), d.first.get()), problemOf(D.launch, queue.get(), d.second.get()),
          problemOf(D.read, queue.get(), static_cast<void*>(out.data()), d.y.get(), kFloatBytes, true)})
        if (!problem.empty())
            return QString::fromStdString(problem);
    for (std::size_t i = 0; i < kFloats; ++i)
        if (out[i] != 2 * in[i] + 1)
            return QStringLiteral("y[%1] is %2").arg(i).arg(out[i]);
    return {};
}

/// What is true of the driver of exported libraries on a device of any kind.
template<const runtime::DeviceDriver& D>
class LibraryCases
{
public:
    /// @param target   of the code, as the library's image has it
    /// @param backEnd  in the words of refusals: "CUDA"
    /// @param code     of "y = 2 x + 1" as k_0 and k_1
    LibraryCases(const char* target, const char* backEnd, std::vector<std::byte> code)
        : m_target(target)
        , m_backEnd(backEnd)
        , m_code(std::move(code))
    {
    }

    auto open(runtime::ContextRequest request = {}) const
    {
        request.target = m_target;
        return openCode<D>(m_code, request);
    }

    void launchesComputeWhatTheyShould() const
    {
        const auto context = must(open());
        const auto queue = must(start(context));
        const auto d = doubled(context, queue);
        QCOMPARE(run(queue, d), QString());
        QCOMPARE(run(queue, d, -20), QString());
        const auto copied = must(allocate(context, kFloatBytes));
        QCOMPARE(problemOf(D.copy, queue.get(), d.y.get(), copied.get(), kFloatBytes), std::string());
        float last = 0;
        QCOMPARE(problemOf(D.finish, queue.get()), std::string());
        QCOMPARE(problemOf(D.read, queue.get(), static_cast<void*>(&last), copied.get(), sizeof last, true),
                 std::string());
        QCOMPARE(last, -39.0F);
    }

    void memoryOfNoBytesIsNull() const
    {
        const auto context = must(open());
        const auto queue = must(start(context));
        QVERIFY(must(allocate(context, 0)) == nullptr);
        runtime::DeviceMemory* const none = nullptr;
        float value = 1;
        QCOMPARE(problemOf(D.write, queue.get(), none, static_cast<const void*>(&value), std::size_t{0}, true),
                 std::string());
        QCOMPARE(problemOf(D.copy, queue.get(), none, none, std::size_t{0}), std::string());
        QVERIFY(!problemOf(D.read, queue.get(), static_cast<void*>(&value), none, std::size_t{4}, true).empty());
        // A kernel may be told to do nothing with it.
        const auto launch = must(prepare(queue, doubledLaunch("k_0"), {none, none}));
        QVERIFY(launch != nullptr);
    }

    void memoryBeginsWithWhatItIsGiven() const
    {
        const auto context = must(open());
        const auto queue = must(start(context));
        const auto two = must(allocate(context, 2, "ab")); // fewer bytes than some driver's buffer has
        char read[2] = {};
        QCOMPARE(problemOf(D.read, queue.get(), static_cast<void*>(read), two.get(), std::size_t{2}, true),
                 std::string());
        QVERIFY(read[0] == 'a' && read[1] == 'b');
    }

    void launchesHoldTheMemoryOfTheirBuffers() const
    {
        const auto context = must(open());
        const auto queue = must(start(context));
        auto d = doubled(context, queue);
        QCOMPARE(run(queue, d), QString());
        d.scratch.reset();
        std::vector<Owned<runtime::DeviceMemory, D>> others; // where the scratch would be, if it were gone
        for (int i = 0; i < 16; ++i)
            others.push_back(must(allocate(context, kFloatBytes)));
        QCOMPARE(run(queue, d, 9), QString());
        // Pointed elsewhere, they hold that instead.
        auto other = must(allocate(context, kFloatBytes));
        QCOMPARE(problemOf(D.point, d.first.get(), 1u, other.get()), std::string());
        QCOMPARE(problemOf(D.point, d.second.get(), 0u, other.get()), std::string());
        other.reset();
        QCOMPARE(run(queue, d, 11), QString());
    }

    void aCopyBeyondItsMemoryIsRefused() const
    {
        const auto context = must(open());
        const auto queue = must(start(context));
        const auto small = must(allocate(context, 16)), large = must(allocate(context, 32));
        char bytes[32] = {};
        for (const std::string& says :
             {problemOf(D.copy, queue.get(), large.get(), small.get(), std::size_t{17}),
              problemOf(D.copy, queue.get(), small.get(), large.get(), std::size_t{17}),
              problemOf(D.write, queue.get(), small.get(), static_cast<const void*>(bytes), std::size_t{17}, true),
              problemOf(D.read, queue.get(), static_cast<void*>(bytes), small.get(), std::size_t{17}, true)})
            QCOMPARE(QString::fromStdString(says),
                     QStringLiteral("a copy of 17 bytes reaches outside of %1 memory of 16").arg(m_backEnd));
    }

    void refuses(const runtime::LaunchRequest& request, std::size_t buffers, runtime::Status status,
                 const QString& says) const
    {
        const auto context = must(open());
        const auto queue = must(start(context));
        std::vector<Owned<runtime::DeviceMemory, D>> memory;
        std::vector<runtime::DeviceMemory*> given;
        for (std::size_t b = 0; b < buffers; ++b) {
            memory.push_back(must(allocate(context, kFloatBytes)));
            given.push_back(memory.back().get());
        }
        const auto refused = prepare(queue, request, given);
        QVERIFY2(QString::fromStdString(refused.says).contains(says), refused.says.c_str());
        QCOMPARE(static_cast<int>(refused.status), static_cast<int>(status));
        QCOMPARE(run(queue, doubled(context, queue)), QString());
    }

    /// @param variable  by which the person who runs the program names a device
    /// @param first     key of the first device; `unknown`: of none
    void devicesAreNamedByKeyOrByThePersonWhoRunsTheProgram(const char* variable, const char* first,
                                                            const char* unknown) const
    {
        const QString name = D.name(must(open({.key = first})).get());
        const auto none = open({.key = unknown});
        QVERIFY(none.status == runtime::Status::InvalidArgument);
        QVERIFY2(none.says.find(unknown) != std::string::npos && none.says.find(first) != std::string::npos,
                 none.says.c_str());
        for (const QString& wanted : {QString(first), name.mid(2, 6).toUpper()}) {
            qputenv(variable, wanted.toUtf8());
            QCOMPARE(QString(D.name(must(open()).get())), name);
        }
        qputenv(variable, "no such thing");
        const auto refused = open();
        runtime::ErrorText missing;
        const bool isHere = D.isHere(m_target, missing);
        const auto keyed = open({.key = first}); // the program asked for it
        qunsetenv(variable);
        QVERIFY(refused.status == runtime::Status::InvalidArgument && !isHere);
        QVERIFY2(refused.says.find(std::string(variable) + " is \"no such thing\"") != std::string::npos,
                 refused.says.c_str());
        QVERIFY(keyed.status == runtime::Status::Ok);
    }

private:
    const char* m_target;
    const char* m_backEnd;
    std::vector<std::byte> m_code;
};

} // namespace lathe::test
