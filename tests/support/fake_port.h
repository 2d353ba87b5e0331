#pragma once

#include "core/wire/channel.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"
#include "core/wire/port.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::test {

/// What a worker sends and what was sent to it, as the test says.
class FakeChannel : public wire::Channel
{
public:
    void queue(const wire::Message& message) override { sent.push_back(message); }
    bool hasOutput() const override { return isUploading; }
    Result<> pump() override { return ended && inbox.empty() ? Result<>(*ended) : Result<>(); }
    Result<std::optional<wire::Message>> next() override
    {
        if (inbox.empty())
            return ended ? Result<std::optional<wire::Message>>(*ended) : std::optional<wire::Message>();
        std::optional<wire::Message> message = std::move(inbox.front());
        inbox.pop_front();
        return message;
    }
    void watch(std::vector<pollfd>&) const override {}

    std::vector<wire::Message> sent; ///< blobs too
    std::deque<wire::Message> inbox;
    std::optional<Error> ended;
    bool isUploading = false; ///< what was sent has not all left
};

/// A worker that says hello and opens its device at once, and does nothing that the test does not say.
class FakePort : public wire::Port
{
public:
    /// What the test sees of it, whoever owns the port.
    struct Seen
    {
        FakeChannel* channel = nullptr;
        int opened = 0, closed = 0;
        bool suspended = false;
        bool silent = false; ///< says no hello from the next start on
        std::optional<Error> refused; ///< by open()
        bool killedFromOutside = false; ///< how the next end looks
        std::string words; ///< last ones
        std::string name = "lathe-fake";
        std::string device = R"({"kind": "fake", "key": "0", "name": "a board"})"; ///< empty: none is opened

        /// The jobs among what was sent since it was asked last.
        std::vector<wire::Message> takeJobs()
        {
            std::vector<wire::Message> jobs;
            for (const wire::Message& message : std::exchange(channel->sent, {}))
                if (message.has_build_job() || message.has_run_job())
                    jobs.push_back(message);
            return jobs;
        }
        void answer(wire::Message message) { channel->inbox.push_back(std::move(message)); }
    };

    explicit FakePort(std::shared_ptr<Seen> seen)
        : m_seen(std::move(seen))
    {
    }

    Result<> open() override
    {
        if (m_seen->refused)
            return *m_seen->refused;
        ++m_seen->opened;
        m_gone = false;
        m_channel.emplace();
        m_seen->channel = &*m_channel;
        if (m_seen->silent)
            return {};
        m_channel->inbox.push_back(wire::helloOf({"lathe-fake", "build"}));
        if (!m_seen->device.empty()) {
            wire::Message device;
            device.mutable_device_opened()->set_json(m_seen->device);
            m_channel->inbox.push_back(device);
        }
        return {};
    }
    wire::Channel* channel() override { return m_channel ? &*m_channel : nullptr; }
    Result<> pump() override { return m_channel->pump(); }
    void watch(std::vector<pollfd>&) const override {}
    wire::PortEnd close(const Error& why) override
    {
        ++m_seen->closed;
        m_gone = true;
        return {messageOf(why), std::exchange(m_seen->killedFromOutside, false), std::exchange(m_seen->words, {})};
    }
    bool gone() override { return m_gone; }
    void suspend(bool suspended) override { m_seen->suspended = suspended; }
    std::string name() const override { return m_seen->name; }

private:
    std::shared_ptr<Seen> m_seen;
    std::optional<FakeChannel> m_channel;
    bool m_gone = true;
};

} // namespace lathe::test
