#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace lathe::test {

/// Those that were started by any thread of `pid`, zombies included.
inline std::vector<pid_t> childrenOf(pid_t pid)
{
    std::vector<pid_t> all;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream file(thread.path() / "children"); // no file: the thread is gone
        for (pid_t child; file >> child;)
            all.push_back(child);
    }
    return all;
}

inline bool isAlive(pid_t pid)
{
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    return std::getline(stat, text) && text[text.rfind(')') + 2] != 'Z';
}

/// Every thread of it: one that runs on another processor goes on for a moment after SIGSTOP was sent.
inline bool isStopped(pid_t pid)
{
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream stat(thread.path() / "stat");
        std::string text;
        if (std::getline(stat, text) && text[text.rfind(')') + 2] != 'T')
            return false;
    }
    return true;
}

} // namespace lathe::test
