#pragma once

#include "ui/models/language.h"
#include "ui/shell/main_window.h"

#include <QApplication>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include <memory>

/// What the programs share that drive the window, or a page of it, from outside.
namespace lathe::test {

/// The object of this name below `in`: a test whose widget is gone has nothing to go on with, and ends.
template<typename T>
T* find(const QObject* in, const char* name)
{
    T* found = in->findChild<T*>(QLatin1String(name));
    if (found == nullptr)
        qFatal("no widget named %s", name);
    return found;
}

/// Keeps settings, data, caches and files of whoever runs the test out of it: `folder` becomes the home. English.
inline void settleIn(const QString& folder)
{
    QStandardPaths::setTestModeEnabled(true);
    for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
        qputenv(name, folder.toLocal8Bit());
    QApplication::setOrganizationName(QStringLiteral("LatheTest"));
    QApplication::setApplicationName(QStringLiteral("LatheTest"));
    ui::Language::instance().set(QStringLiteral("en"));
}

inline std::unique_ptr<ui::MainWindow> shownWindow(QSize size = {})
{
    auto window = std::make_unique<ui::MainWindow>();
    if (size.isValid())
        window->resize(size);
    window->show();
    if (!QTest::qWaitForWindowExposed(window.get()))
        qFatal("the window did not come up");
    return window;
}

/// What tests of a whole window have: a folder of their own, and the window once they have opened it.
class WindowTest
{
protected:
    template<typename T>
    T* find(const char* name) const
    {
        return test::find<T>(m_window.get(), name);
    }

    QTemporaryDir m_dir;
    std::unique_ptr<ui::MainWindow> m_window;
};

} // namespace lathe::test
