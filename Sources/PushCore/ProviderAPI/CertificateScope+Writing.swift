// SPDX-License-Identifier: Apache-2.0

extension CertificateScope {
    /// Creates the scope of a new certificate.
    ///
    /// - Parameters:
    ///   - kind: The kind of certificate, which selects topics of the app.
    ///   - topic: The app's topic, without suffix.
    ///   - environment: The environment; nil for both.
    package init(_ kind: AdminAPI.NewCertificate.Kind, topic: String, environment: Environment?) {
        switch kind {
        case .single: self.init(defaultTopic: topic, topics: [topic], environment: environment)
        case .universal:
            let suffixes = ["", PushType.voip.topicSuffix, PushType.complication.topicSuffix]
            let topics = (suffixes + [PushType.pushtotalk.topicSuffix]).map { topic + $0 }
            self.init(defaultTopic: nil, topics: topics, environment: environment)
        case .voip:
            let voip = topic + PushType.voip.topicSuffix
            self.init(defaultTopic: voip, topics: [voip], environment: environment)
        }
    }

    /// The certificate extensions that express this scope.
    package var extensions: [(identifier: String, content: [UInt8])] {
        var extensions: [(identifier: String, content: [UInt8])] = []
        if environment != .production { extensions.append((CertificateExtension.development, DERWriter.null)) }
        if environment != .development { extensions.append((CertificateExtension.production, DERWriter.null)) }
        guard let defaultTopic else {
            return extensions + [(CertificateExtension.topics, Self.list(topics))]
        }
        let others = topics.filter { !$0.utf8.elementsEqual(defaultTopic.utf8) }
        if !others.isEmpty {
            extensions.append((CertificateExtension.voip, Self.list(others)))
        } else if defaultTopic.endsWith(PushType.voip.topicSuffix) {
            extensions.append((CertificateExtension.voip, Self.list([defaultTopic])))
        }
        return extensions
    }

    private static func list(_ topics: [String]) -> [UInt8] {
        DERWriter.sequence(topics.flatMap { [DERWriter.text($0), DERWriter.sequence([DERWriter.text(kind(of: $0))])] })
    }

    /// Returns Apple's word for the kind of a topic.
    private static func kind(of topic: String) -> String {
        let kinds = [(PushType.voip, "voip"), (.complication, "complication"), (.pushtotalk, "pushtotalk")]
        return kinds.first { topic.endsWith($0.0.topicSuffix) }?.1 ?? "app"
    }
}
