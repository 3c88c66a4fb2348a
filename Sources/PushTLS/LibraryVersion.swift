// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The version of the library that is loaded at run time, so that a caller can refuse one with known vulnerabilities.
package enum LibraryVersion {
    /// OpenSSL's version as `0xMNN00PP0` for M.N.P and as text; it may differ from the version at compile time.
    package static var openSSL: (number: UInt, text: String) {
        (OpenSSL_version_num(), unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)))
    }
}
