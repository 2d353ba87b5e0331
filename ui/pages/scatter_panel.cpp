#include "ui/pages/scatter_panel.h"

#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/views/scatter_view.h"
#include "ui/views/spacing.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
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

constexpr double kDecade = 10;

/// In the settings, for what an axis shows: latencies want what rounds do not.
QString logarithmicKey(session::TrialAxis axis)
{
    return QStringLiteral("scatter/logarithmic%1").arg(static_cast<int>(axis));
}

} // namespace

ScatterPanel::ScatterPanel(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("scatterPanel"));
    makeWidgets();
    connect(m_all, &QToolButton::clicked, m_view, &ScatterView::zoomToFit);
    connect(m_view, &ScatterView::picked, this, &ScatterPanel::picked);
    connect(m_view, &ScatterView::menuAboutToShow, this, &ScatterPanel::menuAboutToShow);
    connect(m_view, &ScatterView::summaryChanged, m_summary, &QLabel::setText);
    retranslated(this, [this] { retranslate(); });
}

void ScatterPanel::makeWidgets()
{
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
    m_x = box("scatterX", 0);
    m_y = box("scatterY", 1);
    const auto toggle = [this](const char* name, const QComboBox* of) {
        auto* made = new QToolButton(this);
        made->setObjectName(QLatin1String(name));
        made->setCheckable(true);
        made->setAutoRaise(true);
        connect(made, &QToolButton::toggled, this, &ScatterPanel::setAxes);
        connect(made, &QToolButton::clicked, this,
                [this, of](bool on) { QSettings().setValue(logarithmicKey(axis(of)), on); });
        return made;
    };
    m_logX = toggle("scatterLogX", m_x);
    m_logY = toggle("scatterLogY", m_y);
    m_all = new QToolButton(this);
    m_all->setObjectName(QStringLiteral("scatterAll"));
    m_all->setAutoRaise(true);
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("scatterSummary"));
    m_summary->setWordWrap(true);
    m_upright = new QLabel(this);
    m_across = new QLabel(this);
    auto* row = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_upright, m_logY, m_y, m_across, m_logX, m_x})
        row->addWidget(widget);
    row->addStretch();
    row->addWidget(m_all);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kNone, spacing::kSmall, spacing::kNone, spacing::kNone);
    layout->setSpacing(spacing::kSmall);
    layout->addLayout(row);
    layout->addWidget(m_view, 1);
    layout->addWidget(m_summary);
}

void ScatterPanel::retranslate()
{
    const QString names[] = {tr("Predicted (ms)"),          tr("Latency (ms)"), tr("Time since the first trial"),
                             tr("Position in the project"), tr("Round"),        tr("Measured by predicted")};
    for (QComboBox* axes : {m_x, m_y})
        for (int i = 0; i < axes->count(); ++i)
            axes->setItemText(i, names[i]);
    m_upright->setText(tr("Y axis:"));
    m_across->setText(tr("X axis:"));
    m_x->setAccessibleName(tr("Number on the x axis"));
    m_y->setAccessibleName(tr("Number on the y axis"));
    for (QToolButton* log : {m_logX, m_logY}) {
        log->setText(tr("log"));
        log->setToolTip(tr("Logarithmic axis"));
    }
    m_logX->setAccessibleName(tr("Logarithmic x axis"));
    m_logY->setAccessibleName(tr("Logarithmic y axis"));
    m_all->setText(tr("Whole chart"));
    m_all->setToolTip(tr("Reset the zoom; drag a rectangle or turn the wheel to zoom"));
    m_view->setAccessibleName(tr("Trials as points"));
    setAxes();
}

/// Where nobody has chosen, what spans more than a decade is logarithmic. Time and numbers of rounds are not.
void ScatterPanel::suit(const std::vector<double>& x, const std::vector<double>& y)
{
    const auto suited = [this](const QComboBox* box, const std::vector<double>& values) {
        const session::TrialAxis shown = axis(box);
        if (const QVariant chosen = QSettings().value(logarithmicKey(shown)); chosen.isValid())
            return chosen.toBool();
        if (!isMilliseconds(shown) && shown != session::TrialAxis::Ratio)
            return false;
        double low = std::numeric_limits<double>::infinity(), high = 0;
        for (const double value : values)
            if (value > 0) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
        return high > kDecade * low;
    };
    m_logX->setChecked(suited(m_x, x));
    m_logY->setChecked(suited(m_y, y));
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
            if (points)
                suit((*points)->x, (*points)->y);
            m_view->setPoints(points ? *points : nullptr, isMilliseconds(x) && isMilliseconds(y) && x != y);
        });
}

} // namespace lathe::ui
