#pragma once

#include <QString>

namespace lathe::ui {

/// The one table Errc -> title and advice, for the Issues dock and message boxes.
struct ErrorAdvice
{
    QString title;
    QString advice;
    QString topic; ///< of the manual, that says more
};

/// Stands for a code where something is told that is no error.
inline constexpr const char* kNotice = "Notice";

/// `code` as toString(Errc) spells it.
ErrorAdvice errorAdvice(const QString& code);

} // namespace lathe::ui
