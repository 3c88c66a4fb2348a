// SPDX-License-Identifier: Apache-2.0

internal import PushHTTP
internal import PushNet
internal import PushTLS

/// Refuses to start with libraries that have known vulnerabilities; the packages depend on the same versions.
///
/// nghttp2's version number does not show Debian's patch level, so only the package dependency covers it.
enum MinimumLibraryVersions {
    /// OpenSSL 3.0.22 in the format of OPENSSL_VERSION_NUMBER.
    private static let openSSLNumber: UInt = 0x3000_0160

    /// Logs the library versions and checks them.
    static func check(_ log: EventLog) throws(ServerError) {
        let found = LibraryVersion.openSSL
        log.debug("libraries", ["openssl": found.text, "nghttp2": NGHTTP2Version.text])
        guard found.number >= openSSLNumber else {
            throw .library(
                "\(found.text) has known vulnerabilities.\nUpgrade it: apt-get install libssl3 (3.0.22 or later).")
        }
    }
}
