#pragma once

#include "core/session/views.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace lathe::ui {

/// One thing that a model needs and Lathe lacks.
struct ImportProblem
{
    QString what;
    QStringList nodes; ///< by name, as many as the error names
    int count = 1; ///< of nodes, those that are not named included
};

/// One problem for each unsupported thing that the importer's error names. Empty if the error is about something else.
std::vector<ImportProblem> importProblems(const About& about);

/// What a file is to Lathe, by its name.
enum class SourceKind
{
    Model, ///< an ONNX file or zoo:NAME; also anything whose name does not tell
    Project,
    Log, ///< a tuning log of another tuner
    Library ///< one that was exported
};
SourceKind sourceKind(const QString& source);

} // namespace lathe::ui
