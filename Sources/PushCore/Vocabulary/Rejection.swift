// SPDX-License-Identifier: Apache-2.0

/// A refusal as it goes out: the catalogue's reason, and what a person should know about this case.
public struct Rejection: Error, Equatable, Sendable {
    /// Gives status and body.
    public var reason: RejectionReason
    /// What is wrong and what to do, in printable ASCII, without secret or payload; goes out as `posthorn-detail`.
    public var detail: String
    /// When sending again can help, for `retry-after`; nil where the reason says it.
    public var retryAfterSeconds: Int64?

    /// Refuses.
    ///
    /// - Parameters:
    ///   - reason: The catalogue's reason.
    ///   - detail: What is wrong here; the reason's advice when nil.
    ///   - retryAfterSeconds: When sending again can help.
    public init(_ reason: RejectionReason, _ detail: String? = nil, retryAfterSeconds: Int64? = nil) {
        self.reason = reason
        self.detail = detail ?? reason.advice
        self.retryAfterSeconds = retryAfterSeconds
    }
}
