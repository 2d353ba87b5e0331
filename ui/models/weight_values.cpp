#include "ui/models/weight_values.h"

#include "ui/models/core_text.h"

#include <QTimer>

#include <algorithm>
#include <utility>
#include <vector>

namespace lathe::ui {

namespace {

constexpr std::int64_t kPage = 1024; ///< values: of a wide tensor each row that is seen is in a page of its own

} // namespace

void WeightValues::setTensor(std::shared_ptr<session::Weights> weights, std::int32_t constant, std::int64_t count)
{
    m_reading.drop();
    m_pages.clear();
    m_missing.clear();
    m_weights = std::move(weights);
    m_constant = constant;
    m_count = count;
}

QString WeightValues::text(std::int64_t index)
{
    if (const QStringList* page = m_pages.object(index / kPage))
        return page->value(index % kPage);
    if (m_weights == nullptr || index < 0 || index >= m_count)
        return {};
    m_missing.insert(index / kPage);
    if (!std::exchange(m_willAsk, true))
        QTimer::singleShot(0, this, [this] {
            m_willAsk = false;
            ask();
        });
    return {};
}

void WeightValues::ask()
{
    // One question at a time; what is still missed after its answer is asked for by the painting that follows, so that
    // a long way of scrolling leaves no queue behind.
    if (m_reading.isRunning() || m_missing.empty() || m_weights == nullptr)
        return;
    std::vector<std::int64_t> pages(m_missing.begin(), m_missing.end());
    m_missing.clear();
    using Texts = std::vector<std::pair<std::int64_t, std::vector<std::string>>>;
    m_reading = m_jobs.run(
        [weights = m_weights, constant = m_constant, count = m_count, pages](const JobLink& link) -> Result<Texts> {
            Texts texts;
            for (const std::int64_t page : pages) {
                if (link.stopToken().stop_requested())
                    break;
                LATHE_TRY_ASSIGN(auto values,
                                 weights->texts(constant, page * kPage, std::min(kPage, count - page * kPage)));
                texts.emplace_back(page, std::move(values));
            }
            return texts;
        },
        [this](Result<Texts> texts) {
            if (!texts) {
                emit failed(errorText(texts.error()));
                return;
            }
            for (const auto& [page, values] : *texts) {
                auto* kept = new QStringList;
                kept->reserve(static_cast<qsizetype>(values.size()));
                for (const std::string& value : values)
                    kept->append(QString::fromStdString(value));
                m_pages.insert(page, kept);
            }
            m_missing.clear();
            emit arrived();
        });
}

void WeightValues::read(std::int64_t first, std::int64_t columns, std::int64_t rows, std::int64_t stride,
                        std::function<void(Result<QString>)> then)
{
    if (m_weights == nullptr)
        return;
    m_jobs.run(
        [weights = m_weights, constant = m_constant, first, columns, rows, stride](const JobLink&) -> Result<QString> {
            QString text;
            for (std::int64_t r = 0; r < rows; ++r) {
                LATHE_TRY_ASSIGN(const auto values, weights->texts(constant, first + r * stride, columns));
                QStringList line;
                for (const std::string& value : values)
                    line << QString::fromStdString(value);
                text += line.join(QLatin1Char('\t')) + QLatin1Char('\n');
            }
            return text;
        },
        [then = std::move(then)](Result<QString> text) { then(std::move(text)); });
}

} // namespace lathe::ui
