// SPDX-License-Identifier: Apache-2.0

package import PushCore

extension CertificateScope {
    /// Creates the scope of a new certificate.
    ///
    /// - Parameters:
    ///   - kind: The kind of certificate, which selects topics of the app.
    ///   - topic: The app's topic, without suffix.
    ///   - environment: The environment; nil for both.
    package init(_ kind: CredentialAPI.NewCertificate.Kind, topic: TopicName, environment: Environment?) {
        switch kind {
        case .single: self.init(defaultTopic: topic.text, topics: [topic.text], environment: environment)
        case .universal:
            let suffixes = ["", PushType.voip.topicSuffix, PushType.complication.topicSuffix]
            let topics = (suffixes + [PushType.pushtotalk.topicSuffix]).map { topic.text + $0 }
            self.init(defaultTopic: nil, topics: topics, environment: environment)
        case .voip:
            let voip = topic.text + PushType.voip.topicSuffix
            self.init(defaultTopic: voip, topics: [voip], environment: environment)
        }
    }
}
