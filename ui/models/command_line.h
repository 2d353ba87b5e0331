#pragma once

#include "core/session/session.h"

#include <QString>
#include <QStringList>

namespace lathe::ui {

// What does the same as an action of the window, in a terminal. Options at their defaults are left out.

QString tasksCommand(const session::OpenOptions& open);
QString tuneCommand(const session::OpenOptions& open, const session::TuneOptions& tune);
QString replayCommand(const session::OpenOptions& open);
QString compileCommand(const session::OpenOptions& open, const session::CompileOptions& compile);
QString coverageCommand(const session::OpenOptions& open, const session::CompileOptions& compile);
QString recordsCommand(const QString& project);
QString compareCommand(const QStringList& what); ///< each as session::toString(Baseline) writes it
QString reportCommand(const QString& project, const QString& html);
/// The filtered and ordered list. `task`: name of query.task; `format`: csv or jsonl.
QString exportTrialsCommand(const session::OpenOptions& open, const session::TrialQuery& query, const QString& task,
                            const QString& format, const QString& file);
QString importCommand(const session::OpenOptions& open, const QStringList& logs);
QString remeasureCommand(const session::OpenOptions& open, const QStringList& trials);
QString retryCommand(const session::OpenOptions& open, const session::TrialQuery& query, const QString& task);
/// In quotes where a shell would not take it as it is.
QString shellWord(const QString& word);

} // namespace lathe::ui
