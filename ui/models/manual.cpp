#include "ui/models/manual.h"

#include <QFile>
#include <QRegularExpression>

#include <algorithm>

namespace lathe::ui {

Manual Manual::load(const QString& language)
{
    for (const QString& name : {language, QStringLiteral("en")}) {
        QFile file(QStringLiteral(":/manual/%1.md").arg(name));
        if (file.open(QIODevice::ReadOnly))
            return parse(QString::fromUtf8(file.readAll()));
    }
    return {};
}

Manual Manual::parse(const QString& markdown)
{
    static const QRegularExpression heading(QStringLiteral("^(#{1,2}) (.+) \\{([a-z-]+)\\}$"));
    Manual manual;
    for (const QString& line : markdown.split(QLatin1Char('\n'))) {
        if (const auto match = heading.match(line); match.hasMatch())
            manual.m_topics.push_back({match.captured(3), match.captured(2), static_cast<int>(match.capturedLength(1)),
                                       QStringLiteral("# ") + match.captured(2) + QLatin1Char('\n')});
        else if (!manual.m_topics.empty())
            manual.m_topics.back().text += line + QLatin1Char('\n');
    }
    return manual;
}

const Manual::Topic* Manual::find(const QString& id) const
{
    const auto found = std::find_if(m_topics.begin(), m_topics.end(),
                                    [&](const Topic& topic) { return topic.id == id; });
    return found == m_topics.end() ? nullptr : &*found;
}

void Manual::setText(const QString& id, const QString& text)
{
    for (Topic& topic : m_topics)
        if (topic.id == id)
            topic.text = QStringLiteral("# ") + topic.title + QStringLiteral("\n\n") + text;
}

std::vector<std::size_t> Manual::search(const QString& words) const
{
    static const QRegularExpression space(QStringLiteral("\\s+"));
    const QStringList wanted = words.split(space, Qt::SkipEmptyParts);
    std::vector<std::size_t> inTitle, inText;
    if (wanted.isEmpty())
        return {};
    const auto all = [&wanted](const QString& text) {
        return std::all_of(wanted.begin(), wanted.end(),
                           [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
    };
    for (std::size_t i = 0; i < m_topics.size(); ++i) {
        if (all(m_topics[i].title))
            inTitle.push_back(i);
        else if (all(m_topics[i].text))
            inText.push_back(i);
    }
    inTitle.insert(inTitle.end(), inText.begin(), inText.end());
    return inTitle;
}

} // namespace lathe::ui
