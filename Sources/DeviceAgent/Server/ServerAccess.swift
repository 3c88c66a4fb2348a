// SPDX-License-Identifier: Apache-2.0

internal import PushCurl

/// The proxy and the client certificate with which this machine reaches every server.
package struct ServerAccess: Sendable, Equatable {
    /// The proxy's URL, or `none` for a direct connection; nil to use https_proxy and no_proxy.
    var proxy: String?
    /// The PEM file of the certificate that identifies this machine; nil for none.
    var clientCertificateFile: String?
    /// The PEM file of its key; nil if the certificate's file contains the key.
    var clientKeyFile: String?

    /// Creates an access with the system's proxy settings and without a certificate.
    init() {}

    /// The configuration value for a direct connection.
    static let noProxy = "none"
    /// The URL schemes of the proxies that libcurl supports.
    static let proxySchemes = ["http", "https", "socks5", "socks5h"]

    /// Returns whether a text is a valid value for `proxy`.
    static func isProxy(_ text: String) -> Bool {
        if text == noProxy { return true }
        let bytes = text.utf8
        return proxySchemes.contains { bytes.starts(with: "\($0)://".utf8) && bytes.count > $0.utf8.count + 3 }
            && bytes.allSatisfy { $0 > 32 && $0 < 127 }
    }

    /// Applies the proxy and the certificate to a request.
    func apply(to request: inout HTTPRequest) {
        request.proxy = proxy == Self.noProxy ? "" : proxy
        request.clientCertificateFile = clientCertificateFile
        request.clientKeyFile = clientKeyFile
    }
}
