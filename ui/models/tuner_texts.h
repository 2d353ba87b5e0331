#pragma once

#include <QString>

#include <string>

namespace lathe::ui {

/// A phrase of core about policies, tuners or their parameters, in the language of the window.
QString tunerText(const std::string& english);

} // namespace lathe::ui
