// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// An authority that this device trusts for its server.
package struct TrustedAuthority: Sendable, Equatable {
    /// The certificate in PEM; nil for the authorities of the operating system.
    package var certificate: String?
    /// The time at which the trust ends, in whole seconds; nil for the end of the certificate's validity.
    package var until: Timestamp?
    /// Whether the server answered under the authority's set, so that another set without an answer keeps it.
    package var isConfirmed: Bool

    package init(certificate: String?, until: Timestamp? = nil, isConfirmed: Bool = true) {
        self.certificate = certificate
        self.until = until
        self.isConfirmed = isConfirmed
    }
}

/// The table of the authorities that the server announced, or that the user decided to trust.
package final class AuthorityTable {
    private let select: Statement
    private let insert: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLError) {
        select = try connection.prepare("SELECT certificate, until, is_confirmed FROM authorities ORDER BY certificate")
        insert = try connection.prepare("INSERT OR REPLACE INTO authorities VALUES (?, ?, ?)")
        delete = try connection.prepare("DELETE FROM authorities")
    }

    /// Returns the authorities; empty before the server announced any.
    package func all() throws(SQLError) -> [TrustedAuthority] {
        defer { select.reset() }
        var all: [TrustedAuthority] = []
        while try select.step() {
            let certificate = select.string(0)
            all.append(
                TrustedAuthority(
                    certificate: certificate.isEmpty ? nil : certificate,
                    until: select.optionalInt64(1).map(Timestamp.init(unixSeconds:)),
                    isConfirmed: select.int64(2) != 0))
        }
        return all
    }

    /// Replaces all authorities; call it in a transaction.
    package func replaceAll(_ authorities: [TrustedAuthority]) throws(SQLError) {
        try delete.run()
        for authority in authorities {
            insert.bind(authority.certificate ?? "", at: 1)
            insert.bind(authority.until?.unixSeconds, at: 2)
            insert.bind(authority.isConfirmed ? 1 : 0, at: 3)
            try insert.run()
        }
    }
}
