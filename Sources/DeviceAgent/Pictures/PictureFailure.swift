// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushNet

/// The reason why a notification has no picture, as a phrase that follows `attachment-url` and a colon.
struct PictureFailure: Error, Sendable, Equatable {
    var phrase: String

    init(_ phrase: String) { self.phrase = phrase }

    /// Creates a failure with a usual reason.
    ///
    /// - Parameters:
    ///   - problem: The beginning of the phrase.
    ///   - rest: The rest of it; empty for none.
    init(_ problem: PictureProblem, _ rest: String = "") {
        phrase = rest.isEmpty ? problem.rawValue : "\(problem.rawValue) \(rest)"
    }

    /// Creates the failure of a picture that the decoder refused.
    init(_ refusal: PictureRefusal) { phrase = refusal.phrase }

    /// Creates the failure of a host that the app does not name.
    static func hostNotNamed(_ host: String) -> PictureFailure {
        PictureFailure(.hostNotNamed, "\(host) in picture_hosts")
    }
}

/// The time at which a picture must be ready: after all redirects, and after both processes.
struct PictureDeadline: Sendable {
    private let limit: Duration
    private let time: MonotonicTime

    /// Creates a deadline.
    ///
    /// - Parameter limit: The time that is left for everything, from now on.
    init(after limit: Duration) {
        self.limit = limit
        time = MonotonicTime.now.advanced(by: limit)
    }

    /// The failure of a picture that is not ready in time.
    var failure: PictureFailure { PictureFailure(.late, "\(limit)") }

    /// Returns the time that is left, which is positive.
    ///
    /// - Returns: The time, of at least a millisecond, which is libcurl's unit.
    /// - Throws: `failure` if the time is over.
    func rest() throws(PictureFailure) -> Duration {
        let rest = time.duration(since: .now)
        guard rest >= .milliseconds(1) else { throw failure }
        return rest
    }
}
