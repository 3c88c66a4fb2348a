// SPDX-License-Identifier: Apache-2.0

internal import PushCurl

/// By what way, and with which papers, this machine reaches a server; the same for every server.
package struct ServerAccess: Sendable, Equatable {
    /// The proxy's URL, or `none` for a direct connection; nil for what https_proxy and no_proxy say.
    package var proxy: String?
    /// PEM file of the certificate that shows the server whose machine this is; nil for none.
    package var clientCertificateFile: String?
    /// PEM file of its key; nil when that is in the same file.
    package var clientKeyFile: String?

    /// As the system says, without a certificate.
    package init() {}

    /// The word for no proxy.
    static let noProxy = "none"
    /// The proxies that libcurl knows, by how their URL begins.
    static let proxySchemes = ["http", "https", "socks5", "socks5h"]

    /// Whether this is something that `proxy` can be.
    static func isProxy(_ text: String) -> Bool {
        if text == noProxy { return true }
        let bytes = text.utf8
        return proxySchemes.contains { bytes.starts(with: "\($0)://".utf8) && bytes.count > $0.utf8.count + 3 }
            && bytes.allSatisfy { $0 > 32 && $0 < 127 }
    }

    /// Makes a request go this way.
    func apply(to request: inout HTTPRequest) {
        request.proxy = proxy == Self.noProxy ? "" : proxy
        request.clientCertificateFile = clientCertificateFile
        request.clientKeyFile = clientKeyFile
    }
}
