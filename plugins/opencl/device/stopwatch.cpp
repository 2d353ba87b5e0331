#include "plugins/opencl/device/stopwatch.h"

#include "core/runtime/clock.h"

namespace lathe::opencl {

cl_event* Stopwatch::next(bool isFirst, bool isLast)
{
    if (!m_hasEvents) {
        if (isFirst) {
            m_driver.finish(m_queue);
            m_began = runtime::nowNanoseconds();
        }
        return nullptr;
    }
    if (isFirst)
        return &m_spans.emplace_back().first;
    return isLast ? &m_spans.back().last : nullptr;
}

cl_int Stopwatch::close()
{
    if (m_hasEvents)
        return CL_SUCCESS;
    const cl_int error = m_driver.finish(m_queue);
    m_total += runtime::nowNanoseconds() - m_began;
    return error;
}

cl_int Stopwatch::add(const Span& span)
{
    cl_event last = span.last != nullptr ? span.last : span.first;
    for (cl_event event : {span.first, last}) {
        cl_int status = CL_COMPLETE;
        m_driver.getEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        if (status < 0)
            return status;
    }
    cl_ulong began = 0, ended = 0;
    cl_int error = m_driver.getEventProfilingInfo(span.first, CL_PROFILING_COMMAND_START, sizeof began, &began,
                                                  nullptr);
    if (error == CL_SUCCESS)
        error = m_driver.getEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr);
    if (error == CL_SUCCESS && ended > began)
        m_total += ended - began;
    return error;
}

cl_int Stopwatch::finish()
{
    cl_int error = m_driver.finish(m_queue);
    for (const Span& span : m_spans)
        if (error == CL_SUCCESS)
            error = add(span);
    drop();
    return error;
}

void Stopwatch::drop()
{
    for (const Span& span : m_spans)
        for (cl_event event : {span.first, span.last})
            if (event != nullptr)
                m_driver.releaseEvent(event);
    m_spans.clear();
}

} // namespace lathe::opencl
