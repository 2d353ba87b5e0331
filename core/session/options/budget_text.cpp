#include "core/session/options/budget_text.h"

#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <vector>

namespace lathe::session {

namespace {

constexpr double kDay = 86400, kMostSeconds = 1e9, kMostTrials = 1e12;

/// A number or a word; punctuation but ':' and '%' only separates. Chinese runs are words of their own.
struct Token
{
    enum class Kind : std::uint8_t
    {
        Number,
        Word,
        Colon,
        Percent
    };
    Kind kind = Kind::Word;
    double number = 0;
    std::string word;
};

void replaceAll(std::string& text, std::string_view from, std::string_view to)
{
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Lower case, ASCII punctuation, Chinese words of the trade in English with spaces around them.
std::string normalized(std::string_view text)
{
    static constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"：", ":"},
                                                                               {"，", ","},
                                                                               {"、", ","},
                                                                               {"％", "%"},
                                                                               {"或者", ","},
                                                                               {"或", ","},
                                                                               {"小时", " hour "},
                                                                               {"分钟", " min "},
                                                                               {"秒钟", " s "},
                                                                               {"秒", " s "},
                                                                               {"次试验", " trials "},
                                                                               {"个试验", " trials "},
                                                                               {"试验", " trials "},
                                                                               {"次", " trials "},
                                                                               {"直到", " until "},
                                                                               {"最近", " last "},
                                                                               {"过去", " last "},
                                                                               {"不到", " under "},
                                                                               {"低于", " under "},
                                                                               {"少于", " under "},
                                                                               {"小于", " under "},
                                                                               {"提升", " gained "},
                                                                               {"收益", " gained "},
                                                                               {"变快", " gained "},
                                                                               {"改进", " gained "},
                                                                               {"为止", " "},
                                                                               {"一 hour", " 1 hour"},
                                                                               {"一个 hour", " 1 hour"},
                                                                               {"个 hour", " hour"},
                                                                               {"半 hour", " 0.5 hour"},
                                                                               {"一 min", " 1 min"},
                                                                               {"到", " until "},
                                                                               {"至", " until "},
                                                                               {"时", " hour "},
                                                                               {"分", " min "},
                                                                               {"的", " "}};
    std::string out(text);
    for (const auto& [chinese, english] : kWords)
        replaceAll(out, chinese, english);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
        return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
    });
    replaceAll(out, " or ", ",");
    return out;
}

std::vector<Token> tokens(std::string_view text)
{
    std::vector<Token> found;
    for (std::size_t at = 0; at < text.size();) {
        const auto c = static_cast<unsigned char>(text[at]);
        if (std::isdigit(c) != 0
            || (c == '.' && at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0)) {
            double number = 0;
            const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number,
                                                      std::chars_format::fixed);
            if (error != std::errc())
                number = -1;
            at = static_cast<std::size_t>(end - text.data());
            found.push_back({Token::Kind::Number, number, {}});
        } else if (c == ':' || c == '%') {
            found.push_back({c == ':' ? Token::Kind::Colon : Token::Kind::Percent, 0, {}});
            ++at;
        } else if (std::isalpha(c) != 0 || c >= 0x80) {
            const std::size_t begin = at;
            while (at < text.size()
                   && (std::isalpha(static_cast<unsigned char>(text[at])) != 0
                       || static_cast<unsigned char>(text[at]) >= 0x80))
                ++at;
            found.push_back({Token::Kind::Word, 0, std::string(text.substr(begin, at - begin))});
        } else if (c == '-') {
            found.push_back({Token::Kind::Word, 0, "-"});
            ++at;
        } else {
            ++at;
        }
    }
    return found;
}

/// Seconds in one; 0: no unit of time.
double unit(const std::string& word)
{
    if (word == "s" || word == "sec" || word == "secs" || word == "second" || word == "seconds")
        return 1;
    if (word == "m" || word == "min" || word == "mins" || word == "minute" || word == "minutes")
        return 60;
    if (word == "h" || word == "hr" || word == "hrs" || word == "hour" || word == "hours")
        return 3600;
    return word == "d" || word == "day" || word == "days" ? kDay : 0;
}

bool anyOf(const Token& token, std::initializer_list<std::string_view> words)
{
    return token.kind == Token::Kind::Word && std::find(words.begin(), words.end(), token.word) != words.end();
}

/// "until the last hour gained under 0.1 %"
bool readGain(const std::vector<Token>& part, TuneOptions& options)
{
    double window = 0, percent = -1;
    bool gained = false;
    for (std::size_t i = 0; i < part.size(); ++i) {
        const bool number = part[i].kind == Token::Kind::Number;
        if (number && i + 1 < part.size() && part[i + 1].kind == Token::Kind::Percent) {
            percent = part[i].number;
            ++i;
        } else if (number && i + 1 < part.size() && unit(part[i + 1].word) > 0) {
            window = part[i].number * unit(part[i + 1].word);
            ++i;
        } else if (part[i].kind == Token::Kind::Word && unit(part[i].word) > 0 && window == 0) {
            window = unit(part[i].word); // "the last hour"
        } else if (anyOf(part[i], {"gained", "gain", "gains", "improved", "improves"})) {
            gained = true;
        } else if (!anyOf(part[i], {"until", "till", "the", "last", "past", "under", "below", "less", "than", "is",
                                    "was", "by", "in"})) {
            return false;
        }
    }
    if (!gained || !(percent > 0 && percent < 100) || !(window >= 1 && window < kMostSeconds))
        return false;
    options.minGainPercent = percent;
    options.gainWindowSeconds = window;
    return true;
}

/// "until 18:00": the next time that the clock shows it.
bool readClock(const std::vector<Token>& part, std::chrono::seconds now, TuneOptions& options)
{
    using Kind = Token::Kind;
    const std::size_t first = !part.empty() && anyOf(part[0], {"until", "till", "til"}) ? 1 : 0;
    double hours = -1, minutes = 0;
    if (part.size() == first + 3 && part[first].kind == Kind::Number && part[first + 1].kind == Kind::Colon
        && part[first + 2].kind == Kind::Number) {
        hours = part[first].number;
        minutes = part[first + 2].number;
    } else if (first == 1 && part.size() == 3 && part[1].kind == Kind::Number && unit(part[2].word) == 3600) {
        hours = part[1].number; // "到 18 时"
    }
    const bool whole = hours == std::floor(hours) && minutes == std::floor(minutes);
    if (!whole || hours < 0 || hours > 24 || minutes < 0 || minutes >= 60 || hours * 60 + minutes > 24 * 60)
        return false;
    const double left = hours * 3600 + minutes * 60 - static_cast<double>(now.count());
    options.seconds = left > 0 ? left : left + kDay;
    return true;
}

bool readAmount(const std::vector<Token>& part, TuneOptions& options)
{
    if (part.empty() || part[0].kind != Token::Kind::Number || part[0].number <= 0)
        return false;
    if (part.size() == 2 && anyOf(part[1], {"trial", "trials"}) && part[0].number <= kMostTrials
        && part[0].number == std::floor(part[0].number)) {
        options.trials = static_cast<std::int64_t>(part[0].number);
        return true;
    }
    double seconds = 0;
    if (part.size() == 1)
        seconds = part[0].number * 60;
    // "1 h 30 min"
    for (std::size_t i = 0; part.size() % 2 == 0 && i < part.size(); i += 2) {
        if (part[i].kind != Token::Kind::Number || part[i + 1].kind != Token::Kind::Word || unit(part[i + 1].word) == 0)
            return false;
        seconds += part[i].number * unit(part[i + 1].word);
    }
    if (!(seconds > 0) || seconds > kMostSeconds)
        return false;
    options.seconds = seconds;
    return true;
}

} // namespace

Result<> applyBudget(std::string_view text, std::chrono::seconds sinceMidnight, TuneOptions& options)
{
    TuneOptions set = options;
    set.seconds = set.minGainPercent = 0;
    set.trials = 0;
    bool any = false;
    std::string rest = normalized(text);
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find_first_of(",;"), rest.size());
        const std::string part = rest.substr(0, comma);
        rest.erase(0, comma + 1);
        const std::vector<Token> words = tokens(part);
        if (words.empty())
            continue;
        any = true;
        const bool gain = std::any_of(words.begin(), words.end(),
                                      [](const Token& t) { return t.kind == Token::Kind::Percent; });
        if (gain ? !readGain(words, set) : !readClock(words, sinceMidnight, set) && !readAmount(words, set))
            return makeError(Errc::InvalidArgument, say(Msg::NoBudgetText, text));
    }
    if (!any)
        return makeError(Errc::InvalidArgument, say(Msg::SayHowLong));
    options = set;
    return {};
}

std::chrono::seconds localTime()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    return std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) + std::chrono::seconds(parts.tm_sec);
}

} // namespace lathe::session
