#include "ui/pages/scatter_panel.h"

#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/views/scatter_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace lathe::ui {

namespace {

constexpr session::TrialAxis kAxes[] = {session::TrialAxis::Predicted, session::TrialAxis::Latency,
                                        session::TrialAxis::Time,      session::TrialAxis::Number,
                                        session::TrialAxis::Round,     session::TrialAxis::Ratio};

bool isMilliseconds(session::TrialAxis axis)
{
    return axis == session::TrialAxis::Predicted || axis == session::TrialAxis::Latency;
}

} // namespace

ScatterPanel::ScatterPanel(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("scatterPanel"));
    m_view = new ScatterView(this);
    const auto box = [this](const char* name, int index) {
        auto* made = new QComboBox(this);
        made->setObjectName(QLatin1String(name));
        for (std::size_t i = 0; i < std::size(kAxes); ++i)
            made->addItem(QString());
        made->setCurrentIndex(
            std::clamp(QSettings().value(QStringLiteral("scatter/") + made->objectName(), index).toInt(), 0,
                       static_cast<int>(std::size(kAxes)) - 1));
        connect(made, &QComboBox::currentIndexChanged, this, [this, made](int at) {
            QSettings().setValue(QStringLiteral("scatter/") + made->objectName(), at);
            setAxes();
            m_stale = true;
            read();
        });
        return made;
    };
    const auto toggle = [this](const char* name) {
        auto* made = new QToolButton(this);
        made->setObjectName(QLatin1String(name));
        made->setCheckable(true);
        made->setAutoRaise(true);
        made->setChecked(QSettings().value(QStringLiteral("scatter/") + made->objectName()).toBool());
        connect(made, &QToolButton::toggled, this, [this, made](bool on) {
            QSettings().setValue(QStringLiteral("scatter/") + made->objectName(), on);
            setAxes();
        });
        return made;
    };
    m_x = box("scatterX", 0);
    m_y = box("scatterY", 1);
    m_logX = toggle("scatterLogX");
    m_logY = toggle("scatterLogY");
    m_all = new QToolButton(this);
    m_all->setObjectName(QStringLiteral("scatterAll"));
    m_all->setAutoRaise(true);
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("scatterSummary"));
    m_summary->setWordWrap(true);
    auto* upright = new QLabel(this);
    auto* across = new QLabel(this);
    auto* row = new QHBoxLayout;
    for (QWidget* widget : {static_cast<QWidget*>(upright), static_cast<QWidget*>(m_y), static_cast<QWidget*>(m_logY),
                            static_cast<QWidget*>(across), static_cast<QWidget*>(m_x), static_cast<QWidget*>(m_logX)})
        row->addWidget(widget);
    row->addStretch();
    row->addWidget(m_all);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 2, 0, 0);
    layout->setSpacing(3);
    layout->addLayout(row);
    layout->addWidget(m_view, 1);
    layout->addWidget(m_summary);
    connect(m_all, &QToolButton::clicked, m_view, &ScatterView::zoomToFit);
    connect(m_view, &ScatterView::picked, this, &ScatterPanel::picked);
    connect(m_view, &ScatterView::summaryChanged, m_summary, &QLabel::setText);
    retranslated(this, [this, upright, across] {
        const QString names[] = {tr("Predicted (ms)"),       tr("Latency (ms)"), tr("Time since the first"),
                                 tr("Place in the project"), tr("Round"),        tr("Measured by predicted")};
        for (QComboBox* axes : {m_x, m_y})
            for (int i = 0; i < axes->count(); ++i)
                axes->setItemText(i, names[i]);
        upright->setText(tr("Up:"));
        across->setText(tr("Across:"));
        m_x->setAccessibleName(tr("Number shown across"));
        m_y->setAccessibleName(tr("Number shown upwards"));
        for (QToolButton* log : {m_logX, m_logY}) {
            log->setText(tr("log"));
            log->setToolTip(tr("Logarithmic axis"));
        }
        m_logX->setAccessibleName(tr("Logarithmic axis across"));
        m_logY->setAccessibleName(tr("Logarithmic axis upwards"));
        m_all->setText(tr("Whole chart"));
        m_all->setToolTip(tr("Ends the zoom; draw a rectangle or turn the wheel to zoom"));
        m_view->setAccessibleName(tr("Trials as points"));
        setAxes();
    });
}

session::TrialAxis ScatterPanel::axis(const QComboBox* box) const
{
    return kAxes[static_cast<std::size_t>(box->currentIndex())];
}

void ScatterPanel::setAxes()
{
    m_view->setAxes({m_x->currentText(), axis(m_x) == session::TrialAxis::Time, m_logX->isChecked()},
                    {m_y->currentText(), axis(m_y) == session::TrialAxis::Time, m_logY->isChecked()});
}

void ScatterPanel::setHistory(std::unique_ptr<session::History> history)
{
    m_reader.setHistory(std::move(history));
    m_view->setPoints(nullptr, false);
    m_view->setMessage(tr("No network is open"));
    m_stale = true;
    read();
}

void ScatterPanel::setQuery(const session::TrialQuery& query)
{
    m_query = query;
    m_query.order = session::TrialQuery::Order::Time;
    m_stale = true;
    read();
}

void ScatterPanel::setMarked(std::int64_t row)
{
    m_view->setMarked(row);
}

void ScatterPanel::refresh()
{
    m_stale = true;
    read();
}

void ScatterPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    read();
}

void ScatterPanel::read()
{
    if (!isVisible() || !m_reader.isOpen() || !std::exchange(m_stale, false))
        return;
    m_asked.drop();
    m_view->setMessage(tr("Reading…"));
    const session::TrialAxis x = axis(m_x), y = axis(m_y);
    m_asked = m_reader.ask(
        [query = m_query, x, y](session::History& history,
                                std::stop_token stop) -> Result<std::shared_ptr<const ScatterView::Points>> {
            auto read = history.points(query, x, y, stop);
            if (!read)
                return std::move(read).error();
            auto points = std::make_shared<ScatterView::Points>();
            points->x = std::move(read->x);
            points->y = std::move(read->y);
            points->ids = std::move(read->rows);
            return std::shared_ptr<const ScatterView::Points>(std::move(points));
        },
        [this, x, y](Result<std::shared_ptr<const ScatterView::Points>> points) {
            m_view->setMessage(points ? QString() : errorText(points.error()));
            m_view->setPoints(points ? *points : nullptr, isMilliseconds(x) && isMilliseconds(y) && x != y);
        });
}

} // namespace lathe::ui
