#include "ui/models/history_reader.h"

namespace lathe::ui {

HistoryReader::HistoryReader(QObject* parent) : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
    m_pool.setExpiryTimeout(5000);
}

HistoryReader::~HistoryReader()
{
    m_all.request_stop();
    m_pool.waitForDone(); // answers are posted to this object: none may be on its way
}

void HistoryReader::setHistory(std::unique_ptr<session::History> history)
{
    m_all.request_stop();
    m_all = {};
    m_history = std::move(history);
}

void HistoryReader::post(std::function<void()> work)
{
    m_pool.start(std::move(work));
}

} // namespace lathe::ui
