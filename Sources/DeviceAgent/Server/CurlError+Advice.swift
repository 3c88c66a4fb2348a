// SPDX-License-Identifier: Apache-2.0

internal import PushCurl

extension CurlError {
    /// The message, preceded by advice for the user if the cause is known.
    var messageWithAdvice: String {
        let message = Self.withoutDuration(message)
        return remedy.map { "\($0) (\(message))" } ?? message
    }

    /// The advice for the user; libcurl's message names the file or the host.
    private var remedy: String? {
        switch kind {
        case .authorityFile: "the CA file (ca_file) cannot be used: check its path and content"
        case .certificateFile:
            "this device's certificate or its key cannot be used: see client_cert and client_key in agent.ini"
        case .clientCertificateRequired:
            "the server requires a client certificate: set client_cert and client_key in agent.ini"
        case .clientCertificateRefused:
            "the server does not accept this device's certificate: see client_cert in agent.ini"
        case .handshakeRefused:
            "the server rejected the TLS handshake: check client_cert in agent.ini"
        case .proxyAuthentication:
            "the proxy requires authentication: set proxy in agent.ini to http://USER:PASSWORD@HOST:PORT"
        case .proxyRefusal: "the proxy refuses to connect to the server"
        case .resolveProxy: "the proxy's host name cannot be resolved: check proxy in agent.ini"
        case .resolve, .connect, .unknownAuthority, .tls, .timeout, .interrupted, .other: nil
        }
    }

    /// Removes `after 0 ms`, which is not part of the cause and differs each time.
    private static func withoutDuration(_ message: String) -> String {
        var words = message.split(separator: " ")
        guard let place = words.firstIndex(of: "after"), place > 0, words.count > place + 2,
            Int(words[place + 1]) != nil, words[place + 2] == "ms:"
        else { return message }
        words[place - 1] += ":"
        words.removeSubrange(place...place + 2)
        return words.joined(separator: " ")
    }
}
