#pragma once

#include "core/session/weights.h"
#include "ui/bridge/jobs.h"

#include <QCache>
#include <QObject>
#include <QStringList>

#include <functional>
#include <memory>
#include <set>

namespace lathe::ui {

/// The values of one constant for a view that paints them: read on a thread, a page at a time, as far as they are
/// looked at.
class WeightValues final : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    /// Null or -1: there is none.
    void setTensor(std::shared_ptr<session::Weights> weights, std::int32_t constant, std::int64_t count);
    /// Empty while it is not there; then it is read, and arrived() says so.
    QString text(std::int64_t index);
    /// A rectangle of rows, tab-separated, to `then`. The rows are `stride` values apart.
    void read(std::int64_t first, std::int64_t columns, std::int64_t rows, std::int64_t stride,
              std::function<void(Result<QString>)> then);

signals:
    void arrived();
    void failed(const QString& sentence);

private:
    void ask();
    std::shared_ptr<session::Weights> m_weights;
    std::int32_t m_constant = -1;
    std::int64_t m_count = 0;
    QCache<std::int64_t, QStringList> m_pages{512};
    std::set<std::int64_t> m_missing; ///< pages that were looked for since the last question
    bool m_willAsk = false;
    JobLane m_jobs;
    Job m_reading;
};

} // namespace lathe::ui
