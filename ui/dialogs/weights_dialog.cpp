#include "ui/dialogs/weights_dialog.h"

#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/models/weight_values.h"
#include "ui/views/histogram_view.h"
#include "ui/views/spacing.h"
#include "ui/views/value_grid.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QScreen>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace lathe::ui {

namespace {

constexpr std::int64_t kMostCopied = 1000000; ///< values: more is for a file

std::int64_t countOf(const session::TensorView& tensor)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : tensor.shape)
        count *= extent;
    return count;
}

QString number(double value)
{
    return QString::number(value, 'g', 7);
}

} // namespace

WeightsDialog::WeightsDialog(std::shared_ptr<const session::GraphView> graph, std::shared_ptr<session::Weights> weights,
                             QWidget* parent)
    : QDialog(parent)
    , m_weights(std::move(weights))
{
    setObjectName(QStringLiteral("weightsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    collect(*graph);
    makeWidgets();
    retranslated(this, [this] { retranslate(); });
    connect(m_choice, &QComboBox::currentIndexChanged, this, &WeightsDialog::choose);
    connect(m_values, &WeightValues::arrived, m_grid, &ValueGrid::refresh);
    connect(m_values, &WeightValues::failed, m_state, &QLabel::setText);
    connect(m_grid, &ValueGrid::copyWanted, this, &WeightsDialog::copySelected);
    connect(m_grid, &ValueGrid::currentChanged, this,
            [this](std::int64_t index) { m_place->setText(m_grid->placeOf(index)); });
    connect(m_goTo, &QLineEdit::returnPressed, this, &WeightsDialog::goTo);
    connect(m_logarithmic, &QCheckBox::toggled, m_histogram, &HistogramView::setLogarithmic);
    connect(m_stop, &QPushButton::clicked, this, [this] {
        if (m_counting.isRunning())
            m_counting.stop();
        else
            readStatistics();
    });
    connect(m_save, &QPushButton::clicked, this, &WeightsDialog::browseAndSave);
    connect(m_close, &QPushButton::clicked, this, &QDialog::close);
    resize(QSize(860, 600).boundedTo(screen()->availableSize() * 0.85));
    if (!m_entries.empty())
        choose(0);
}

WeightsDialog* WeightsDialog::showFor(const session::TuningSession& session, QWidget* page, std::int32_t constant)
{
    const std::shared_ptr<session::Weights> weights = session.weights();
    WeightsDialog* dialog = nullptr;
    for (auto* open : page->window()->findChildren<WeightsDialog*>())
        if (open->m_weights == weights)
            dialog = open;
    if (dialog == nullptr)
        dialog = new WeightsDialog(session.graph(), weights, page->window());
    dialog->showConstant(constant);
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
    return dialog;
}

void WeightsDialog::collect(const session::GraphView& graph)
{
    std::set<std::int32_t> seen;
    for (const session::NodeView& node : graph.nodes)
        for (const session::TensorView& input : node.inputs)
            if (input.constant >= 0 && seen.insert(input.constant).second)
                m_entries.push_back({input, QString::fromStdString(node.origin.empty() ? node.name : node.origin)});
}

void WeightsDialog::makeWidgets()
{
    m_values = new WeightValues(this);
    m_choice = new QComboBox(this);
    m_choice->setObjectName(QStringLiteral("weightsChoice"));
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_choice->setMinimumContentsLength(20);
    m_choice->setMaxVisibleItems(20);
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        m_choice->addItem(QString()); // retranslate() gives it its text
    m_what = new QLabel(this);
    m_what->setObjectName(QStringLiteral("weightsWhat"));
    m_what->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_what->setWordWrap(true);
    m_grid = new ValueGrid(this);
    m_grid->setObjectName(QStringLiteral("weightsValues"));
    m_goTo = new QLineEdit(this);
    m_goTo->setObjectName(QStringLiteral("weightsGoTo"));
    m_goTo->setClearButtonEnabled(true);
    m_place = new QLabel(this);
    m_place->setObjectName(QStringLiteral("weightsPlace"));
    const auto button = [this](const char* name) {
        auto* made = new QPushButton(this);
        made->setObjectName(QLatin1String(name));
        made->setAutoDefault(false);
        return made;
    };
    m_stop = button("weightsStop");
    m_save = button("weightsSave");
    m_close = button("weightsClose");
    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("weightsState"));
    m_state->setWordWrap(true);
    auto* above = new QHBoxLayout;
    above->addWidget(makeFigures());
    above->addWidget(m_histogram, 1);
    auto* place = new QHBoxLayout;
    place->addWidget(m_goTo, 1);
    place->addWidget(m_place, 1);
    place->addWidget(m_logarithmic);
    auto* below = new QHBoxLayout;
    below->addWidget(m_state, 1);
    for (QPushButton* b : {m_stop, m_save, m_close})
        below->addWidget(b);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_choice);
    layout->addWidget(m_what);
    layout->addLayout(above);
    layout->addLayout(place);
    layout->addWidget(m_grid, 1);
    layout->addLayout(below);
}

QWidget* WeightsDialog::makeFigures()
{
    auto* figures = new QWidget(this);
    m_form = new QFormLayout(figures);
    m_form->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kMedium, spacing::kNone);
    for (const char* name : {"weightsMin", "weightsMax", "weightsMean", "weightsDeviation", "weightsZeros",
                             "weightsNans", "weightsInfinities"}) {
        auto* value = new QLabel(figures);
        value->setObjectName(QLatin1String(name));
        value->setTextInteractionFlags(Qt::TextSelectableByMouse);
        value->setMinimumWidth(110);
        m_figures.push_back(value);
        m_form->addRow(new QLabel(figures), value);
    }
    m_histogram = new HistogramView(this);
    m_histogram->setObjectName(QStringLiteral("weightsHistogram"));
    m_logarithmic = new QCheckBox(this);
    m_logarithmic->setObjectName(QStringLiteral("weightsLogarithmic"));
    return figures;
}

void WeightsDialog::retranslate()
{
    setWindowTitle(tr("Weights"));
    const QString names[] = {tr("Minimum"), tr("Maximum"), tr("Mean"),    tr("Standard deviation"),
                             tr("Zeros"),   tr("NaN"),     tr("Infinite")};
    for (std::size_t i = 0; i < m_figures.size(); ++i) {
        static_cast<QLabel*>(m_form->labelForField(m_figures[i]))->setText(names[i]);
        m_figures[i]->setAccessibleName(names[i]);
    }
    m_choice->setAccessibleName(tr("Constant"));
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const Entry& entry = m_entries[i];
        const QString name = QString::fromStdString(entry.tensor.name), title = weightTitle(entry.tensor, entry.node);
        m_choice->setItemText(static_cast<int>(i), QStringLiteral("%1  %2").arg(title, shapeText(entry.tensor)));
        m_choice->setItemData(static_cast<int>(i), title == name ? title : tr("%1\nName here: %2").arg(title, name),
                              Qt::ToolTipRole);
    }
    m_grid->setAccessibleName(tr("Values"));
    m_histogram->setAccessibleName(tr("Histogram of the values"));
    m_logarithmic->setText(tr("&Logarithmic counts"));
    m_goTo->setPlaceholderText(tr("Go to index, such as 3, 0, 2"));
    m_goTo->setMinimumWidth(fontMetrics().horizontalAdvance(m_goTo->placeholderText()) + spacing::kPage);
    m_goTo->setAccessibleName(tr("Go to index"));
    m_save->setText(tr("&Save as .npy…"));
    m_close->setText(tr("C&lose"));
    m_stop->setText(m_counting.isRunning() ? tr("S&top") : tr("&Compute statistics"));
    if (m_entries.empty())
        m_what->setText(tr("This network has no constants."));
    m_save->setEnabled(m_shown >= 0);
    m_goTo->setEnabled(m_shown >= 0);
    if (m_shown >= 0) {
        const std::int64_t count = countOf(tensor());
        m_what->setText((count == 1 ? tr("%1 %2, 1 value, read by %3") : tr("%1 %2, %4 values, read by %3"))
                            .arg(QString::fromStdString(tensor().dtype), shapeText(tensor()),
                                 m_entries[static_cast<std::size_t>(m_shown)].node,
                                 QLocale().toString(static_cast<qlonglong>(count))));
    }
    if (m_statistics)
        showStatistics(*m_statistics);
}

void WeightsDialog::showConstant(std::int32_t constant)
{
    const auto found = std::ranges::find(m_entries, constant, [](const Entry& e) { return e.tensor.constant; });
    if (found != m_entries.end())
        m_choice->setCurrentIndex(static_cast<int>(found - m_entries.begin()));
}

void WeightsDialog::choose(int index)
{
    if (index < 0 || index == m_shown)
        return;
    m_shown = index;
    m_state->clear();
    m_place->clear();
    const std::int64_t count = countOf(tensor());
    m_values->setTensor(m_weights, tensor().constant, count);
    m_grid->setTensor(tensor().shape, [this](std::int64_t i) { return m_values->text(i); });
    readStatistics();
}

void WeightsDialog::readStatistics()
{
    m_counting.drop();
    m_statistics = nullptr;
    m_state->clear();
    for (QLabel* figure : m_figures)
        figure->setText(QStringLiteral("…"));
    m_histogram->setCounts({}, 0, 0);
    m_counting = m_jobs.run([weights = m_weights, constant = tensor().constant](
                                const JobLink& link) { return weights->statistics(constant, link.stopToken()); },
                            [this](Result<std::shared_ptr<const session::WeightStatistics>> statistics) {
                                m_counting = {};
                                m_stop->setVisible(!statistics);
                                if (statistics)
                                    m_statistics = *statistics;
                                else
                                    m_state->setText(statistics.error().code == Errc::Cancelled
                                                         ? tr("The statistics were stopped.")
                                                         : errorText(statistics.error()));
                                retranslate();
                            });
    m_stop->show();
    retranslate();
}

void WeightsDialog::showStatistics(const session::WeightStatistics& s)
{
    const QLocale locale;
    const double share = s.count > 0 ? 100 * static_cast<double>(s.zeros) / static_cast<double>(s.count) : 0;
    const QString texts[] = {
        number(s.min),
        number(s.max),
        number(s.mean),
        number(s.deviation),
        tr("%1 (%2 %)").arg(locale.toString(static_cast<qlonglong>(s.zeros))).arg(share, 0, 'f', 1),
        locale.toString(static_cast<qlonglong>(s.nans)),
        locale.toString(static_cast<qlonglong>(s.infinities))};
    for (std::size_t i = 0; i < m_figures.size(); ++i)
        m_figures[i]->setText(texts[i]);
    m_histogram->setCounts(s.histogram, s.min, s.max);
    m_histogram->setAccessibleDescription(
        tr("Values from %1 to %2, mean %3").arg(number(s.min), number(s.max), number(s.mean)));
}

void WeightsDialog::goTo()
{
    const std::int64_t index = m_grid->indexOf(m_goTo->text());
    if (index < 0) {
        m_state->setText(tr("There is no value at %1.").arg(m_goTo->text()));
        return;
    }
    m_state->clear();
    m_grid->goTo(index);
    m_grid->setFocus();
}

void WeightsDialog::copySelected()
{
    const ValueGrid::Rectangle part = m_grid->selected();
    if (part.rows > kMostCopied / part.columns) {
        m_state->setText(tr("At most %1 values can be copied: save them as a file.")
                             .arg(QLocale().toString(static_cast<qlonglong>(kMostCopied))));
        return;
    }
    m_values->read(part.row * m_grid->columns() + part.column, part.columns, part.rows, m_grid->columns(),
                   [this](Result<QString> text) {
                       if (text)
                           QApplication::clipboard()->setText(*text);
                       m_state->setText(text ? tr("Copied.") : errorText(text.error()));
                   });
}

void WeightsDialog::browseAndSave()
{
    QString name = QString::fromStdString(tensor().name);
    name.replace(QLatin1Char('/'), QLatin1Char('_'));
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the values"), name + QStringLiteral(".npy"),
                                                      tr("NumPy array (*.npy)"));
    if (!file.isEmpty())
        save(file);
}

void WeightsDialog::save(const QString& file)
{
    m_save->setEnabled(false);
    m_state->setText(tr("Saving…"));
    m_jobs.run([weights = m_weights, constant = tensor().constant, path = std::filesystem::path(file.toStdString())](
                   const JobLink&) { return weights->save(constant, path); },
               [this, file](Result<> saved) {
                   m_save->setEnabled(true);
                   m_state->setText(saved ? tr("Saved as %1.").arg(file) : errorText(saved.error()));
               });
}

} // namespace lathe::ui
