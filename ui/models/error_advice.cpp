#include "ui/models/error_advice.h"

#include <QCoreApplication>

namespace lathe::ui {

ErrorAdvice errorAdvice(const QString& code)
{
    const auto translated = [](const char* text) { return QCoreApplication::translate("ErrorAdvice", text); };
    struct Row
    {
        const char* code;
        const char* title;
        const char* advice;
        const char* topic = "errors";
    };
    static constexpr Row kRows[] = {
        {"InvalidArgument", QT_TRANSLATE_NOOP("ErrorAdvice", "Wrong input"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "Correct the setting named in the message.")},
        {"NotFound", QT_TRANSLATE_NOOP("ErrorAdvice", "Not found"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "Check the name or the path.")},
        {"Unsupported", QT_TRANSLATE_NOOP("ErrorAdvice", "Not supported"),
         QT_TRANSLATE_NOOP("ErrorAdvice",
                           "Export the model without the features named in the message, or choose another target.")},
        {"BadFile", QT_TRANSLATE_NOOP("ErrorAdvice", "Unreadable file"),
         QT_TRANSLATE_NOOP("ErrorAdvice",
                           "The file is truncated, damaged or of another kind: download, copy or export it again.")},
        {"IllegalSchedule", QT_TRANSLATE_NOOP("ErrorAdvice", "Illegal schedule"),
         QT_TRANSLATE_NOOP("ErrorAdvice",
                           "The candidate was rejected before it was built; the search continues without it.")},
        {"BuildFailed", QT_TRANSLATE_NOOP("ErrorAdvice", "Build failed"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "See the compiler's message; only this candidate is lost.")},
        {"BuildTimeout", QT_TRANSLATE_NOOP("ErrorAdvice", "Build took too long"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "The code generator was stopped; only this candidate is lost.")},
        {"RunTimeout", QT_TRANSLATE_NOOP("ErrorAdvice", "Run took too long"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "Give runs more time (--timeout), or skip the slow candidate.")},
        {"WrongAnswer", QT_TRANSLATE_NOOP("ErrorAdvice", "Wrong result"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "The program computed a wrong result and is not used; please report it.")},
        {"DeviceLost", QT_TRANSLATE_NOOP("ErrorAdvice", "Device lost"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "Check the device and its connection."), "devices"},
        {"WorkerCrashed", QT_TRANSLATE_NOOP("ErrorAdvice", "Crashed"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "The program crashed in its worker process; only this candidate is lost.")},
        {"Cancelled", QT_TRANSLATE_NOOP("ErrorAdvice", "Cancelled"), ""},
        {"StoreFailed", QT_TRANSLATE_NOOP("ErrorAdvice", "Project not written"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "Free disk space or choose another folder; what is stored already is safe.")},
        {kNotice, QT_TRANSLATE_NOOP("ErrorAdvice", "Note"), "", "issues"},
        {"Incompatible", QT_TRANSLATE_NOOP("ErrorAdvice", "Does not fit"),
         QT_TRANSLATE_NOOP("ErrorAdvice", "Tune the tasks named in the message, or allow default schedules."),
         "export"},
    };
    for (const Row& row : kRows)
        if (code == QLatin1String(row.code))
            return {translated(row.title), *row.advice == '\0' ? QString() : translated(row.advice),
                    QLatin1String(row.topic)};
    return {translated(QT_TRANSLATE_NOOP("ErrorAdvice", "Internal error")),
            translated(QT_TRANSLATE_NOOP("ErrorAdvice", "Please report it together with the message.")),
            QStringLiteral("errors")};
}

} // namespace lathe::ui
