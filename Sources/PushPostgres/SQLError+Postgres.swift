// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

extension SQLError.Kind {
    /// Creates the kind of an SQLSTATE.
    ///
    /// The first two characters are the class, as described in PostgreSQL's manual, appendix A.
    ///
    /// - Parameter state: The five characters.
    init(sqlState state: String) {
        switch state {
        case "53100": self = .full
        case "40001", "40P01": self = .conflict
        case "40002": self = .constraint
        case "40003": self = .disconnected
        case "25006": self = .readOnly
        // A message of ours was wrong, so a new connection would not help.
        case "08P01": self = .refused
        case "55P03": self = .busy
        case "22001": self = .tooBig
        case "XX001", "XX002": self = .damaged
        default:
            switch state.prefix(2) {
            case "08": self = .disconnected
            case "23": self = .constraint
            case "54": self = .tooBig
            case "57" where state.hasPrefix("57P"): self = .disconnected
            case "58": self = .inputOutput
            default: self = .refused
            }
        }
    }
}

extension SQLError {
    /// Creates the error of a connection that could not be opened.
    static func unreachable(_ message: String, _ address: PostgresAddress) -> SQLError {
        SQLError(
            kind: .cannotOpen, code: "08001", message: withoutUnsafeAdvice(message), subject: address.description)
    }

    /// Creates the error of a connection that was lost.
    static func lost(_ message: String, about subject: String) -> SQLError {
        SQLError(kind: .disconnected, code: "08006", message: message, subject: subject)
    }

    /// The error of a commit that took place, but perhaps not on a standby.
    static var skippedStandby: SQLError {
        SQLError(
            kind: .disconnected, code: "40003", message: "the commit did not wait for a standby", subject: "COMMIT")
    }
}
