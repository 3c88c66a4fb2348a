// SPDX-License-Identifier: Apache-2.0

/// The kind of the connection problem in the answer of `GetStatus`, as a stable word from which clients choose a text.
package enum ConnectionProblem: String, CaseIterable, Sendable {
    /// No problem, or a reconnection that the device itself caused.
    case none = ""
    /// The name cannot be resolved, nothing answers, or the answer takes too long.
    case unreachable
    /// The certificate is from an authority that this device does not trust: it is not the server of the enrolment.
    case wrongServer = "wrong-server"
    /// The certificate expired or has another name, or TLS failed in another way.
    case certificate
    /// A setting of `agent.ini` cannot be used: a file, the proxy, or the client certificate.
    case configuration
    /// The disk of this device is full or cannot be written.
    case storage
    /// The file with the device secret is lost.
    case secretLost = "secret-lost"
    /// The server refused the enrolment code of `agent.ini`.
    case enrolmentCode = "enrolment-code"
    /// The server no longer knows this device.
    case removed
    /// The server answered with an error, sent invalid data, or ended the stream.
    case server
}
