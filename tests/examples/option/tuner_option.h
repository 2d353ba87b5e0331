#pragma once

#include "core/session/options/option_table.h"

namespace lathe::examples {

/// `--tuner xgb|ga|random|grid` of `tune`. The field that it would have in options.h is another one here, which is then
/// the tuner's number.
session::Option<session::TuneOptions> tunerOption();

} // namespace lathe::examples
