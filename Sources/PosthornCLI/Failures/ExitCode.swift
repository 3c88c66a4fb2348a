// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit

/// The exit codes of `posthorn`; this enum is the only list of them.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case ok = 0
    case refused = 1
    case usage = 2
    case unreachable = 3
    case notFound = 4
    case notPermitted = 5
    case tryLater = 6

    /// The meaning of the exit code, in one sentence.
    var meaning: String {
        switch self {
        case .ok: "Success; for send: the server accepted the notification."
        case .refused: "Refused or failed; the error message has the reason."
        case .usage: "Usage error."
        case .unreachable: "Cannot connect to the server or the agent."
        case .notFound: "Not found: the object does not exist or was removed."
        case .notPermitted: "Permission denied: file mode, owner of the socket, or signing key."
        case .tryLater: "Temporarily refused; try again later."
        }
    }

    /// The stable word for this exit code in the JSON of a failure.
    var word: String {
        switch self {
        case .ok: "ok"
        case .refused: "refused"
        case .usage: "usage"
        case .unreachable: "unreachable"
        case .notFound: "not_found"
        case .notPermitted: "not_permitted"
        case .tryLater: "try_later"
        }
    }

    /// The rows of `--help` about exit codes.
    static var explanations: [Explanation] {
        allCases.map { Explanation(String($0.rawValue), $0.meaning) }
    }
}
