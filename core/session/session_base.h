#pragma once

#include "core/session/loaded_model.h"
#include "core/session/run_control.h"
#include "core/session/session.h"

#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace lathe::session {

/// What a live session and a replay have in common: a model, and a run on a thread of its own with what steers it. The
/// thread works on members of those that derive: their destructors call stop() and wait().
class SessionBase : public TuningSession
{
public:
    const OpenOptions& options() const final { return m_options; }
    std::shared_ptr<const GraphView> graph() const final { return m_graph; }
    std::shared_ptr<Weights> weights() const final { return m_weights; }
    const std::vector<frontend::OpenDimension>& inputSizes() const final { return m_model->dimensions; }
    std::vector<UntunedView> untuned() const final { return viewUntuned(*m_model); }
    std::vector<TemplateView> templates() const final { return viewTemplates(*m_model); }

    void setObserver(SessionObserver* observer) override { m_control.setObserver(observer); }
    void pause() final { m_control.requestPause(true); }
    void resumeRun() final { m_control.requestPause(false); }
    void stop() final
    {
        m_control.noteStop();
        std::stop_source run;
        {
            const std::scoped_lock lock(m_stopMutex);
            run = m_stop;
        }
        run.request_stop();
        m_control.requestPause(false);
    }
    void wait() final
    {
        if (m_thread.joinable())
            m_thread.join();
    }
    RunState state() const final { return m_control.state(); }

protected:
    SessionBase(OpenOptions options, std::shared_ptr<const LoadedModel> model)
        : m_options(std::move(options))
        , m_model(std::move(model))
        , m_graph(viewGraph(*m_model))
        , m_weights(std::make_shared<Weights>(m_model))
    {
    }

    /// On the run's thread, after wait().
    void begin(std::function<void(std::stop_token)> run)
    {
        std::stop_source stop;
        {
            const std::scoped_lock lock(m_stopMutex);
            m_stop = stop;
        }
        m_thread = std::thread(std::move(run), stop.get_token());
    }

    const OpenOptions m_options;
    const std::shared_ptr<const LoadedModel> m_model;
    const std::shared_ptr<const GraphView> m_graph;
    const std::shared_ptr<Weights> m_weights;
    RunControl m_control;

private:
    std::thread m_thread;
    std::mutex m_stopMutex; ///< events come, and may be answered by stop(), before begin() is back
    std::stop_source m_stop; ///< of the latest run
};

} // namespace lathe::session
