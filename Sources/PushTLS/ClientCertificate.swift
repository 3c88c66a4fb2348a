// SPDX-License-Identifier: Apache-2.0

/// A TLS client's certificate and the result of its verification.
package struct ClientCertificate: Sendable, Equatable {
    /// The result of verifying the certificate.
    package enum Verdict: Sendable, Equatable {
        /// The server's own authority issued it, and it is valid now.
        case own
        /// Another authority that the configuration trusts issued it, and it is valid now.
        case other
        /// The certificate is not trusted; the text is OpenSSL's reason, for example `certificate has expired`.
        case refused(String)
    }

    package var verdict: Verdict
    /// The SHA-256 hash of the certificate in DER, 32 bytes.
    package var fingerprint: [UInt8]
    /// The serial number in upper-case hexadecimal digits, as `openssl x509 -serial` shows it.
    package var serialNumber: String
    /// The subject's CN; nil if it is missing or repeated.
    package var subjectCommonName: String?
    /// The subject's UID (0.9.2342.19200300.100.1.1); nil if it is missing or repeated.
    package var subjectUserID: String?
    /// The subject's OU; nil if it is missing or repeated.
    package var subjectOrganizationalUnit: String?
    /// The extensions by object identifier in dotted form: the DER inside the OCTET STRING.
    package var extensions: [String: [UInt8]]

    package init(
        verdict: Verdict, fingerprint: [UInt8], serialNumber: String, subjectCommonName: String? = nil,
        subjectUserID: String?, subjectOrganizationalUnit: String?, extensions: [String: [UInt8]]
    ) {
        self.verdict = verdict
        self.fingerprint = fingerprint
        self.serialNumber = serialNumber
        self.subjectCommonName = subjectCommonName
        self.subjectUserID = subjectUserID
        self.subjectOrganizationalUnit = subjectOrganizationalUnit
        self.extensions = extensions
    }
}

/// The authorities whose client certificates are trusted.
package struct ClientAuthorities: Sendable, Equatable {
    /// The PEM file of the server's own authority; nil if the server has none.
    package var ownFile: String?
    /// The PEM files of other authorities, each with one or more certificates.
    package var otherFiles: [String]

    package init(ownFile: String?, otherFiles: [String] = []) {
        self.ownFile = ownFile
        self.otherFiles = otherFiles
    }
}
