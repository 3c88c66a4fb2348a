// SPDX-License-Identifier: Apache-2.0

internal import PushHTTP
internal import PushNet
internal import PushTLS

/// Refuses to start on libraries with known holes; the packages depend on the same versions.
///
/// nghttp2's own number does not show Debian's patch level, so that one is left to the package's dependency.
enum LibraryFloor {
    /// OpenSSL 3.0.22, as OPENSSL_VERSION_NUMBER writes it.
    private static let openSSLNumber: UInt = 0x3000_0160

    /// Says in the log what was found.
    static func check(_ log: EventLog) throws(ServerError) {
        let found = LibraryVersion.openSSL
        log.debug("libraries", ["openssl": found.text, "nghttp2": NGHTTP2Version.text])
        guard found.number >= openSSLNumber else {
            throw .library(
                "\(found.text) has known holes.\nUpgrade it: apt-get install libssl3 (3.0.22 or later).")
        }
    }
}
