// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The certificates with which a node connects to others: renewed each day, and replaced with those of another authority.
struct LinkCertificates {
    /// The time between two renewals in seconds: a day.
    private static let renewalSeconds: Int64 = 86_400

    private let configured: LinkConfiguration
    private let instance: InstanceID
    private var due: MonotonicTime
    let links: NodeLinks

    /// Opens the links with a first certificate.
    init(_ configured: LinkConfiguration, _ instance: InstanceID, on loop: EventLoop) throws {
        self.configured = configured
        self.instance = instance
        links = try NodeLinks(
            instance, try configured.currentAuthority.issueCredentials(for: instance.node),
            accepted: configured.accepted, on: loop, log: configured.log)
        due = MonotonicTime.now.advanced(bySeconds: Self.renewalSeconds)
    }

    /// Renews the certificate if a day has passed.
    mutating func renewIfDue() {
        guard due <= .now else { return }
        due = MonotonicTime.now.advanced(bySeconds: Self.renewalSeconds)
        // If it fails, the former certificate is valid for some more days.
        if let credentials = try? configured.currentAuthority.issueCredentials(for: instance.node) {
            try? links.renew(credentials)
        }
    }

    /// Connects again, with a certificate of another authority.
    func replace() {
        guard let credentials = try? configured.currentAuthority.issueCredentials(for: instance.node) else { return }
        try? links.replace(credentials)
    }
}
