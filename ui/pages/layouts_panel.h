#pragma once

#include "core/session/layout_part.h"
#include "ui/bridge/jobs.h"

#include <QWidget>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

QT_BEGIN_NAMESPACE
class QAbstractItemModel;
class QComboBox;
class QLabel;
class QPushButton;
class QTabWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class LayoutFigureModel;
class LayoutFunctionModel;
class LayoutTensorModel;
class Rereading;
class TableView;
class Workspace;

/// Beside the network: in which layouts its tensors are written and read, where they are converted and what that costs,
/// and what the whole would cost if a tensor or a function had another layout. Read when it is shown.
class LayoutsPanel final : public QWidget
{
    Q_OBJECT

public:
    LayoutsPanel(Workspace& workspace, QWidget* parent);

    /// How many tensors are converted, and how far the figures are to be trusted.
    static QString notesText(const session::LayoutsView& view);
    /// What wishes change: the total, and the first functions that have other kernels or layouts.
    static QString changeText(const session::WishedLayouts& wished);

    /// What its tables show: under the wishes, where they go together; null: there are no layouts.
    const session::LayoutsView* shown() const;
    /// Of the tensors of shown(), those that wishes change.
    std::vector<std::int32_t> changedTensors() const;

signals:
    void subgraphPicked(int subgraph); ///< NodeView::subgraph
    void shownChanged(); ///< or the language

protected:
    void showEvent(QShowEvent* event) override;

private:
    void makeWidgets();
    TableView* makeTable(const char* name, QAbstractItemModel* model, std::initializer_list<int> widths);
    void makeFigures();
    void connectWidgets();
    void retranslate();
    void forget();
    bool read();
    void take(Result<std::shared_ptr<const session::NetworkLayouts>> read);
    void fill();
    void offerWish();
    void wish();
    void pick();
    /// What is selected: a tensor or a function; nothing: none is.
    std::optional<session::LayoutWish> selected() const;
    QString stateText() const;

    enum class State : std::uint8_t
    {
        Closed, ///< or not read yet
        IsReplay,
        Choosing,
        Measuring,
        Failed,
        NothingToChoose,
        Chosen
    };

    Workspace& m_workspace;
    State m_state = State::Closed;
    std::optional<Error> m_failure; ///< of the latest read
    std::shared_ptr<const session::NetworkLayouts> m_layouts; ///< null: not read yet, or there is nothing to choose
    std::vector<session::LayoutWish> m_wishes;
    std::optional<session::WishedLayouts> m_wished; ///< nothing: there are no wishes, or they do not go together
    bool m_isRefused = false; ///< they do not
    bool m_measures = false; ///< the next read measures conversions
    Rereading* m_reads = nullptr;
    QLabel *m_summary = nullptr, *m_change = nullptr, *m_wishLabel = nullptr;
    QPushButton *m_measure = nullptr, *m_clear = nullptr;
    QComboBox* m_wish = nullptr;
    QWidget* m_details = nullptr;
    QTabWidget* m_tabs = nullptr;
    TableView *m_figures = nullptr, *m_tensors = nullptr, *m_functions = nullptr;
    LayoutFigureModel* m_figureModel = nullptr;
    LayoutTensorModel* m_tensorModel = nullptr;
    LayoutFunctionModel* m_functionModel = nullptr;
    JobLane m_jobs;
    Job m_reading, m_wishing;
};

} // namespace lathe::ui
