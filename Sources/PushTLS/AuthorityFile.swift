// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A file of authorities that a client trusts.
package enum AuthorityFile {
    /// Reads it with `X509_STORE_load_file`, as libcurl does: one certificate is enough, and may be anybody's.
    ///
    /// - Parameter path: The file, in PEM.
    /// - Throws: `TLSError.badFile` when it is missing or holds no certificate, with what to do.
    package static func check(_ path: String) throws(TLSError) {
        try TLSContext.requireReadable(path)
        let store = try Handle<StoreKind>("trusting authorities") { unsafe X509_STORE_new() }
        do {
            try ErrorQueue.check("reading") { unsafe X509_STORE_load_file(store.pointer, path) }
        } catch {
            throw .badFile(
                path: path, text: "write certificates of authorities into it, in PEM (OpenSSL: \(error.reason))")
        }
    }
}
