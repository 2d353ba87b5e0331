#pragma once

#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <fstream>

namespace lathe::serve {

/// Who had a device, and which programs ran on it: a line of JSON for each lease that began or ended and each artifact
/// or library that ran in it, at the end of a file, written before it runs. Uploaded programs are native code: a
/// board's owner can tell afterwards whose it was.
class AuditLog
{
public:
    AuditLog() = default; ///< of no file
    /// Errors: those of opening the file.
    static Result<AuditLog> open(const std::filesystem::path& file);

    /// With the time of day, as "time" (UTC). Errors: a full disk.
    Result<> write(nlohmann::json line);

private:
    std::filesystem::path m_path;
    std::ofstream m_file;
};

} // namespace lathe::serve
