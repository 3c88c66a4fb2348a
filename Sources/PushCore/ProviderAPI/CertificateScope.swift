// SPDX-License-Identifier: Apache-2.0

/// What a provider's client certificate may do: read from its subject and Apple's extensions, or written for a new one.
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

    /// Reads a certificate.
    ///
    /// - Parameters:
    ///   - userID: The subject's UID.
    ///   - extensions: The DER of each extension by object identifier in dots.
    package init(userID: String?, extensions: [String: [UInt8]]) throws(Failure) { preconditionFailure("unwritten") }

    /// Whether it may send to a topic.
    ///
    /// - Parameters:
    ///   - name: `apns-topic`, with its suffix.
    ///   - pushType: nil means alert.
    package func allows(topic name: Span<UInt8>, pushType: PushType?) -> Bool { preconditionFailure("unwritten") }

    /// The extensions that a new certificate needs to say this.
    package var extensions: [(identifier: String, content: [UInt8])] { preconditionFailure("unwritten") }
}
