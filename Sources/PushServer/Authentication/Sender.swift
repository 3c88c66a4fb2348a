// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The identity that a provider has proven.
enum Sender {
    case key(TopicDirectory.Signer)
    case certificate(CertificateHolder)

    /// The topic of a request that does not name one.
    var defaultTopic: String? {
        switch self {
        case .key: nil
        case .certificate(let holder): holder.scope.defaultTopic
        }
    }

    /// The ID by which quotas count.
    var id: String {
        switch self {
        case .key(let signer): signer.key.id
        case .certificate(let holder): holder.id
        }
    }

    /// Returns whether the sender may send to an app.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - name: The app's topic as in the request, with the push type's suffix.
    ///   - pushType: The push type; nil means alert.
    /// - Returns: Whether it may.
    func maySend(to app: TopicDirectory.Entry, name: Span<UInt8>, pushType: PushType?) -> Bool {
        switch self {
        case .key: mayManage(app)
        case .certificate(let holder): holder.isOf(app) && holder.scope.allows(topic: name, pushType: pushType)
        }
    }

    /// Returns whether an app, with all its channels, belongs to the sender.
    func mayManage(_ app: TopicDirectory.Entry) -> Bool {
        let name = app.name
        return switch self {
        case .key(let signer):
            signer.key.teamID == app.topic.teamID
                && (signer.topics?.contains { Bytes.areEqual($0.span, name.span) } ?? true)
        case .certificate(let holder):
            holder.isOf(app) && holder.scope.allows(topic: name.span, pushType: nil)
        }
    }

    /// Returns the reason why the sender may not send to an app.
    ///
    /// - Parameters:
    ///   - app: The app; nil if no app has this name.
    ///   - name: The topic as in the request, with the push type's suffix.
    ///   - pushType: The push type of the notification.
    /// - Returns: The text for the sender. About another team's app, it says no more than about a missing app.
    func refusal(of app: TopicDirectory.Entry?, name: String, pushType: PushType) -> String {
        switch self {
        case .key(let signer):
            let key = signer.key
            guard let topic = app?.topic, topic.teamID == key.teamID else {
                return "apns-topic: team \(key.teamID) has no app \(name) for push type \(pushType.rawValue). "
                    + "See posthorn app list."
            }
            return "apns-topic: key \(key.id) is not for \(topic.name). See posthorn key list."
        case .certificate:
            return "apns-topic: this client certificate is not for \(name) with push type \(pushType.rawValue). "
                + "See posthorn certificate list."
        }
    }

    /// The sender in the text of refusals.
    var description: String {
        switch self {
        case .key(let signer): "key \(signer.key.id) of team \(signer.key.teamID)"
        case .certificate: "this client certificate"
        }
    }
}

/// A client certificate that is trusted.
final class CertificateHolder {
    /// The SHA-256 of the certificate.
    let fingerprint: [UInt8]
    /// The fingerprint in hexadecimal digits.
    let id: String
    let scope: CertificateScope
    /// The team that the server's own authority certified; nil for another authority, which may speak for any team.
    let teamID: String?

    init(fingerprint: [UInt8], scope: CertificateScope, teamID: String?) {
        self.fingerprint = fingerprint
        id = Hex.string(fingerprint)
        self.scope = scope
        self.teamID = teamID
    }

    func isOf(_ app: TopicDirectory.Entry) -> Bool { teamID.map { $0 == app.topic.teamID } ?? true }
}
