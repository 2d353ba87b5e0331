#include "ui/dialogs/input_sizes_dialog.h"

#include "ui/models/language.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <optional>

namespace lathe::ui {

namespace {

using frontend::DimensionRole;

constexpr qsizetype kMostPlaces = 3; ///< that a row names

/// Usual sizes, a button each.
std::vector<int> presetsOf(DimensionRole role)
{
    switch (role) {
    case DimensionRole::Batch: return {1, 4, 8};
    case DimensionRole::Channels: return {1, 3, 4};
    case DimensionRole::Depth: return {8, 16, 32};
    case DimensionRole::Height:
    case DimensionRole::Width: return {224, 320, 640};
    case DimensionRole::Sequence: return {128, 256, 512};
    case DimensionRole::Frames: return {100, 300, 1000};
    case DimensionRole::Samples: return {16000, 48000, 160000};
    case DimensionRole::Other: break;
    }
    return {1, 16, 64};
}

/// "1, 3, 224, 224"; nothing: this is no shape.
std::optional<std::vector<std::int64_t>> shapeIn(const QString& text)
{
    static const QRegularExpression between(QStringLiteral("[,x×\\s]+"));
    std::vector<std::int64_t> shape;
    for (const QString& word : text.split(between, Qt::SkipEmptyParts)) {
        bool isNumber = false;
        shape.push_back(word.toLongLong(&isNumber));
        if (!isNumber || shape.back() < 1)
            return std::nullopt;
    }
    return shape.empty() ? std::nullopt : std::optional(shape);
}

QString shapeText(const std::vector<std::int64_t>& shape)
{
    QStringList words;
    for (const std::int64_t extent : shape)
        words << QString::number(extent);
    return words.join(QStringLiteral(", "));
}

} // namespace

InputSizesDialog::InputSizesDialog(const QString& model, frontend::OpenInputs open, QWidget* parent)
    : QDialog(parent)
    , m_model(model)
    , m_open(std::move(open))
{
    setObjectName(QStringLiteral("inputSizesDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_intro = new QLabel(this);
    m_intro->setObjectName(QStringLiteral("inputSizesIntro"));
    m_intro->setWordWrap(true);
    m_result = new QLabel(this);
    m_result->setObjectName(QStringLiteral("inputSizesResult"));
    m_result->setWordWrap(true);
    m_result->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_buttons->button(QDialogButtonBox::Ok)->setObjectName(QStringLiteral("inputSizesOk"));
    m_buttons->button(QDialogButtonBox::Cancel)->setObjectName(QStringLiteral("inputSizesCancel"));
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* rows = new QWidget(this);
    auto* grid = new QGridLayout(rows);
    grid->setColumnStretch(1, 1);
    for (std::size_t i = 0; i < m_open.dimensions.size(); ++i)
        addDimension(*grid, i);
    for (const std::string& input : m_open.shapeless)
        addShape(*grid, input);
    grid->setRowStretch(grid->rowCount(), 1);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(rows);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_intro);
    layout->addWidget(scroll, 1);
    layout->addWidget(m_result);
    layout->addWidget(m_buttons);
    retranslated(this, [this] { retranslate(); });
    // Texts that break into lines are as high as the width makes them.
    const QSize room = screen()->availableSize() * 0.85;
    const int width = std::min(std::max(640, rows->minimumSizeHint().width() + 40), room.width());
    const QMargins margins = layout->contentsMargins();
    scroll->setMinimumHeight(
        std::min(grid->totalHeightForWidth(width - margins.left() - margins.right()) + 4, room.height() * 3 / 5));
    resize(width, std::min(layout->totalHeightForWidth(width), room.height()));
    if (!m_rows.empty()) {
        m_rows.front().size->setFocus();
        m_rows.front().size->selectAll();
    }
}

void InputSizesDialog::addDimension(QGridLayout& grid, std::size_t index)
{
    const frontend::OpenDimension& dimension = m_open.dimensions[index];
    Row row;
    const QString name = QString::fromStdString(dimension.name);
    row.name = new QLabel(name.toHtmlEscaped(), this);
    row.about = new QLabel(this);
    row.about->setWordWrap(true);
    row.size = new QSpinBox(this);
    row.size->setObjectName(QStringLiteral("inputSize_") + name);
    row.size->setRange(1, std::numeric_limits<int>::max());
    row.size->setMinimumWidth(row.size->fontMetrics().horizontalAdvance(QStringLiteral("0000000000")));
    row.size->setValue(static_cast<int>(
        std::clamp<std::int64_t>(dimension.size.value_or(dimension.guess), 1, std::numeric_limits<int>::max())));
    row.size->setAccessibleName(name);
    row.name->setBuddy(row.size);
    auto* presets = new QHBoxLayout;
    for (const int preset : presetsOf(dimension.role)) {
        auto* button = new QToolButton(this);
        button->setText(QString::number(preset));
        button->setObjectName(QStringLiteral("inputPreset_%1_%2").arg(name).arg(preset));
        button->setAccessibleName(QStringLiteral("%1 = %2").arg(name).arg(preset));
        button->setFocusPolicy(Qt::TabFocus);
        presets->addWidget(button);
        connect(button, &QToolButton::clicked, row.size, [size = row.size, preset] { size->setValue(preset); });
    }
    presets->addStretch(1);
    connect(row.size, &QSpinBox::valueChanged, this, &InputSizesDialog::showResult);
    const int at = grid.rowCount();
    grid.addWidget(row.name, at, 0);
    grid.addWidget(row.about, at, 1);
    grid.addWidget(row.size, at, 2);
    grid.addLayout(presets, at, 3);
    m_rows.push_back(row);
}

void InputSizesDialog::addShape(QGridLayout& grid, const std::string& input)
{
    ShapeRow row;
    const QString name = QString::fromStdString(input);
    row.name = new QLabel(this);
    row.shape = new QLineEdit(this);
    row.shape->setObjectName(QStringLiteral("inputShape_") + name);
    row.shape->setPlaceholderText(QStringLiteral("1, 3, 224, 224"));
    row.name->setBuddy(row.shape);
    connect(row.shape, &QLineEdit::textChanged, this, &InputSizesDialog::showResult);
    const int at = grid.rowCount();
    grid.addWidget(row.name, at, 0, 1, 2);
    grid.addWidget(row.shape, at, 2, 1, 2);
    m_shapeRows.push_back(row);
}

session::OptionSizes InputSizesDialog::sizes() const
{
    session::OptionSizes sizes;
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        sizes.emplace_back(m_open.dimensions[i].name, m_rows[i].size->value());
    return sizes;
}

session::OptionShapes InputSizesDialog::shapes() const
{
    session::OptionShapes shapes;
    for (std::size_t i = 0; i < m_shapeRows.size(); ++i)
        if (const auto shape = shapeIn(m_shapeRows[i].shape->text()))
            shapes.emplace_back(m_open.shapeless[i], *shape);
    return shapes;
}

/// The shapes that come of it, and whether they are complete.
void InputSizesDialog::showResult()
{
    QStringList lines;
    for (const frontend::OpenInputs::Input& input : m_open.inputs) {
        std::vector<std::int64_t> shape = input.shape;
        for (std::size_t i = 0; i < m_rows.size(); ++i)
            for (const auto& place : m_open.dimensions[i].places)
                if (place.input == input.name)
                    shape[static_cast<std::size_t>(place.axis)] = m_rows[i].size->value();
        lines << QStringLiteral("%1 [%2]").arg(QString::fromStdString(input.name), shapeText(shape));
    }
    const session::OptionShapes given = shapes();
    for (const auto& [input, shape] : given)
        lines << QStringLiteral("%1 [%2]").arg(QString::fromStdString(input), shapeText(shape));
    m_result->setText(tr("Inputs: %1").arg(lines.join(QStringLiteral(";  "))));
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(given.size() == m_shapeRows.size());
}

void InputSizesDialog::retranslate()
{
    const auto roleText = [](DimensionRole role) {
        switch (role) {
        case DimensionRole::Batch: return tr("batch");
        case DimensionRole::Channels: return tr("channels");
        case DimensionRole::Depth: return tr("depth");
        case DimensionRole::Height: return tr("image height");
        case DimensionRole::Width: return tr("image width");
        case DimensionRole::Sequence: return tr("sequence length");
        case DimensionRole::Frames: return tr("audio frames");
        case DimensionRole::Samples: return tr("audio samples");
        case DimensionRole::Other: break;
        }
        return tr("unknown");
    };
    setWindowTitle(tr("Input sizes"));
    m_intro->setText(tr("%1 leaves input sizes open. Choose the sizes to tune for. You can change them later with File "
                        "> Input sizes; measurements of unchanged tasks are kept.")
                         .arg(m_model));
    m_buttons->button(QDialogButtonBox::Ok)->setText(tr("&Open"));
    m_buttons->button(QDialogButtonBox::Cancel)->setText(tr("Cancel"));
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const frontend::OpenDimension& dimension = m_open.dimensions[i];
        QStringList places;
        for (const auto& place : dimension.places)
            places << tr("%1, dimension %2").arg(QString::fromStdString(place.input)).arg(place.axis);
        const QString all = places.join(QStringLiteral("; "));
        if (places.size() > kMostPlaces)
            places = places.mid(0, kMostPlaces) << tr("%1 more").arg(places.size() - kMostPlaces);
        m_rows[i].about->setText(tr("%1 (%2)").arg(roleText(dimension.role), places.join(QStringLiteral("; "))));
        m_rows[i].about->setToolTip(all);
    }
    for (std::size_t i = 0; i < m_shapeRows.size(); ++i) {
        m_shapeRows[i].name->setText(tr("Shape of %1").arg(QString::fromStdString(m_open.shapeless[i])));
        m_shapeRows[i].shape->setAccessibleName(m_shapeRows[i].name->text());
    }
    showResult();
}

} // namespace lathe::ui
