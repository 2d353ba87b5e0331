#pragma once

#include <QCoreApplication>
#include <QProcess>
#include <QStringList>

namespace lathe::test {

/// What lathe-cli printed and how it ended.
struct CliOutput
{
    int code;
    QByteArray out, err;
};

/// Runs the lathe-cli of this build in a folder, for at most so many seconds: one that takes longer ends the test
/// program.
inline CliOutput runCli(const QString& folder, const QStringList& words, int seconds = 120)
{
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(QCoreApplication::applicationDirPath() + "/../bin/lathe-cli", words);
    if (!process.waitForFinished(seconds * 1000))
        qFatal("lathe-cli did not end");
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

} // namespace lathe::test
