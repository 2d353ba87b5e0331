#include "ui/models/history_reader.h"

namespace lathe::ui {

void HistoryReader::setHistory(std::unique_ptr<session::History> history)
{
    m_jobs.dropAll();
    m_history = std::move(history);
}

} // namespace lathe::ui
