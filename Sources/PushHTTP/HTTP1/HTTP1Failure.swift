// SPDX-License-Identifier: Apache-2.0

/// Why an HTTP/1.1 request cannot be read; after each the connection closes, since nobody knows where the next begins.
enum HTTP1Failure: Error, Equatable {
    /// Not what the grammar says; the text says where.
    case malformed(StaticString)
    /// The request line is longer than all fields may be.
    case targetTooLong
    /// More fields, or more bytes of them, than the session takes.
    case headTooLarge
    /// An `expect` that we do not know.
    case expectationUnknown
    /// Not HTTP/1.
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

    /// One line for the log.
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
