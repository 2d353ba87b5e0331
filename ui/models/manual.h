#pragma once

#include <QString>
#include <QStringList>

#include <vector>

namespace lathe::ui {

/// The bundled manual: topics in the order in which they are read.
///
/// One Markdown file per language among the resources, manual/<language>.md. A heading of level one or two that ends in
/// {id} begins a topic; those of level two belong to the one of level one before them. Topics link each other as
/// "id.md".
class Manual
{
public:
    struct Topic
    {
        QString id;
        QString title;
        int level = 1;
        QString text; ///< Markdown, with its heading
    };

    /// English where there is none in the language.
    static Manual load(const QString& language);
    static Manual parse(const QString& markdown);

    const std::vector<Topic>& topics() const { return m_topics; }
    const Topic* find(const QString& id) const; ///< null: there is none
    void setText(const QString& id, const QString& text);
    /// Indices of the topics that have all the words, those with the words in the title first.
    std::vector<std::size_t> search(const QString& words) const;

private:
    std::vector<Topic> m_topics;
};

} // namespace lathe::ui
