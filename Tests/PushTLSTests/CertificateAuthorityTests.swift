// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct CertificateAuthorityTests {
    private let directory: TemporaryDirectory
    private let authority: (certificate: [UInt8], privateKey: [UInt8])
    private let authorityPath: String

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.make(commonName: "Posthorn auf München")
        authorityPath = try directory.write(text(authority.certificate), to: "ca.pem")
    }

    /// Issues a certificate and writes it to a file.
    private func issue(_ names: [String], to name: String = "server.pem") throws -> String {
        let issued = try CertificateAuthority.issueServerCertificate(
            names: names, authorityCertificate: authority.certificate, authorityPrivateKey: authority.privateKey)
        return try directory.write(text(issued.certificate), to: name)
    }

    /// Runs `openssl verify` on a certificate for a purpose and a name.
    private func verify(_ path: String, _ arguments: [String] = []) async throws -> ProgramResult {
        try await OpenSSLTool.run(["verify", "-x509_strict", "-CAfile", authorityPath] + arguments + [path])
    }

    private func shown(_ path: String, _ extensions: String) async throws -> String {
        try await OpenSSLTool.run(["x509", "-in", path, "-noout", "-nocert", "-ext", extensions]).succeeded().output
    }

    @Test(arguments: [
        ["push.example.org"], ["localhost", "127.0.0.1", "::1"], ["*.example.org"], ["10.0.0.7"], ["2001:db8::7"],
        ["xn--bcher-kva.example"], [String(repeating: "a", count: 63) + ".example.org"],
        [String(repeating: "long.", count: 40) + "example.org"], (0..<100).map { "host\($0).example.org" },
    ])
    func `a certificate verifies strictly for each of its names`(names: [String]) async throws {
        let path = try issue(names)
        for name in names.prefix(5) {
            let isAddress = name.contains(":") || name.utf8.allSatisfy { $0 < 0x3A }
            let host = name.hasPrefix("*") ? "any" + name.dropFirst() : name
            let arguments = ["-purpose", "sslserver", isAddress ? "-verify_ip" : "-verify_hostname", host]
            try await verify(path, arguments).succeeded()
        }
    }

    @Test(arguments: [
        ["-verify_hostname", "other.example.org"], ["-verify_ip", "127.0.0.2"], ["-verify_hostname", "127.0.0.1"],
        ["-purpose", "sslclient"],
    ])
    func `a certificate does not verify for another name or purpose`(arguments: [String]) async throws {
        let path = try issue(["push.example.org", "127.0.0.1"])
        let result = try await verify(path, arguments)
        #expect(result.exit != .code(0))
    }

    @Test func `addresses are encoded as IP addresses, and names as DNS names`() async throws {
        let path = try issue(["push.example.org", "127.0.0.1", "::1"])
        let output = try await shown(path, "subjectAltName")
        #expect(output.contains("DNS:push.example.org, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"))
        #expect(!output.contains("critical"))
    }

    @Test func `a name too long for the subject leaves it empty and makes the names critical`() async throws {
        let path = try issue([String(repeating: "a", count: 53) + ".example.org"])
        let output = try await shown(path, "subjectAltName")
        #expect(output.contains("X509v3 Subject Alternative Name: critical"))
        let fitting = try issue([String(repeating: "a", count: 52) + ".example.org"], to: "fitting.pem")
        let subject = try await OpenSSLTool.run(["x509", "-in", fitting, "-noout", "-subject"]).output
        #expect(subject.contains(String(repeating: "a", count: 52) + ".example.org"))
    }

    @Test func `the server certificate permits server authentication only`() async throws {
        let path = try issue(["localhost"])
        let names = "basicConstraints,keyUsage,extendedKeyUsage,subjectKeyIdentifier,authorityKeyIdentifier"
        let output = try await shown(path, names)
        #expect(output.contains("X509v3 Basic Constraints: critical\n    CA:FALSE"))
        #expect(output.contains("X509v3 Key Usage: critical\n    Digital Signature\n"))
        #expect(output.contains("X509v3 Extended Key Usage: \n    TLS Web Server Authentication\n"))
        let authorityOutput = try await shown(authorityPath, names)
        #expect(authorityOutput.contains("X509v3 Basic Constraints: critical\n    CA:TRUE, pathlen:0"))
        #expect(authorityOutput.contains("X509v3 Key Usage: critical\n    Certificate Sign, CRL Sign\n"))
        let identifier = try #require(line(after: "X509v3 Subject Key Identifier:", in: authorityOutput))
        #expect(line(after: "X509v3 Authority Key Identifier:", in: output) == identifier)
        #expect(line(after: "X509v3 Subject Key Identifier:", in: output) != identifier)
    }

    private func line(after title: String, in output: String) -> String? {
        let lines = output.split(separator: "\n").map { $0.trimmingPrefix(while: { $0 == " " }) }
        guard let index = lines.firstIndex(where: { $0.hasPrefix(title) }), index + 1 < lines.count else { return nil }
        return String(lines[index + 1])
    }

    @Test func `keys are on P-256, signatures use SHA-256 and serial numbers are new positive 128-bit ones`()
        async throws
    {
        var serials: Set<String> = []
        for number in 0..<10 {
            let path = try issue(["localhost"], to: "\(number).pem")
            let serial = try await OpenSSLTool.run(["x509", "-in", path, "-noout", "-serial"]).succeeded().output
            #expect(serial.count == "serial=".count + 32 + 1)
            #expect("4567".contains(serial.dropFirst("serial=".count).first ?? "-"))
            serials.insert(serial)
        }
        #expect(serials.count == 10)
        let output = try await OpenSSLTool.run(["x509", "-in", authorityPath, "-noout", "-text"]).succeeded().output
        #expect(output.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(output.contains("ASN1 OID: prime256v1"))
        #expect(output.contains("Version: 3 (0x2)"))
    }

    @Test func `a server certificate lasts 397 days, an authority ten years, both from an hour ago`() async throws {
        let issued = try CertificateAuthority.issueServerCertificate(
            names: ["localhost"], authorityCertificate: authority.certificate,
            authorityPrivateKey: authority.privateKey)
        let seconds = try CertificateAuthority.secondsUntilExpiry(certificate: issued.certificate)
        #expect((397 * 86_400 - 120...397 * 86_400).contains(seconds))
        let years = try CertificateAuthority.secondsUntilExpiry(certificate: authority.certificate)
        #expect((3_653 * 86_400 - 120...3_653 * 86_400).contains(years))
        // The certificates are valid 59 minutes ago, and not 61 minutes ago.
        let now = try await currentUnixSeconds()
        try await verify(authorityPath, ["-attime", "\(now - 59 * 60)"]).succeeded()
        let result = try await verify(authorityPath, ["-attime", "\(now - 61 * 60)"])
        #expect(result.exit != .code(0))
    }

    private func currentUnixSeconds() async throws -> Int {
        let output = try await RunningProcess.run("/usr/bin/date", ["+%s"]).succeeded().output
        return try #require(Int(output.filter(\.isNumber)))
    }

    @Test(arguments: [("20210101000000Z", 1_609_459_200), ("20990101000000Z", 4_070_908_800)])
    func `the remaining time is exact, negative after expiry, and limits issued certificates`(
        end: String, endUnixSeconds: Int
    ) async throws {
        let certificate = Array(try await selfSigned(until: end).utf8)
        let before = try await currentUnixSeconds()
        let left = Int(try CertificateAuthority.secondsUntilExpiry(certificate: certificate))
        let after = try await currentUnixSeconds()
        #expect((endUnixSeconds - after...endUnixSeconds - before).contains(left))
        let issued = try CertificateAuthority.issueServerCertificate(
            names: ["localhost"], authorityCertificate: certificate, authorityPrivateKey: authority.privateKey)
        let issuedLeft = Int(try CertificateAuthority.secondsUntilExpiry(certificate: issued.certificate))
        let now = try await currentUnixSeconds()
        let expected = min(endUnixSeconds - now, 397 * 86_400)
        #expect((expected...expected + now - before + 1).contains(issuedLeft))
    }

    /// Creates a certificate for this authority's key with `openssl ca`, which can set an end in the past.
    private func selfSigned(until end: String) async throws -> String {
        let keyPath = try directory.write(text(authority.privateKey), to: "ca.key")
        let requestPath = directory.path(of: "request.pem")
        let path = directory.path(of: "short.pem")
        try directory.write("", to: "index")
        let configurationPath = try directory.write(
            """
            [ca]
            default_ca = short
            [short]
            database = \(directory.path(of: "index"))
            serial = \(directory.path(of: "serial"))
            new_certs_dir = \(directory.path)
            default_md = sha256
            policy = any
            x509_extensions = authority
            [any]
            commonName = supplied
            [authority]
            basicConstraints = critical,CA:TRUE
            subjectKeyIdentifier = hash
            """, to: "ca.cnf")
        try await OpenSSLTool.run(["req", "-new", "-key", keyPath, "-subj", "/CN=short", "-out", requestPath])
            .succeeded()
        try await OpenSSLTool.run([
            "ca", "-batch", "-selfsign", "-rand_serial", "-notext", "-config", configurationPath, "-keyfile", keyPath,
            "-in", requestPath, "-startdate", "20200101000000Z", "-enddate", end, "-out", path,
        ]).succeeded()
        return readText(path)
    }

    @Test(arguments: [
        "", " ", "a b", "a,DNS:b", "a\nb", "a\u{0}b", "http://a", "a:443", "bücher.example", "-a.example", "a-.example",
        "a..b", ".a", "a.", "*", "*.", "a.*.example", String(repeating: "a", count: 64) + ".example",
        String(repeating: "abc.", count: 63) + "ab", "[::1]", "::1,IP:::2", "1:2", "127.0.0.1/8", "@section",
    ])
    func `text that is neither a name nor an address is refused`(name: String) {
        let error = TLSError.library(
            during: "issuing a server certificate", text: "\"\(name)\" is neither a DNS name nor an IP address")
        #expect(throws: error) { _ = try issue(["good.example", name]) }
    }

    @Test func `an empty name list, a foreign key and an invalid authority are refused`() throws {
        let other = try CertificateAuthority.make(commonName: "Other")
        let server = try CertificateAuthority.issueServerCertificate(
            names: ["localhost"], authorityCertificate: authority.certificate,
            authorityPrivateKey: authority.privateKey)
        let cases: [([String], [UInt8], [UInt8], String)] = [
            ([], authority.certificate, authority.privateKey, "no host name was given"),
            (
                ["a"], authority.certificate, other.privateKey,
                "the authority's key does not belong to its certificate"
            ),
            (["a"], server.certificate, server.privateKey, "the authority's certificate may not sign others"),
        ]
        for (names, certificate, key, text) in cases {
            #expect(throws: TLSError.library(during: "issuing a server certificate", text: text)) {
                _ = try CertificateAuthority.issueServerCertificate(
                    names: names, authorityCertificate: certificate, authorityPrivateKey: key)
            }
        }
        #expect(throws: TLSError.self) {
            _ = try CertificateAuthority.secondsUntilExpiry(certificate: Array("no PEM".utf8))
        }
    }

    @Test(arguments: [1, 64])
    func `the shortest and the longest common name work`(byteCount: Int) throws {
        let made = try CertificateAuthority.make(commonName: String(repeating: "n", count: byteCount))
        #expect(!made.certificate.isEmpty)
    }

    @Test(arguments: [0, 65])
    func `a common name that X_509 cannot hold is refused`(byteCount: Int) {
        #expect(throws: TLSError.self) {
            _ = try CertificateAuthority.make(commonName: String(repeating: "n", count: byteCount))
        }
    }
}
