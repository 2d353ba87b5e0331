#pragma once

#include "core/session/options/option_table.h"

namespace lathe::examples {

/// `--proposer xgb|ga|random|grid` of `tune`. The field that it would have in options.h is another one here, which is then
/// the proposer's number.
session::Option<session::TuneOptions> proposerOption();

} // namespace lathe::examples
