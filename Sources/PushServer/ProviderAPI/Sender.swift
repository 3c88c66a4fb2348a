// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// Who sends: what a provider has proved itself to be.
enum Sender {
    case key(TopicDirectory.Signer)
    case certificate(CertificateHolder)

    /// The topic of a request that names none.
    var defaultTopic: String? {
        switch self {
        case .key: nil
        case .certificate(let holder): holder.scope.defaultTopic
        }
    }

    /// What quotas know it by.
    var id: String {
        switch self {
        case .key(let signer): signer.key.id
        case .certificate(let holder): holder.id
        }
    }

    /// Whether it may send to an app.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - name: The app's topic as the request has it, with the push type's suffix.
    ///   - pushType: nil means alert.
    /// - Returns: Whether it may.
    func maySend(to app: TopicDirectory.Entry, name: Span<UInt8>, pushType: PushType?) -> Bool {
        switch self {
        case .key: mayManage(app)
        case .certificate(let holder): holder.isOf(app) && holder.scope.allows(topic: name, pushType: pushType)
        }
    }

    /// Whether an app, with all its channels, is the sender's.
    func mayManage(_ app: TopicDirectory.Entry) -> Bool {
        switch self {
        case .key(let signer):
            signer.key.teamID == app.topic.teamID && (signer.key.topics?.contains(app.topic.name) ?? true)
        case .certificate(let holder):
            holder.isOf(app) && holder.scope.allows(topic: Array(app.topic.name.utf8).span, pushType: nil)
        }
    }

    /// Why it may not send to an app.
    ///
    /// - Parameters:
    ///   - app: The app; nil when there is none of this name.
    ///   - name: The topic as the request has it, with the push type's suffix.
    ///   - pushType: What is sent.
    /// - Returns: What to say; of another team's app no more than of none.
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

    /// For refusals.
    var description: String {
        switch self {
        case .key(let signer): "key \(signer.key.id) of team \(signer.key.teamID)"
        case .certificate: "this client certificate"
        }
    }
}

/// A client certificate that is believed.
final class CertificateHolder {
    /// SHA-256.
    let fingerprint: [UInt8]
    /// The same in hexadecimal digits.
    let id: String
    let scope: CertificateScope
    /// The team that our own authority wrote into it; nil for another authority's, which may speak for any.
    let teamID: String?

    init(fingerprint: [UInt8], scope: CertificateScope, teamID: String?) {
        self.fingerprint = fingerprint
        id = Hex.string(fingerprint)
        self.scope = scope
        self.teamID = teamID
    }

    func isOf(_ app: TopicDirectory.Entry) -> Bool { teamID.map { $0 == app.topic.teamID } ?? true }
}
