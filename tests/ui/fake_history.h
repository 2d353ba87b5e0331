#pragma once

#include "core/session/history.h"

#include <algorithm>
#include <atomic>

/// A history made up by formula: row i (from 1) is a trial of task i % 3; every tenth failed.
class FakeHistory final : public lathe::session::History
{
public:
    using TrialQuery = lathe::session::TrialQuery;
    explicit FakeHistory(std::shared_ptr<std::atomic<std::int64_t>> count)
        : m_count(std::move(count))
    {
    }

    static bool failed(std::int64_t row) { return row % 10 == 0; }
    static double cost(std::int64_t row) { return 1.0 + static_cast<double>(row * 7919 % 1000) / 1000; }

    std::unique_ptr<History> again() const override { return std::make_unique<FakeHistory>(m_count); }
    lathe::Result<std::vector<std::int64_t>> find(const TrialQuery& query, std::stop_token) override
    {
        if (query.text == "broken")
            return lathe::makeError(lathe::Errc::StoreFailed, "the disk is gone");
        std::vector<std::int64_t> rows;
        for (std::int64_t row = query.afterRow + 1; row <= *m_count; ++row)
            if ((query.task < 0 || row % 3 == query.task) && (query.code != "failed" || failed(row)))
                rows.push_back(row);
        if (query.order == TrialQuery::Order::Latency)
            std::stable_sort(rows.begin(), rows.end(),
                             [](auto a, auto b) { return failed(a) != failed(b) ? failed(b) : cost(a) < cost(b); });
        if (query.descending)
            std::reverse(rows.begin(), rows.end());
        return rows;
    }
    lathe::Result<std::vector<lathe::session::TrialRow>> rows(std::span<const std::int64_t> rows) override
    {
        std::vector<lathe::session::TrialRow> views;
        for (const std::int64_t row : rows) {
            lathe::session::TrialRow view;
            view.row = row;
            view.trial = "0123456789abcdef" + std::to_string(row);
            view.task = static_cast<std::int32_t>(row % 3);
            view.code = failed(row) ? "RunTimeout" : "Ok";
            view.stage = failed(row) ? "run" : "done";
            view.text = failed(row) ? "took 10 s" : "";
            view.costMs = failed(row) ? lathe::session::kUnknown : cost(row);
            views.push_back(view);
        }
        return views;
    }
    lathe::Result<lathe::session::TrialDetail> detail(std::int64_t) override
    {
        return lathe::makeError(lathe::Errc::NotFound, "none");
    }
    lathe::Result<lathe::session::TrialPoints> points(const TrialQuery& query, lathe::session::TrialAxis,
                                                      lathe::session::TrialAxis, std::stop_token stop) override
    {
        auto found = find(query, stop);
        if (!found)
            return std::move(found).error();
        lathe::session::TrialPoints points;
        for (const std::int64_t row : *found) {
            points.x.push_back(static_cast<double>(row));
            points.y.push_back(cost(row));
            points.rows.push_back(row);
        }
        return points;
    }
    lathe::Result<std::int64_t> rowOf(const std::string&) override
    {
        return lathe::makeError(lathe::Errc::NotFound, "none");
    }
    lathe::Result<std::string> projectNote() override { return std::string(); }
    lathe::Result<lathe::session::Listing> listing(std::int64_t, const std::string&) override
    {
        return lathe::session::Listing();
    }
    lathe::Result<lathe::session::TemplateHistory> templateTrials(std::int32_t, std::stop_token) override
    {
        return lathe::session::TemplateHistory();
    }
    lathe::Result<std::vector<lathe::session::FailureView>> failures(std::stop_token) override
    {
        return std::vector<lathe::session::FailureView>();
    }
    lathe::Result<std::vector<lathe::session::RunView>> runs() override
    {
        return std::vector<lathe::session::RunView>();
    }
    lathe::Result<std::vector<lathe::session::Check>> checks() override { return std::vector<lathe::session::Check>(); }
    lathe::Result<std::vector<lathe::session::RoundView>> rounds(std::int64_t) override
    {
        return std::vector<lathe::session::RoundView>();
    }
    lathe::Result<std::vector<lathe::session::QualityView>> quality(std::int64_t, std::int32_t,
                                                                    std::stop_token) override
    {
        return std::vector<lathe::session::QualityView>();
    }
    lathe::Result<> write(std::span<const std::int64_t>, const std::filesystem::path&, lathe::session::TrialFile,
                          std::stop_token) override
    {
        return {};
    }

private:
    std::shared_ptr<std::atomic<std::int64_t>> m_count;
};
