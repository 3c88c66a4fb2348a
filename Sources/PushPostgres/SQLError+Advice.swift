// SPDX-License-Identifier: Apache-2.0

package import PushSQL

extension SQLError {
    /// A cause of errors, recognized by the SQLSTATE or by a part of the message.
    ///
    /// libpq has no SQLSTATE for a connection that failed, only the text.
    private struct Cause {
        var states: [String] = []
        var texts: [String] = []
        var advice: String
    }

    private static let causes = [
        Cause(
            texts: ["no password supplied"],
            advice: "Set PGPASSWORD. For the systemd unit, write it into the file that EnvironmentFile= names."),
        Cause(
            states: ["28P01"], texts: ["password authentication failed"],
            advice: "Check PGPASSWORD, and the user in the address."),
        Cause(
            texts: ["root certificate file"],
            advice:
                "Add sslrootcert=FILE to the address, with a CA certificate of PostgreSQL that the server can read."),
        Cause(
            texts: ["certificate verify failed"],
            advice: "Check that sslrootcert in the address names the CA certificate of PostgreSQL."),
        Cause(
            texts: ["does not match host name"], advice: "Write a host name of the certificate into the address."),
        Cause(
            texts: ["no pg_hba.conf entry"],
            advice: "Allow this host in pg_hba.conf, or use TLS with sslmode=verify-full in the address."),
        Cause(
            states: ["25006"], texts: ["session is read-only", "server is in hot standby mode"],
            advice:
                "No reachable server is a primary. Name all servers in the address, and check that the primary runs."),
        Cause(
            states: ["42P05", "26000"],
            advice: "Use the address of PostgreSQL itself, and not that of a connection pool."),
        Cause(
            states: ["42501"], texts: ["permission denied for"],
            advice: "Make the role the owner of the database, with ALTER DATABASE."),
        Cause(states: ["53300"], texts: ["too many clients"], advice: "Raise max_connections of PostgreSQL."),
        Cause(
            texts: ["could not translate host name"], advice: "Check the host names in the address, and the DNS."),
        Cause(
            states: ["3D000"], texts: ["FATAL:  database "],
            advice: "Create the database, or correct its name in the address."),
        Cause(texts: ["FATAL:  role "], advice: "Create the role, or correct the user in the address."),
    ]

    /// The action for an error whose cause is known; nil for others.
    package var advice: String? {
        Self.causes.first { cause in
            cause.states.contains(code) || cause.texts.contains { message.firstRange(of: $0) != nil }
        }?.advice
    }

    /// The message as a sentence, and the action that it requires.
    package var messageWithAdvice: String {
        let isSentence = message.last.map { ".?!".contains($0) } ?? false
        return "\(message)\(isSentence ? "" : ".") \(advice ?? kind.advice)"
    }

    /// Returns a message of libpq without its advice to stop the verification of certificates.
    static func withoutUnsafeAdvice(_ message: String) -> String {
        var (rest, text) = (message[...], "")
        while let start = rest.firstRange(of: " Either provide the file")?.lowerBound,
            let end = rest[start...].firstRange(of: "certificate verification.")?.upperBound
        {
            text += rest[..<start]
            rest = rest[end...]
        }
        return text + rest
    }
}

extension SQLError.Kind {
    /// The action for an error without a known cause.
    fileprivate var advice: String {
        switch self {
        case .cannotOpen, .disconnected: "Check the address, and that the server runs."
        case .full: "Free space on the disk of PostgreSQL."
        case .busy, .conflict: "Try again."
        case .inputOutput, .damaged, .tooBig, .constraint, .readOnly, .refused: "See the log of PostgreSQL."
        }
    }
}
