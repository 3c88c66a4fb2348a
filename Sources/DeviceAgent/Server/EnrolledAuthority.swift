// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushTLS

/// The certificate of the authority that an enrolment code named, in a file next to the secret.
///
/// The device trusts this authority for its server.
package struct EnrolledAuthority: Sendable {
    /// The path of the PEM file.
    ///
    /// The file is absent if the device trusts the system's authorities or a file of the user.
    let path: String

    /// Finds the certificate that an enrolment code names, and stores it.
    ///
    /// - Parameters:
    ///   - authority: The digits of the code that name the certificate.
    ///   - certificates: The certificates that an untrusted server presented, as PEM.
    /// - Returns: Whether one of them is the named certificate.
    /// - Throws: `StorageError.file` if the file cannot be written.
    func keep(_ authority: String, outOf certificates: [[UInt8]]) throws(StorageError) -> Bool {
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

    /// The file of all authorities that the device trusts for its server.
    var trustedPath: String { PrivateFile.directory(of: path) + "/trusted.pem" }

    /// Removes the certificate when the device leaves its server.
    func remove() {
        for file in [path, trustedPath] { PrivateFile.remove(file) }
    }
}
