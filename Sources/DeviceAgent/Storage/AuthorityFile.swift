// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS

/// The authority that an enrolment code named, beside the secret: the certificate that this device trusts at its server.
package struct AuthorityFile: Sendable {
    /// PEM; not there where the device asks its system, or a file of the person's.
    package let path: String

    /// Names the file; nothing is opened.
    package init(path: String) { self.path = path }

    /// Keeps the certificate that a code names, out of those that a server showed.
    ///
    /// - Parameters:
    ///   - authority: The digits of the code that name it.
    ///   - certificates: PEM texts, from a server that is not trusted.
    /// - Returns: Whether one of them is it.
    /// - Throws: `StorageError.file` when it cannot be written.
    package func keep(_ authority: String, outOf certificates: [[UInt8]]) throws(StorageError) -> Bool {
        let named = certificates.first { certificate in
            let fingerprint = try? CertificateAuthority.fingerprint(certificate: certificate)
            return fingerprint.map(EnrolmentCode.authority) == authority
        }
        guard let named else { return false }
        do throws(NetError) {
            try PrivateFile.write(named, to: path)
        } catch {
            throw StorageError(path, error)
        }
        return true
    }

    /// Removes the certificate: the device leaves its server.
    package func remove() { PrivateFile.remove(path) }
}
