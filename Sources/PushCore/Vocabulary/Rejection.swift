// SPDX-License-Identifier: Apache-2.0

/// A refusal as the server sends it: a rejection reason, and an explanation of this particular case.
public struct Rejection: Error, Equatable, Sendable {
    /// The rejection reason, which determines the HTTP status and the body.
    public var reason: RejectionReason
    /// The problem and its remedy, in printable ASCII without secrets or payload; sent as `posthorn-detail`.
    public var detail: String
    /// The value of `retry-after`, in seconds; nil if the rejection reason implies it.
    public var retryAfterSeconds: Int64?

    /// Creates a rejection.
    ///
    /// - Parameters:
    ///   - reason: The rejection reason.
    ///   - detail: The problem in this case; the reason's advice when nil.
    ///   - retryAfterSeconds: The number of seconds after which a retry can succeed.
    public init(_ reason: RejectionReason, _ detail: String? = nil, retryAfterSeconds: Int64? = nil) {
        self.reason = reason
        self.detail = detail ?? reason.advice
        self.retryAfterSeconds = retryAfterSeconds
    }
}
