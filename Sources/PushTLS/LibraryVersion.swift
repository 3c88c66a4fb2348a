// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The versions found at run time, and the floor below which a server must not start (spec: patched libraries).
package enum LibraryVersion {
    /// OpenSSL 3.0.22, the first that has all fixes of 2026, as `OpenSSL_version_num` writes it: 0xMNN00PP0.
    package static let openSSLFloor: UInt = 0x3000_0160

    /// What runs, which may not be what we were compiled with.
    package static var openSSL: (number: UInt, text: String) {
        (OpenSSL_version_num(), unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)))
    }
}
