#pragma once

namespace lathe::opencl {

/// A folder of this process alone below the user's cache folder, for what a driver writes while it works: removed when
/// the process ends, and where it was killed, by the next process that makes one. Empty: none can be made.
/// Threads: any.
const char* privateFolder();

/// Whether the path is such a folder, of any process.
bool isPrivateFolder(const char* path);

} // namespace lathe::opencl
