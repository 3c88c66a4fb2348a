// SPDX-License-Identifier: Apache-2.0

/// The permissions of a provider's client certificate.
///
/// They are read from the subject and Apple's extensions, or written for a new certificate. A certificate has either
/// one topic or a list. The one topic is the subject's UID, and requests need not name it. The list is in
/// `CertificateExtension.topics`, and requests must name one of its topics.
///
/// - SeeAlso: docs/reference/provider-api.md, "Client certificates"
package struct CertificateScope: Sendable, Equatable {
    /// The reason why a certificate has no usable scope.
    package enum Failure: Error, Equatable, Sendable {
        /// The certificate has neither a UID nor a topic extension.
        case namesNoTopic
        /// This extension does not have the format of Apple's extensions.
        case malformedExtension(identifier: String)
    }

    /// The topic of requests that name none: the UID, if there is no topic extension.
    package var defaultTopic: String?
    /// The topics that the certificate may send to, with the push type's suffix if they have one.
    package var topics: [String]
    /// The environment that the certificate is valid for; nil for both.
    package var environment: Environment?

    package init(defaultTopic: String?, topics: [String], environment: Environment?) {
        self.defaultTopic = defaultTopic
        self.topics = topics
        self.environment = environment
    }

    /// Returns whether the certificate may send to a topic.
    ///
    /// Topics are compared as bytes.
    ///
    /// - Parameters:
    ///   - name: The `apns-topic`, with its suffix.
    ///   - pushType: The push type; nil means alert.
    /// - Returns: Whether the topic is allowed; false for `location` and `liveactivity`, which no certificate allows.
    package func allows(topic name: Span<UInt8>, pushType: PushType?) -> Bool {
        let type = pushType ?? .alert
        switch type {
        case .alert, .background, .mdm: return lists(name)
        case .voip: return name.hasSuffix(type.topicSuffix) && lists(name)
        case .complication, .pushtotalk:
            return defaultTopic == nil && name.hasSuffix(type.topicSuffix) && lists(name)
        case .fileprovider, .widgets, .controls:
            // Apple does not list these topics. A certificate with the app as its only topic may send to them.
            guard name.hasSuffix(type.topicSuffix) else { return false }
            let app = name.extracting(first: name.count - type.topicSuffix.utf8.count)
            return lists(name) || defaultTopic.map { app.isEqual(to: $0) } ?? false
        case .location, .liveactivity: return false
        }
    }

    private func lists(_ name: Span<UInt8>) -> Bool { topics.contains { name.isEqual(to: $0) } }
}

/// The object identifiers of Apple's extensions in provider certificates.
enum CertificateExtension {
    /// The certificate is valid for development; the extension's presence is sufficient.
    static let development = "1.2.840.113635.100.6.3.1"
    /// The certificate is valid for production; the extension's presence is sufficient.
    static let production = "1.2.840.113635.100.6.3.2"
    /// The VoIP topics: a list in the format of `topics`, or null for the UID's VoIP topic.
    static let voip = "1.2.840.113635.100.6.3.4"
    /// All topics: `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind }, … }`.
    static let topics = "1.2.840.113635.100.6.3.6"
}

extension String {
    /// Returns whether the bytes of the string end with those of a word.
    func endsWith(_ word: String) -> Bool { utf8.suffix(word.utf8.count).elementsEqual(word.utf8) }
}

extension Span<UInt8> {
    /// Returns whether the bytes end with those of a word that at least one byte precedes.
    fileprivate func hasSuffix(_ word: String) -> Bool {
        let wordByteCount = word.utf8.count
        return count > wordByteCount && extracting(last: wordByteCount).isEqual(to: word)
    }
}
