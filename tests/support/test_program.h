#pragma once

#include <QObject>

namespace lathe::testing {

/// What a test class runs in: nothing of Qt's, its event loop, or its windows (a program that links Qt Widgets).
enum class Application
{
    None,
    Core,
    Gui
};

/// A test class of this program. They are many in one program, since each program costs its build a link and a reading
/// of Qt's headers; each is run in a process of its own all the same: PROGRAM CLASS-FILE [QtTest's arguments], as in
/// `session_tests tst_finals -v2`. The registry is filled before main().
class TestClass
{
public:
    using Make = QObject* (*)();
    /// Called with the words behind the name before the test is made; an answer other than nothing ends the program
    /// with it.
    using Instead = bool (*)(int argc, char** argv, int& status);

    /// `file`: of the test class; its stem is the name.
    TestClass(const char* file, Application application, Make make, Instead instead = nullptr);
};

} // namespace lathe::testing

#define LATHE_TEST_IN(Class, application, ...)                                                                         \
    static const lathe::testing::TestClass registeredTestClass(__FILE__, lathe::testing::Application::application,     \
                                                               []() -> QObject* { return new Class; } __VA_OPT__(, )   \
                                                                        __VA_ARGS__);

#define LATHE_TEST(Class) LATHE_TEST_IN(Class, None)
#define LATHE_TEST_GUILESS(Class) LATHE_TEST_IN(Class, Core)
#define LATHE_TEST_GUI(Class) LATHE_TEST_IN(Class, Gui)
