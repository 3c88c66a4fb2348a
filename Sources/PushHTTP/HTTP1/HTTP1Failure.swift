// SPDX-License-Identifier: Apache-2.0

/// The reasons why an HTTP/1.1 request cannot be read; each closes the connection, since the next request cannot be
/// found.
enum HTTP1Failure: Error, Equatable {
    /// The request violates the grammar; the text names the element.
    case malformed(StaticString)
    /// The request line is longer than the limit for all fields together.
    case targetTooLong
    /// The fields, or their bytes, exceed the session's limits.
    case headTooLarge
    /// The request has an `expect` value other than `100-continue`.
    case expectationUnknown
    /// The request line does not say HTTP/1.
    case versionUnsupported

    /// The status code of the answer.
    var status: Int {
        switch self {
        case .malformed: 400
        case .targetTooLong: 414
        case .expectationUnknown: 417
        case .headTooLarge: 431
        case .versionUnsupported: 505
        }
    }

    /// The reason in one line, for the log.
    var reason: String {
        switch self {
        case .malformed(let detail): "malformed HTTP/1.1: \(detail)"
        case .targetTooLong: "the request line is too long"
        case .headTooLarge: "the request has too many fields or too large ones"
        case .expectationUnknown: "the request expects something unknown"
        case .versionUnsupported: "the request is not HTTP/1"
        }
    }

    static func == (left: HTTP1Failure, right: HTTP1Failure) -> Bool { left.reason == right.reason }
}
