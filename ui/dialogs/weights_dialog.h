#pragma once

#include "core/session/session.h"
#include "ui/bridge/jobs.h"

#include <QDialog>

#include <memory>
#include <vector>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
QT_END_NAMESPACE

namespace lathe::ui {

class HistogramView;
class ValueGrid;
class WeightValues;

/// The constants of the open network: values, statistics, a histogram; saved as .npy. Not modal; it keeps what it shows
/// where another network is opened meanwhile.
class WeightsDialog final : public QDialog
{
    Q_OBJECT

public:
    /// `graph` names the constants that `weights` has.
    WeightsDialog(std::shared_ptr<const session::GraphView> graph, std::shared_ptr<session::Weights> weights,
                  QWidget* parent);

    /// Opens it over the window of `page`, or takes the one that is open there for this network.
    static WeightsDialog* showFor(const session::TuningSession& session, QWidget* page, std::int32_t constant);

    void showConstant(std::int32_t constant); ///< TensorView::constant
    /// Its values to a file. Says in the window how it went.
    void save(const QString& file);

private:
    struct Entry
    {
        session::TensorView tensor;
        QString node; ///< that reads it
    };
    void makeWidgets();
    QWidget* makeFigures();
    void collect(const session::GraphView& graph);
    void choose(int index);
    void readStatistics();
    void showStatistics(const session::WeightStatistics& statistics);
    void browseAndSave();
    void copySelected();
    void goTo();
    void retranslate();
    const session::TensorView& tensor() const { return m_entries[static_cast<std::size_t>(m_shown)].tensor; }

    std::shared_ptr<session::Weights> m_weights;
    std::vector<Entry> m_entries;
    int m_shown = -1;
    JobLane m_jobs;
    Job m_counting;
    std::shared_ptr<const session::WeightStatistics> m_statistics;
    WeightValues* m_values = nullptr;
    QComboBox* m_choice = nullptr;
    QLabel *m_what = nullptr, *m_state = nullptr, *m_place = nullptr;
    QFormLayout* m_form = nullptr;
    std::vector<QLabel*> m_figures; ///< minimum, maximum, mean, deviation, zeros, NaN, infinite
    QCheckBox* m_logarithmic = nullptr;
    HistogramView* m_histogram = nullptr;
    QLineEdit* m_goTo = nullptr;
    ValueGrid* m_grid = nullptr;
    QPushButton *m_stop = nullptr, *m_save = nullptr, *m_close = nullptr;
};

} // namespace lathe::ui
