#include "ui/models/hardware_model.h"

#include <QCoreApplication>
#include <QFont>
#include <QLocale>

namespace lathe::ui {

namespace {

struct Parameter
{
    const char *name, *title, *unit, *meaning;
};

constexpr Parameter kParameters[] = {
    {"num_cores", QT_TRANSLATE_NOOP("Hardware", "Cores"), "", QT_TRANSLATE_NOOP("Hardware", "threads of a kernel")},
    {"vector_unit_bytes", QT_TRANSLATE_NOOP("Hardware", "Vector width"), QT_TRANSLATE_NOOP("Hardware", "bytes"),
     QT_TRANSLATE_NOOP("Hardware", "of one vector register")},
    {"vector_registers", QT_TRANSLATE_NOOP("Hardware", "Vector registers"), "",
     QT_TRANSLATE_NOOP("Hardware", "accumulators must fit into them")},
    {"fma_per_cycle", QT_TRANSLATE_NOOP("Hardware", "Multiply-adds per cycle"), "",
     QT_TRANSLATE_NOOP("Hardware", "vector instructions that a core issues per cycle")},
    {"physical_cores", QT_TRANSLATE_NOOP("Hardware", "Physical cores"), "",
     QT_TRANSLATE_NOOP("Hardware", "two threads of a core share its units")},
    {"clock_mhz", QT_TRANSLATE_NOOP("Hardware", "Clock"), QT_TRANSLATE_NOOP("Hardware", "MHz"),
     QT_TRANSLATE_NOOP("Hardware", "at most")},
    {"cache_line_bytes", QT_TRANSLATE_NOOP("Hardware", "Cache line"), QT_TRANSLATE_NOOP("Hardware", "bytes"),
     QT_TRANSLATE_NOOP("Hardware", "unit in which memory is read")},
    {"l1d_bytes", QT_TRANSLATE_NOOP("Hardware", "Level 1 data cache"), QT_TRANSLATE_NOOP("Hardware", "bytes"),
     QT_TRANSLATE_NOOP("Hardware", "of one core")},
    {"l2_bytes", QT_TRANSLATE_NOOP("Hardware", "Level 2 cache"), QT_TRANSLATE_NOOP("Hardware", "bytes"),
     QT_TRANSLATE_NOOP("Hardware", "of one core")},
    {"l3_bytes", QT_TRANSLATE_NOOP("Hardware", "Level 3 cache"), QT_TRANSLATE_NOOP("Hardware", "bytes"),
     QT_TRANSLATE_NOOP("Hardware", "shared by the cores")},
    {"max_shared_memory_per_block", QT_TRANSLATE_NOOP("Hardware", "Shared memory of a block"),
     QT_TRANSLATE_NOOP("Hardware", "bytes"), QT_TRANSLATE_NOOP("Hardware", "of GPUs")},
    {"max_local_memory_per_block", QT_TRANSLATE_NOOP("Hardware", "Local memory of a block"),
     QT_TRANSLATE_NOOP("Hardware", "bytes"), QT_TRANSLATE_NOOP("Hardware", "of GPUs")},
    {"max_threads_per_block", QT_TRANSLATE_NOOP("Hardware", "Threads of a block"), "",
     QT_TRANSLATE_NOOP("Hardware", "of GPUs")},
    {"max_vthread_extent", QT_TRANSLATE_NOOP("Hardware", "Virtual threads"), "",
     QT_TRANSLATE_NOOP("Hardware", "of GPUs")},
    {"warp_size", QT_TRANSLATE_NOOP("Hardware", "Warp"), QT_TRANSLATE_NOOP("Hardware", "threads"),
     QT_TRANSLATE_NOOP("Hardware", "of GPUs")},
    {"shuffle_width", QT_TRANSLATE_NOOP("Hardware", "Lanes of a shuffle"), QT_TRANSLATE_NOOP("Hardware", "threads"),
     QT_TRANSLATE_NOOP("Hardware", "that exchange registers, on GPUs")},
    {"simd_width", QT_TRANSLATE_NOOP("Hardware", "Threads of a vector"), QT_TRANSLATE_NOOP("Hardware", "threads"),
     QT_TRANSLATE_NOOP("Hardware", "of processors that run kernels of GPUs")},
    {"lanes_per_core", QT_TRANSLATE_NOOP("Hardware", "Lanes of a core"), "",
     QT_TRANSLATE_NOOP("Hardware", "of 4 bytes, on GPUs")},
    {"threads_per_core", QT_TRANSLATE_NOOP("Hardware", "Threads of a core"), "",
     QT_TRANSLATE_NOOP("Hardware", "at a time, on GPUs")},
    {"blocks_per_core", QT_TRANSLATE_NOOP("Hardware", "Blocks of a core"), "",
     QT_TRANSLATE_NOOP("Hardware", "at a time, on GPUs")},
    {"registers_per_core", QT_TRANSLATE_NOOP("Hardware", "Registers of a core"), "",
     QT_TRANSLATE_NOOP("Hardware", "of 4 bytes, on GPUs")},
    {"registers_per_thread", QT_TRANSLATE_NOOP("Hardware", "Registers of a thread"), "",
     QT_TRANSLATE_NOOP("Hardware", "at most, on GPUs")},
    {"shared_memory_per_core", QT_TRANSLATE_NOOP("Hardware", "Shared memory of a core"),
     QT_TRANSLATE_NOOP("Hardware", "bytes"), QT_TRANSLATE_NOOP("Hardware", "of all its blocks, on GPUs")},
    {"memory_bytes_per_cycle", QT_TRANSLATE_NOOP("Hardware", "Memory in a cycle"),
     QT_TRANSLATE_NOOP("Hardware", "bytes"), QT_TRANSLATE_NOOP("Hardware", "all cores together")},
    {"cache_bytes_per_cycle", QT_TRANSLATE_NOOP("Hardware", "Cache in a cycle"), QT_TRANSLATE_NOOP("Hardware", "bytes"),
     QT_TRANSLATE_NOOP("Hardware", "all cores together")},
};

QString translatedLimit(const char* text)
{
    return *text == '\0' ? QString() : QCoreApplication::translate("Hardware", text);
}

const Parameter* known(const std::string& name)
{
    for (const Parameter& parameter : kParameters)
        if (name == parameter.name)
            return &parameter;
    return nullptr;
}

QString unitOf(const std::string& name)
{
    if (const Parameter* parameter = known(name))
        return translatedLimit(parameter->unit);
    return name.ends_with("_bytes") ? translatedLimit("bytes")
           : name.ends_with("_mhz") ? QStringLiteral("MHz")
                                    : QString();
}

QString originText(const std::string& origin)
{
    if (origin == "detected" || origin == "device")
        return QCoreApplication::translate("Hardware", "detected");
    if (origin == "simulated")
        return QCoreApplication::translate("Hardware", "simulated");
    if (origin == "edited")
        return QCoreApplication::translate("Hardware", "edited");
    if (origin == "user")
        return QCoreApplication::translate("Hardware", "from the target");
    if (origin.starts_with("preset "))
        return QCoreApplication::translate("Hardware", "preset of %1").arg(QString::fromStdString(origin.substr(7)));
    if (constexpr std::string_view of = "compute capability "; origin.starts_with(of))
        return QCoreApplication::translate("Hardware", "compute capability %1")
            .arg(QString::fromStdString(origin.substr(of.size())));
    if (origin == "OpenCL driver")
        return QCoreApplication::translate("Hardware", "OpenCL driver");
    if (origin.starts_with("file "))
        return QCoreApplication::translate("Hardware", "file %1").arg(QString::fromStdString(origin.substr(5)));
    return QString::fromStdString(origin);
}

} // namespace

void HardwareModel::setLimits(std::vector<session::DeviceView::Limit> limits)
{
    beginResetModel();
    m_limits = std::move(limits);
    endResetModel();
}

void HardwareModel::setEditor(Editor editor)
{
    m_editor = std::move(editor);
}

void HardwareModel::retranslate()
{
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int HardwareModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_limits.size());
}

int HardwareModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant HardwareModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::DeviceView::Limit& limit = m_limits[static_cast<std::size_t>(index.row())];
    const Parameter* parameter = known(limit.name);
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case NameColumn:
            return parameter == nullptr ? QString::fromStdString(limit.name) : translatedLimit(parameter->title);
        case ValueColumn: return QLocale::c().toString(static_cast<qlonglong>(limit.value));
        case UnitColumn: return unitOf(limit.name);
        case OriginColumn: return originText(limit.origin);
        case MeaningColumn: return parameter == nullptr ? QString() : translatedLimit(parameter->meaning);
        default: return {};
        }
    case Qt::EditRole:
        return index.column() == ValueColumn ? QVariant(static_cast<qlonglong>(limit.value)) : QVariant();
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((index.column() == ValueColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole: return QString::fromStdString(limit.name);
    case Qt::FontRole:
        if (limit.origin == "edited" && (index.column() == ValueColumn || index.column() == OriginColumn)) {
            QFont bold;
            bold.setBold(true);
            return bold;
        }
        return {};
    default: return {};
    }
}

bool HardwareModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::EditRole || !index.isValid() || index.column() != ValueColumn || !m_editor)
        return false;
    bool good = false;
    // People write thousands with commas, and sizes with a K or M.
    QString text = value.toString().trimmed().remove(QLatin1Char(',')).remove(QLatin1Char(' '));
    qint64 factor = 1;
    for (const auto& [suffix, bytes] :
         {std::pair("K", qint64{1} << 10), std::pair("M", qint64{1} << 20), std::pair("G", qint64{1} << 30)})
        for (const QString& end : {QLatin1String(suffix) + QStringLiteral("iB"),
                                   QLatin1String(suffix) + QStringLiteral("B"), QString(QLatin1String(suffix))})
            if (factor == 1 && text.endsWith(end, Qt::CaseInsensitive)) {
                text.chop(end.size());
                factor = bytes;
            }
    const qint64 number = text.toLongLong(&good);
    if (!good || number > (qint64{1} << 40) / factor) {
        emit refused(tr("%1 is not an integer").arg(value.toString()));
        return false;
    }
    const std::string name = limit(index.row()).name;
    if (number * factor == limit(index.row()).value)
        return false;
    if (const QString problem = m_editor(name, number * factor); !problem.isEmpty()) {
        emit refused(problem);
        return false;
    }
    return true; // who took it sets all anew
}

Qt::ItemFlags HardwareModel::flags(const QModelIndex& index) const
{
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() == ValueColumn && m_editor)
        flags |= Qt::ItemIsEditable;
    return flags;
}

QVariant HardwareModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn: return tr("Parameter");
    case ValueColumn: return tr("Value");
    case UnitColumn: return tr("Unit");
    case OriginColumn: return tr("Origin");
    case MeaningColumn: return tr("Meaning");
    default: return {};
    }
}

} // namespace lathe::ui
