#include "tests/support/test_program.h"

#include <QTest>
#ifdef QT_WIDGETS_LIB
#include <QApplication>
#else
#include <QCoreApplication>
#endif

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace {

struct Entry
{
    lathe::testing::Application application;
    lathe::testing::TestClass::Make make;
    lathe::testing::TestClass::Instead instead;
};

std::map<std::string, Entry>& entries()
{
    static std::map<std::string, Entry> all; // in here: filled by static objects of other files
    return all;
}

std::unique_ptr<QCoreApplication> makeApplication(lathe::testing::Application kind, int& argc, char** argv)
{
    if (kind == lathe::testing::Application::None)
        return nullptr;
#ifdef QT_WIDGETS_LIB
    if (kind == lathe::testing::Application::Gui) {
        auto application = std::make_unique<QApplication>(argc, argv);
        application->setAttribute(Qt::AA_Use96Dpi, true);
        return application;
    }
#endif
    return std::make_unique<QCoreApplication>(argc, argv);
}

} // namespace

namespace lathe::testing {

TestClass::TestClass(const char* file, Application application, Make make, Instead instead)
{
    entries().emplace(std::filesystem::path(file).stem().string(), Entry{application, make, instead});
}

} // namespace lathe::testing

int main(int argc, char** argv)
{
    ::setenv("LATHE_CHECKS", "1", 0); // here and in the workers (core/support/checks.h)
    const auto found = argc < 2 ? entries().end() : entries().find(argv[1]);
    if (found == entries().end()) {
        std::fprintf(stderr, "Name one of this program's test classes:\n");
        for (const auto& [name, entry] : entries())
            std::fprintf(stderr, "  %s\n", name.c_str());
        return 2;
    }
    int words = argc - 1;
    int status = 0;
    const Entry& entry = found->second;
    if (entry.instead && entry.instead(words, argv + 1, status))
        return status;
    // Qt finds the program's folder by the first word, tests their workers beside it.
    argv[1] = argv[0];
    const std::unique_ptr<QCoreApplication> application = makeApplication(entry.application, words, argv + 1);
    const std::unique_ptr<QObject> test(entry.make());
    return QTest::qExec(test.get(), words, argv + 1);
}
