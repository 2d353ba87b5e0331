// Words as numbers: counts of n-grams. Operators on strings themselves are only known by name.

#include "core/frontend/onnx/composer.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lathe::frontend::onnx_detail {
namespace {

struct Grams
{
    std::int64_t size = 0; ///< words of each
    Ints words; ///< one n-gram behind the other
    std::int64_t count() const { return static_cast<std::int64_t>(words.size()) / size; }
};

/// The pool by size: ngram_counts tells where the n-grams of each size begin.
Result<std::vector<Grams>> gramsOf(const Ints& starts, const Ints& pool)
{
    std::vector<Grams> grams;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::int64_t begin = starts[i],
                           end = i + 1 < starts.size() ? starts[i + 1] : static_cast<std::int64_t>(pool.size());
        const auto size = static_cast<std::int64_t>(i + 1);
        if (begin < 0 || end < begin || end > static_cast<std::int64_t>(pool.size()) || (end - begin) % size != 0)
            return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "ngram_counts", begin));
        grams.push_back({size, Ints(pool.begin() + begin, pool.begin() + end)});
    }
    return grams;
}

/// How often each n-gram stands in each row of x [rows, length], its words `step` places apart: [rows, n-grams].
ValueId occurrences(Builder& b, Composer& c, ValueId x, const Grams& grams, std::int64_t step)
{
    const std::int64_t rows = c.extent(x, 0), places = c.extent(x, 1) - (grams.size - 1) * step;
    ValueId all;
    for (std::int64_t k = 0; k < grams.size; ++k) {
        Ints words;
        for (std::int64_t g = 0; g < grams.count(); ++g)
            words.push_back(grams.words[static_cast<std::size_t>(g * grams.size + k)]);
        const ValueId there = c.reshape(c.slice(x, 1, k * step, k * step + places), {rows, places, 1});
        const ValueId equal = c.op("equal", {there, b.ints(words)});
        all = all.valid() ? c.op("logical_and", {all, equal}) : equal;
    }
    return c.reduce("sum", c.cast(all, DType::F32), {1}, false);
}

Result<std::vector<ValueId>> convertTfIdfVectorizer(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t shortest, node.integer("min_gram_length", 1));
    LATHE_TRY_ASSIGN(const std::int64_t longest, node.integer("max_gram_length", 1));
    LATHE_TRY_ASSIGN(const std::int64_t skips, node.integer("max_skip_count", 0));
    LATHE_TRY_ASSIGN(const std::string mode, node.text("mode", ""));
    LATHE_TRY_ASSIGN(const Ints starts, node.integers("ngram_counts"));
    LATHE_TRY_ASSIGN(const Ints columns, node.integers("ngram_indexes"));
    LATHE_TRY_ASSIGN(const Ints pool, node.integers("pool_int64s"));
    LATHE_TRY_ASSIGN(const std::vector<double> weights, node.numbers("weights"));
    if (node.has("pool_strings"))
        return makeError(Errc::Unsupported, say(Msg::NeedsAttribute, "pool_strings"));
    LATHE_TRY_ASSIGN(const std::vector<Grams> grams, gramsOf(starts, pool));
    constexpr std::int64_t kMost = 1 << 20;
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "mode", mode.substr(0, 40)));
    std::int64_t width = 0, all = 0;
    for (const std::int64_t column : columns) {
        if (column < 0 || column > kMost)
            return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "ngram_indexes", column));
        width = std::max(width, column + 1);
    }
    for (const Grams& sized : grams)
        all += sized.count();
    if (all != static_cast<std::int64_t>(columns.size()) || width == 0
        || (!weights.empty() && weights.size() != columns.size()))
        return makeError(Errc::BadFile, say(Msg::AttributeEntries, "ngram_indexes", all, columns.size()));
    const bool line = b.rank(x) == 1;
    if (shortest < 1 || longest < shortest || longest > static_cast<std::int64_t>(grams.size()) || skips < 0
        || skips > 1000 || (!line && b.rank(x) != 2))
        return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "max_gram_length", longest));

    Composer c(b);
    x = c.cast(line ? c.reshape(x, {1, b.shape(x)[0]}) : x, DType::I64);
    const std::int64_t rows = c.extent(x, 0), length = c.extent(x, 1);
    std::vector<ValueId> counts;
    Ints owners; // which n-gram of the pool each counted column is
    std::int64_t before = 0;
    for (const Grams& sized : grams) {
        const std::int64_t first = before;
        before += sized.count();
        if (sized.size < shortest || sized.size > longest || sized.count() == 0)
            continue;
        ValueId sum;
        for (std::int64_t step = 1; step <= (sized.size == 1 ? 1 : skips + 1); ++step) {
            if (length - (sized.size - 1) * step < 1)
                break;
            const ValueId one = occurrences(b, c, x, sized, step);
            sum = sum.valid() ? c.add(sum, one) : one;
        }
        if (!sum.valid())
            continue;
        counts.push_back(sum);
        for (std::int64_t g = 0; g < sized.count(); ++g)
            owners.push_back(first + g);
    }
    if (mode != "TF" && !counts.empty()) { // each n-gram has its weight
        std::vector<double> factors;
        for (const std::int64_t owner : owners)
            factors.push_back(weights.empty() ? 1 : weights[static_cast<std::size_t>(owner)]);
        const ValueId joined = c.concat(counts, 1),
                      factor = b.constant(DType::F32, {static_cast<std::int64_t>(factors.size())}, factors);
        const ValueId zero = c.like(joined, 0);
        counts = {mode == "IDF" ? c.where(c.op("greater", {joined, zero}), factor, zero) : c.mul(joined, factor)};
    }
    // Each column of the result takes its n-gram, one after the other where it has several; those without take zeros.
    const auto none = static_cast<std::int64_t>(owners.size());
    counts.push_back(c.broadcast(b.scalar(DType::F32, 0), {rows, 1}));
    const ValueId counted = c.concat(counts, 1);
    std::vector<Ints> sources(static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < owners.size(); ++i)
        sources[static_cast<std::size_t>(columns[static_cast<std::size_t>(owners[i])])].push_back(
            static_cast<std::int64_t>(i));
    std::size_t most = 1;
    for (const Ints& own : sources)
        most = std::max(most, own.size());
    ValueId y;
    for (std::size_t round = 0; round < most; ++round) {
        LATHE_TRY(b.charge(width * std::int64_t{sizeof(std::int64_t)})); // a file says how many n-grams share a column
        Ints picks;
        for (const Ints& own : sources)
            picks.push_back(round < own.size() ? own[round] : none);
        const ValueId part = c.take(counted, picks, 1);
        y = y.valid() ? c.add(y, part) : part;
    }
    return c.finish({c.reshape(y, line ? Ints{width} : Ints{rows, width})});
}

} // namespace

bool worksOnStrings(std::string_view op)
{
    static constexpr std::array<std::string_view, 6> kOperators = {
        "LabelEncoder", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "CategoryMapper"};
    return std::ranges::find(kOperators, op) != kOperators.end();
}

std::span<const ConverterEntry> textConverters()
{
    static constexpr ConverterEntry kTable[] = {{"TfIdfVectorizer", convertTfIdfVectorizer}};
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
