// SPDX-License-Identifier: Apache-2.0

extension CertificateScope {
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
