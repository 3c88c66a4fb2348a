// SPDX-License-Identifier: Apache-2.0

/// The certificate with which a TLS client said who it is, and what its authority is worth here.
package struct ClientCertificate: Sendable, Equatable {
    /// Whether it may be believed.
    package enum Verdict: Sendable, Equatable {
        /// The server's own authority issued it, and it is valid now.
        case own
        /// Another authority that the configuration trusts issued it, and it is valid now.
        case other
        /// Neither; the text says why, in OpenSSL's words, for example `certificate has expired`.
        case refused(String)
    }

    /// Whether it may be believed.
    package var verdict: Verdict
    /// SHA-256 of the certificate in DER, 32 bytes.
    package var fingerprint: [UInt8]
    /// The serial number in upper-case hexadecimal digits, as `openssl x509 -serial` shows it.
    package var serialNumber: String
    /// The subject's UID (0.9.2342.19200300.100.1.1); nil when there is none or more than one.
    package var subjectUserID: String?
    /// The subject's OU; nil when there is none or more than one.
    package var subjectOrganizationalUnit: String?
    /// Its extensions by object identifier in dots: the DER inside the OCTET STRING.
    package var extensions: [String: [UInt8]]

    /// Joins the parts.
    package init(
        verdict: Verdict, fingerprint: [UInt8], serialNumber: String, subjectUserID: String?,
        subjectOrganizationalUnit: String?, extensions: [String: [UInt8]]
    ) {
        self.verdict = verdict
        self.fingerprint = fingerprint
        self.serialNumber = serialNumber
        self.subjectUserID = subjectUserID
        self.subjectOrganizationalUnit = subjectOrganizationalUnit
        self.extensions = extensions
    }
}

/// Authorities whose client certificates are believed.
package struct ClientAuthorities: Sendable, Equatable {
    /// PEM file of the server's own authority; nil where it has none.
    package var ownFile: String?
    /// PEM files of others, each with one certificate or more.
    package var otherFiles: [String]

    /// Joins the parts.
    package init(ownFile: String?, otherFiles: [String] = []) {
        self.ownFile = ownFile
        self.otherFiles = otherFiles
    }
}
