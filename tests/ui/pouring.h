#pragma once

#include "ui/bridge/trial_jobs.h"
#include "ui/models/workspace.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QObject>
#include <QTimer>

namespace lathe::test {

/// Trials change in every turn of the event loop until `done` says so, for a minute at most: a view that begins
/// to read anew each time never ends. Returns what `done` says.
template<typename Done>
bool whileTrialsPour(const ui::Workspace& workspace, Done done)
{
    QEventLoop loop;
    QElapsedTimer clock;
    clock.start();
    QTimer pour;
    QObject::connect(&pour, &QTimer::timeout, &loop, [&] {
        emit workspace.trialJobs().ended({});
        if (done() || clock.hasExpired(60000))
            loop.quit();
    });
    pour.start(0);
    loop.exec();
    return done();
}

} // namespace lathe::test
