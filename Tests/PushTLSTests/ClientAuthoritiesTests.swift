// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct ClientAuthoritiesTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    /// Returns the error's path and advice when trusting these files fails.
    private func failure(own: String?, others: [String] = []) -> (path: String, text: String)? {
        do throws(TLSError) {
            _ = try TLSContext(
                certificateChainFile: certificates.certificatePath, privateKeyFile: certificates.keyPath,
                clientAuthorities: ClientAuthorities(ownFile: own, otherFiles: others))
            return nil
        } catch {
            guard case .badFile(let path, let text) = error else { return nil }
            return (path, text)
        }
    }

    @Test func `each authority is announced to clients once`() async throws {
        let other = try TestCertificates(commonName: "Other authority")
        let both = readText(other.authorityPath) + readText(certificates.authorityPath) + readText(other.authorityPath)
        let path = try certificates.directory.write(both, to: "both.pem")
        let context = try certificates.askingContext(trusting: [path, other.authorityPath])
        let peer = try OpenSSLPeer(context, certificates, isQuiet: false)
        try peer.connection.handshake()
        try await peer.waitForOutput("Requested Signature Algorithms")
        peer.process.endInput()
        try await peer.process.waitForExit()
        let named = try #require(
            peer.process.output.components(after: "Acceptable client certificate CA names\n"))
        #expect(named.hasPrefix("CN = Test authority\nCN = Other authority\nRequested Signature Algorithms"))
    }

    @Test func `a missing file is reported with its path and the cause`() {
        let missing = certificates.directory.path(of: "missing.pem")
        for found in [failure(own: missing), failure(own: nil, others: [certificates.authorityPath, missing])] {
            #expect(found?.path == missing)
            #expect(found?.text == "make it a file that this process may read (No such file or directory)")
        }
        #expect(failure(own: nil) == nil)
    }

    @Test(arguments: [
        "", "no PEM at all\n", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n",
    ])
    func `a file without a certificate is reported with the expected content`(contents: String) throws {
        let path = try certificates.directory.write(contents, to: "bad.pem")
        #expect(failure(own: path)?.path == path)
        let text = failure(own: nil, others: [path])?.text
        #expect(text?.hasPrefix("write certificates of authorities into it, in PEM (OpenSSL: ") == true)
    }

    @Test func `a malformed certificate after a valid one is refused`() throws {
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let path = try certificates.directory.write(readText(certificates.authorityPath) + broken, to: "half.pem")
        #expect(failure(own: nil, others: [path])?.path == path)
        let noise = readText(certificates.authorityPath) + "and a remark\n"
        let good = try certificates.directory.write(noise, to: "remark.pem")
        #expect(failure(own: nil, others: [good]) == nil)
    }

    @Test func `a certificate that may not sign others is refused as an authority`() throws {
        let both = readText(certificates.authorityPath) + readText(certificates.certificatePath)
        let path = try certificates.directory.write(both, to: "both.pem")
        let found = failure(own: nil, others: [path])
        #expect(found?.path == path)
        #expect(found?.text == "leave only certificates of authorities in it: number 2 may not sign")
    }

    @Test func `a directory is refused as a file of authorities`() {
        #expect(failure(own: certificates.directory.path)?.path == certificates.directory.path)
    }

    @Test(arguments: [(99, nil), (100, "trust at most 100 authorities")])
    func `at most a hundred authorities are trusted`(others: Int, problem: String?) throws {
        var pem = ""
        for number in 0..<others { pem += text(try CertificateAuthority.make(commonName: "\(number)").certificate) }
        let path = try certificates.directory.write(pem, to: "many.pem")
        #expect(failure(own: certificates.authorityPath, others: [path])?.text == problem)
    }
}

extension String {
    /// Returns the text after the first occurrence of another text.
    fileprivate func components(after text: String) -> String? {
        guard let range = firstRange(of: text) else { return nil }
        return String(self[range.upperBound...])
    }
}
