// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushCurl

/// The reason why the agent is not connected: a kind, from which clients choose a text, and the error.
struct ConnectionFailure: Sendable, Equatable {
    var problem: ConnectionProblem
    /// The error in English, for details and the log.
    var text: String

    init(_ problem: ConnectionProblem, _ text: String) {
        self.problem = problem
        self.text = text
    }

    /// Classifies libcurl's error of a connection to the server of the enrolment.
    init(_ error: CurlError) { self.init(ConnectionProblem(error.kind), error.messageWithAdvice) }
}

extension ConnectionProblem {
    fileprivate init(_ kind: CurlError.Kind) {
        self =
            switch kind {
            case .unknownAuthority: .wrongServer
            case .tls: .certificate
            case .authorityFile, .certificateFile, .clientCertificateRequired, .clientCertificateRefused,
                .handshakeRefused, .proxyAuthentication, .proxyRefusal, .resolveProxy:
                .configuration
            case .resolve, .connect, .timeout, .interrupted, .other: .unreachable
            }
    }
}
