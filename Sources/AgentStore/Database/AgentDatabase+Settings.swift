// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL

extension AgentDatabase {
    /// Returns the topics of apps for which nothing at all is allowed.
    package func refusedTopics() throws(SQLError) -> [TopicName] {
        var topics: [TopicName] = []
        for app in try apps.all() where try settings.settings(of: app).refusesAll { topics.append(app.topic) }
        return topics
    }
}
