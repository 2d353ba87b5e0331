#pragma once

#include "tests/core/templates/template_cases.h"

#include <QString>

#include <set>
#include <string>

namespace lathe::test {

/// What is wrong with configurations of all templates of the task, `most` of each, drawn at random; empty: nothing.
/// Each is lowered and run by the interpreter of its form, and compared with the DAG's. Of launches those count that
/// the task's hardware can run; those that a limit refuses must be refused by the space as far as its rules reach, and
/// no rule may refuse one that can be run.
/// `names`: of the templates, if they are asked for.
QString wrongOf(const search::SearchTask& task, std::size_t most, std::set<std::string>* names = nullptr);

} // namespace lathe::test
