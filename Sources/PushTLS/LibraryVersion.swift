// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The library's version found at run time, so that a caller can refuse one with known holes.
package enum LibraryVersion {
    /// What runs, which may not be what we were compiled with: `0xMNN00PP0` for M.N.P, and the library's own words.
    package static var openSSL: (number: UInt, text: String) {
        (OpenSSL_version_num(), unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)))
    }
}
