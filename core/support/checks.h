#pragma once

namespace lathe {

/// Whether programs check their own work where that costs time: that what a rewrite made of a compute DAG is sound,
/// that lowered nests are well-formed when the generator gets them, that the code it emits is.
///
/// One build serves people and tests, so this is a switch at run time: on where the environment has LATHE_CHECKS=1, as
/// it has in all test programs, whose workers inherit it; off else. Read once, at the first call. Threads: any.
bool checksAreOn();

} // namespace lathe
