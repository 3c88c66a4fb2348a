// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A file of certificate authorities that a client trusts.
package enum AuthorityFile {
    /// Checks the file with `X509_STORE_load_file`, as libcurl does: one certificate of any kind is enough.
    ///
    /// - Parameter path: The file, in PEM.
    /// - Throws: `TLSError.badFile` with a remedy if the file is missing or has no certificate.
    package static func check(_ path: String) throws(TLSError) {
        try TLSContext.requireReadable(path)
        let store = try Handle<StoreKind>("loading the trusted CAs") { unsafe X509_STORE_new() }
        do {
            try ErrorQueue.check("reading") { unsafe X509_STORE_load_file(store.pointer, path) }
        } catch {
            throw .badFile(
                path: path, text: "write certificates of authorities into it, in PEM (OpenSSL: \(error.reason))")
        }
    }
}
