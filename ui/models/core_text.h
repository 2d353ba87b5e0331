#pragma once

#include "core/session/views.h"

#include <QString>

namespace lathe::ui {

// What core says, in the window's language: by its id and arguments where it has them, else as it is, in English. The
// patterns are under the context Core of resources/translations, core's English ones their sources.

QString coreText(const Message& message);
QString coreText(const std::string& english, const About& about);
QString errorText(const Error& error);

/// Its first line.
QString coreLine(const std::string& english, const About& about);

} // namespace lathe::ui
