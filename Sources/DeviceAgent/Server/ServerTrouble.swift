// SPDX-License-Identifier: Apache-2.0

internal import PushCurl

extension CurlError {
    /// Phrases of libcurl and OpenSSL, in lower case, whose cause the user can fix.
    private static let remedies: [(words: String, remedy: String)] = [
        ("certificate required", "the server wants a certificate: set client_cert and client_key in agent.ini"),
        ("alert handshake failure", "the server wants another certificate or other TLS: see client_cert in agent.ini"),
        ("alert unknown ca", "the server does not accept this device's certificate: see client_cert in agent.ini"),
        ("alert bad certificate", "the server does not accept this device's certificate: see client_cert in agent.ini"),
        ("alert certificate expired", "this device's certificate has expired: see client_cert in agent.ini"),
        ("response 407", "the proxy wants a user: set proxy in agent.ini to http://USER:PASSWORD@HOST:PORT"),
        ("code 407 from proxy", "the proxy wants a user: set proxy in agent.ini to http://USER:PASSWORD@HOST:PORT"),
        ("connect tunnel failed", "the proxy refuses to connect to the server"),
        ("from proxy after connect", "the proxy refuses to connect to the server"),
        ("resolve proxy", "the proxy's name is unknown: see proxy in agent.ini"),
    ]

    /// The message, preceded by advice for the user if the cause is known.
    var trouble: String {
        let message = Self.withoutDuration(message)
        let text = message.lowercased()
        let remedy = fileRemedy(text) ?? Self.remedies.first { text.contains($0.words) }?.remedy
        return remedy.map { "\($0) (\(message))" } ?? message
    }

    /// Returns advice on a local file that cannot be used; libcurl's text names the file.
    private func fileRemedy(_ text: String) -> String? {
        switch kind {
        case .authorityFile: "the file of the server's authority, ca_file, cannot be used"
        case .certificateFile where text.contains("private key"):
            "the key of this device's certificate cannot be used: see client_key in agent.ini"
        case .certificateFile: "this device's certificate cannot be used: see client_cert in agent.ini"
        case .resolve, .connect, .tls, .timeout, .interrupted, .other: nil
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
