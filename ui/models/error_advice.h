#pragma once

#include <QString>

namespace lathe::ui {

/// The one table Errc -> title and advice, for the Issues dock and message boxes.
struct ErrorAdvice
{
    QString title;
    QString advice;
};

/// `code` as toString(Errc) spells it.
ErrorAdvice errorAdvice(const QString& code);

} // namespace lathe::ui
