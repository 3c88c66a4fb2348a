// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct TLSContextTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    /// Returns the error's path and advice when loading these files fails.
    private func failure(certificate: String? = nil, key: String? = nil) -> (path: String, text: String)? {
        do throws(TLSError) {
            _ = try TLSContext(
                certificateChainFile: certificate ?? certificates.certificatePath,
                privateKeyFile: key ?? certificates.keyPath)
            return nil
        } catch {
            guard case .badFile(let path, let text) = error else { return nil }
            return (path, text)
        }
    }

    @Test func `valid files give a context`() {
        #expect(failure() == nil)
    }

    @Test func `a missing file is reported with its path and the cause`() {
        let missing = certificates.directory.path(of: "missing.pem")
        let advice = "make it a file that this process may read (No such file or directory)"
        let certificate = failure(certificate: missing)
        #expect(certificate?.path == missing)
        #expect(certificate?.text == advice)
        let key = failure(key: missing)
        #expect(key?.path == missing)
        #expect(key?.text == advice)
        #expect(failure(key: "a\u{0}b")?.text == "write a path without zero bytes")
    }

    @Test(arguments: ["", "no PEM at all\n", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `a file that is not PEM is reported with the expected content`(contents: String) throws {
        let path = try certificates.directory.write(contents, to: "bad.pem")
        let certificate = failure(certificate: path)
        #expect(certificate?.path == path)
        #expect(certificate?.text.hasPrefix("write the server's certificate into it, in PEM (OpenSSL: ") == true)
        let key = failure(key: path)
        #expect(key?.path == path)
        #expect(key?.text.hasPrefix("write a private key into it, in PEM, without a passphrase (OpenSSL: ") == true)
    }

    @Test func `a directory and swapped files are refused`() {
        #expect(failure(certificate: certificates.directory.path)?.path == certificates.directory.path)
        #expect(failure(key: certificates.directory.path)?.path == certificates.directory.path)
        #expect(failure(certificate: certificates.keyPath)?.path == certificates.keyPath)
        #expect(failure(key: certificates.certificatePath)?.path == certificates.certificatePath)
    }

    @Test(arguments: ["EC", "RSA"])
    func `a key that does not match the certificate is reported with both paths`(algorithm: String) async throws {
        let path = certificates.directory.path(of: "other.key")
        let option = algorithm == "EC" ? "ec_paramgen_curve:P-256" : "rsa_keygen_bits:2048"
        try await OpenSSLTool.run(["genpkey", "-algorithm", algorithm, "-pkeyopt", option, "-out", path]).succeeded()
        let found = failure(key: path)
        #expect(found?.path == path)
        let expected = "write the key that belongs to the certificate in \(certificates.certificatePath) into it"
        #expect(found?.text == expected)
    }

    @Test func `an encrypted key is refused without a prompt on the terminal`() async throws {
        let path = certificates.directory.path(of: "encrypted.key")
        try await OpenSSLTool.run([
            "pkey", "-in", certificates.keyPath, "-aes256", "-passout", "pass:secret", "-out", path,
        ]).succeeded()
        let found = failure(key: path)
        #expect(found?.path == path)
        #expect(found?.text.contains("without a passphrase") == true)
    }

    @Test func `an RSA certificate works with both TLS versions`() async throws {
        let keyPath = certificates.directory.path(of: "rsa.key")
        let path = certificates.directory.path(of: "rsa.pem")
        try await OpenSSLTool.run([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", keyPath, "-out", path,
        ]).succeeded()
        let context = try TLSContext(certificateChainFile: path, privateKeyFile: keyPath)
        for version in ["-tls1_2", "-tls1_3"] {
            let peer = try OpenSSLPeer(context, certificates, [version, "-CAfile", path])
            try peer.connection.handshake()
            try peer.process.write("hello")
            #expect(try peer.connection.read(exactly: 5) == Array("hello".utf8))
        }
    }

    @Test func `certificates after the first one are sent too`() async throws {
        let chain = readText(certificates.certificatePath) + readText(certificates.authorityPath)
        let path = try certificates.directory.write(chain, to: "chain.pem")
        let context = try TLSContext(certificateChainFile: path, privateKeyFile: certificates.keyPath)
        let peer = try OpenSSLPeer(context, certificates, ["-showcerts"], isQuiet: false)
        try peer.connection.handshake()
        peer.process.endInput()
        try await peer.process.waitForExit()
        #expect(peer.process.output.contains(" 1 s:CN = Test authority"))
    }

    @Test func `errors read as one line`() {
        #expect(TLSError.library(during: "signing", text: "no").description == "signing: no")
        #expect(TLSError.badFile(path: "/a", text: "write it").description == "/a: write it")
        #expect(TLSError.peer("left").description == "peer: left")
    }
}
