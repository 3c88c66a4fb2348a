// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushDBus

/// A CA certificate that the server presents, as `ListAuthorities` returns it.
///
/// The record has no code for `Trust`. Users get the code from the administrator, since the server may be an impostor.
package struct AuthorityRecord: AgentRecord, Sendable, Equatable {
    /// The subject of the certificate.
    package var subject = ""
    /// The end of the certificate's validity; nil if it is unknown.
    package var expiresAt: Timestamp?
    /// Whether this device trusts the certificate as an authority.
    package var isTrusted = false

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        subject = dictionary.text("subject")
        expiresAt = dictionary.secondsIfSet("expires")
        isTrusted = dictionary.flag("trusted")
    }

    package var entries: [(String, BusValue)] {
        [
            ("subject", .entry(subject)),
            ("expires", .entry(secondsOf: expiresAt)),
            ("trusted", .entry(isTrusted)),
        ]
    }
}
