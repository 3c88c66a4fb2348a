// SPDX-License-Identifier: Apache-2.0

/// What a provider's client certificate may do: read from its subject and Apple's extensions, or written for a new one.
///
/// A certificate has either one topic, its subject's UID, which requests need not name, or a list of topics
/// (`CertificateExtension.topics`), of which they must name one.
///
/// - SeeAlso: docs/reference/provider-api.md, "Client certificates"
package struct CertificateScope: Sendable, Equatable {
    /// Why a certificate says nothing that we understand.
    package enum Failure: Error, Equatable, Sendable {
        /// Neither UID nor a topic extension.
        case namesNoTopic
        /// This extension is not what Apple's are.
        case malformedExtension(identifier: String)
    }

    /// The topic of a request that names none: the UID, where there is no topic extension.
    package var defaultTopic: String?
    /// Topics that it may send to, with the push type's suffix where they have one.
    package var topics: [String]
    /// The environment that it is for; nil for both.
    package var environment: Environment?

    /// Joins the parts.
    package init(defaultTopic: String?, topics: [String], environment: Environment?) {
        self.defaultTopic = defaultTopic
        self.topics = topics
        self.environment = environment
    }

    /// Whether it may send to a topic.
    ///
    /// Bytes are compared, with those of each listed topic.
    ///
    /// - Parameters:
    ///   - name: `apns-topic`, with its suffix.
    ///   - pushType: nil means alert.
    /// - Returns: False for `location` and `liveactivity` too, which no certificate allows.
    package func allows(topic name: Span<UInt8>, pushType: PushType?) -> Bool {
        let type = pushType ?? .alert
        switch type {
        case .alert, .background, .mdm: return lists(name)
        case .voip: return name.hasSuffix(type.topicSuffix) && lists(name)
        case .complication, .pushtotalk:
            return defaultTopic == nil && name.hasSuffix(type.topicSuffix) && lists(name)
        case .fileprovider, .widgets, .controls:
            // Apple lists no such topics: who has the app as its one topic may send these.
            guard name.hasSuffix(type.topicSuffix) else { return false }
            let app = name.extracting(first: name.count - type.topicSuffix.utf8.count)
            return lists(name) || defaultTopic.map { app.isEqual(to: $0) } ?? false
        case .location, .liveactivity: return false
        }
    }

    private func lists(_ name: Span<UInt8>) -> Bool { topics.contains { name.isEqual(to: $0) } }
}

/// Apple's extensions of provider certificates, by object identifier.
package enum CertificateExtension {
    /// For development; that it is there says it.
    package static let development = "1.2.840.113635.100.6.3.1"
    /// For production; that it is there says it.
    package static let production = "1.2.840.113635.100.6.3.2"
    /// VoIP topics: a list like that of `topics`, or null for that of the UID.
    package static let voip = "1.2.840.113635.100.6.3.4"
    /// All topics: `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind }, … }`.
    package static let topics = "1.2.840.113635.100.6.3.6"
}

extension String {
    /// Whether its bytes end with those of a word.
    func endsWith(_ word: String) -> Bool { utf8.suffix(word.utf8.count).elementsEqual(word.utf8) }
}

extension Span<UInt8> {
    /// Whether the bytes end with those of a word, and there are others before them.
    fileprivate func hasSuffix(_ word: String) -> Bool {
        let wordByteCount = word.utf8.count
        return count > wordByteCount && extracting(last: wordByteCount).isEqual(to: word)
    }
}
