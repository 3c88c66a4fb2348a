// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What `posthorn` ends with: the only list of it.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case ok = 0
    case refused = 1
    case usage = 2
    case unreachable = 3
    case notFound = 4
    case notPermitted = 5
    case tryLater = 6

    /// When it ends so, one phrase.
    package var meaning: String {
        switch self {
        case .ok: "Done; for send: the server accepted the notification."
        case .refused: "Refused or failed; the message says why."
        case .usage: "The command line makes no sense."
        case .unreachable: "The server or the agent could not be reached."
        case .notFound: "What was named does not exist, or no longer."
        case .notPermitted: "Not permitted: file modes, the socket's owner, or the signing key."
        case .tryLater: "Refused for now; the same command may work later."
        }
    }

    /// Its word in the JSON of a failure; it stays what it is.
    package var word: String {
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

    /// The rows of `--help`.
    package static var explanations: [Explanation] {
        allCases.map { Explanation(String($0.rawValue), $0.meaning) }
    }
}
