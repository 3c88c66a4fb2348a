// SPDX-License-Identifier: Apache-2.0

/// The readiness of the open request for a switch to another protocol.
package enum UpgradeReadiness: Sendable {
    /// The request is complete and has no body.
    case ready
    /// A body was announced or sent, or the request has not ended: its bytes cannot be distinguished from the next
    /// protocol.
    case hasBody
    /// No switch is possible: HTTP/1.0 and HTTP/2 do not have it, and a request that has ended or was answered gets
    /// none.
    case unavailable
}
