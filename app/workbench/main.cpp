#include "ui/bridge/desktop.h"
#include "ui/models/language.h"
#include "ui/shell/main_window.h"
#include "ui/views/appearance.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QIcon>
#include <QScreen>

#include <csignal>

int main(int argc, char** argv)
{
    std::signal(SIGXFSZ,
                SIG_IGN); // a limit on the sizes of files is met like a full disk: the write fails, with a sentence
    QApplication app(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("Lathe"));
    QApplication::setApplicationName(QStringLiteral("Lathe"));
    QApplication::setApplicationVersion(QStringLiteral(LATHE_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("lathe"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/lathe.svg")));
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Tunes neural networks for the device they will run on."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("PROJECT|MODEL"),
                                 QStringLiteral("A project (NAME.lathe), an ONNX file, or zoo:NAME"));
    parser.process(app);

    lathe::ui::Language::instance().set(lathe::ui::Language::stored());
    lathe::ui::applyAppearance(lathe::ui::storedAppearance());
    lathe::ui::MainWindow window;
    // Where the frame would reach past a small screen, the window fills it.
    if (const QSize room = window.screen()->availableSize() - QSize(20, 60);
        !window.isMaximized() && (window.width() > room.width() || window.height() > room.height()))
        window.setWindowState(window.windowState() | Qt::WindowMaximized);
    window.show();
    window.desktop().connectToBus();
    if (!parser.positionalArguments().isEmpty())
        window.openSource(parser.positionalArguments().first());
    return QApplication::exec();
}
