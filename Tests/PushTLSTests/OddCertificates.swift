// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import PushTLS

/// Unusual certificates that this project never issues, made by `openssl ca`, each in one file with its key.
struct OddCertificates {
    let certificates: TestCertificates

    /// Issues a certificate under an authority.
    ///
    /// - Parameters:
    ///   - name: The file name, without extension.
    ///   - signer: The authority's certificate and key; nil for a self-signed certificate.
    ///   - subject: The subject in the format of `-subj`.
    ///   - start: The start in the format 20260101000000Z.
    ///   - end: The end in the format 20260101000000Z.
    ///   - extensions: Lines of OpenSSL's configuration.
    /// - Returns: The file with certificate and key.
    /// - Throws: When OpenSSL refused.
    func make(
        _ name: String, signer: (certificate: String, key: String)?, subject: String = "/UID=com.example.MyApp",
        start: String = "20200101000000Z", end: String = "20990101000000Z",
        extensions: String = "basicConstraints=CA:FALSE"
    ) async throws -> String {
        let directory = certificates.directory
        let keyPath = directory.path(of: "\(name).key")
        let requestPath = directory.path(of: "\(name).csr")
        try await OpenSSLTool.run([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
            "-keyout", keyPath, "-out", requestPath,
        ]).succeeded()
        let signing =
            signer.map { ["-cert", $0.certificate, "-keyfile", $0.key] } ?? ["-selfsign", "-keyfile", keyPath]
        let path = directory.path(of: "\(name).crt")
        try await OpenSSLTool.run(
            [
                "ca", "-batch", "-rand_serial", "-notext", "-preserveDN", "-config", configuration(name, extensions),
                "-in", requestPath, "-startdate", start, "-enddate", end, "-out", path,
            ] + signing
        ).succeeded()
        return try directory.write(readText(path) + readText(keyPath), to: "\(name).pem")
    }

    /// Issues a certificate with several comments, of which `openssl ca` would keep only the last one.
    func makeWithComments(_ name: String, count: Int) throws -> String {
        let netscapeComment: Int32 = 78
        let authority = try PEM.certificate(certificates.authority.certificate)
        let key = try EllipticKey.generate()
        let builder = try CertificateBuilder(key: key, days: 1)
        try builder.addSubject(name: "UID", value: "com.example.MyApp")
        try builder.setIssuer(sameAs: authority)
        for number in 0..<count { try builder.add("comment \(number)", netscapeComment, issuer: authority) }
        try builder.sign(with: try PEM.privateKey(certificates.authority.privateKey))
        return try certificates.directory.write(text(try builder.pem() + EllipticKey.pem(key)), to: "\(name).pem")
    }

    private func configuration(_ name: String, _ extensions: String) throws -> String {
        let directory = certificates.directory
        try directory.write("", to: "\(name).index")
        return try directory.write(
            """
            [ca]
            default_ca = odd
            [odd]
            database = \(directory.path(of: "\(name).index"))
            serial = \(directory.path(of: "\(name).serial"))
            new_certs_dir = \(directory.path)
            default_md = sha256
            policy = any
            x509_extensions = given
            unique_subject = no
            [any]
            UID = optional
            commonName = optional
            organizationalUnitName = optional
            [given]
            \(extensions)
            """, to: "\(name).cnf")
    }
}
