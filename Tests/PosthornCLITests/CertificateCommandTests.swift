// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PosthornCLI
import PushAPI
import PushCore
import PushTLS
import TestSupport
import Testing

struct CertificateCommandTests {
    private static let mail = CredentialAPI.Certificate(
        fingerprint: "0123456789abcdef" + String(repeating: "a", count: 48), serialNumber: "4A", teamID: "ABCDE12345",
        topics: ["org.example.Mail"], environment: nil, createdAt: Timestamp(unixSeconds: 1_000),
        expiresAt: Timestamp(unixSeconds: 2_000))
    private static let chat = CredentialAPI.Certificate(
        fingerprint: "0123456780abcdef" + String(repeating: "b", count: 48), serialNumber: "4B", teamID: "ABCDE12345",
        topics: ["org.example.Chat", "org.example.Chat.voip"], environment: .development,
        createdAt: Timestamp(unixSeconds: 1_000), expiresAt: Timestamp(unixSeconds: 2_000),
        revokedAt: Timestamp(unixSeconds: 1_500))
    private static let foreign = CredentialAPI.Certificate(
        fingerprint: String(repeating: "f", count: 64), serialNumber: "", teamID: "", topics: [], environment: nil,
        createdAt: Timestamp(unixSeconds: 1_000), expiresAt: .unixEpoch, revokedAt: Timestamp(unixSeconds: 1_000))

    @Test(arguments: [
        ([], #"POST /v1/certificates {"topic":"a"}"#),
        (["-k", "voip", "-e", "development"], #"{"environment":"development","kind":"voip","topic":"a"}"#),
        (["--days", "1"], #"{"days":1,"topic":"a"}"#), (["--days", "825"], #"{"days":825,"topic":"a"}"#),
    ])
    func `issue sends its options`(words: [String], request: String) throws {
        let made = try CertificateCommands.issueRequest(try typed(["certificate", "issue", "a"] + words))
        #expect("\(made.method) \(made.path) \(String(decoding: made.body, as: UTF8.self))".hasSuffix(request))
    }

    @Test(arguments: ["0", "826", "-1", "x", ""])
    func `an invalid number of days is a usage error`(days: String) throws {
        let invocation = try typed(["certificate", "issue", "a", "--days=\(days)"])
        let error = thrown { () throws(CommandError) in _ = try CertificateCommands.issueRequest(invocation) }
        #expect(error?.exitCode == .usage)
    }

    @Test(
        arguments: [
            ([], "CERT_org.example.Mail.pem", nil), (["-o", "a.pem"], "a.pem", nil),
            (["--p12", "b.p12"], nil, "b.p12"),
            (["--p12", "b.p12", "-o", "."], "CERT_org.example.Mail.pem", "b.p12"),
            (["--p12", "/tmp"], nil, "/tmp/CERT_org.example.Mail.p12"),
            (["--output", "/tmp/"], "/tmp/CERT_org.example.Mail.pem", nil),
        ] as [([String], String?, String?)])
    func `files get the names that the options select`(words: [String], pem: String?, p12: String?) throws {
        let files = try CertificateFiles(try typed(["certificate", "issue", "org.example.Mail"] + words))
        #expect(files.pem == pem && files.p12 == p12)
    }

    @Test func `an invalid topic is not used as a file name`() throws {
        let files = try CertificateFiles(try typed(["certificate", "issue", "../../a"]))
        #expect(files.pem == "CERT.pem")
    }

    @Test func `a file that exists or cannot be created is reported before the request`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("", to: "there")
        for words in [["-o", path], ["--p12", path], ["-o", "\(directory.path)/none/a.pem"]] {
            let invocation = try typed(["certificate", "issue", "a"] + words)
            let error = thrown { () throws(CommandError) in _ = try CertificateFiles(invocation) }
            guard case .file(let fileError) = error else {
                Issue.record("\(words): \(String(describing: error))")
                continue
            }
            #expect(fileError.path == words[1])
        }
        let idle = try typed(["certificate", "issue", "a", "--password-file", path])
        #expect(thrown { () throws(CommandError) in _ = try CertificateFiles(idle) }?.exitCode == .usage)
    }

    @Test(
        arguments: [
            ("secret\n", "secret"), ("secret", "secret"), ("secret\r\nsecond line\n", "secret"), (" a b \n", " a b "),
            ("Schlüssel\n", "Schlüssel"), ("", nil), ("\n", nil), ("\nsecret\n", nil), ("\r\n", nil),
            ("a\u{0}b\n", nil),
        ] as [(String, String?)])
    func `a password is the first line of its file`(contents: String, password: String?) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(contents, to: "password")
        var read: String?
        let error = thrown { () throws(CommandError) in read = try CertificateFiles.password(inFile: path) }
        #expect(read == password)
        #expect((error == nil) == (password != nil))
    }

    @Test func `both files are written for their owner only, or neither`() throws {
        let directory = try TemporaryDirectory()
        let authority = try CertificateAuthority.make(commonName: "Test")
        let issued = try CertificateAuthority.issueClientCertificate(
            subject: [("UID", "a")], extensions: [], days: 1, authorityCertificate: authority.certificate,
            authorityPrivateKey: authority.privateKey)
        var certificate = Self.mail
        certificate.certificate = String(decoding: issued.certificate, as: UTF8.self)
        certificate.privateKey = String(decoding: issued.privateKey, as: UTF8.self)
        let (pem, p12) = (directory.path(of: "a.pem"), directory.path(of: "a.p12"))
        let files = try CertificateFiles(try typed(["certificate", "issue", "a", "-o", pem, "--p12", p12]))
        try files.write(certificate, named: "a", password: "secret")
        #expect(readText(pem) == (certificate.certificate ?? "") + (certificate.privateKey ?? ""))
        for path in [pem, p12] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        // The second file exists now, so writing both must fail.
        try FileManager.default.removeItem(atPath: pem)
        #expect(thrown { () throws(CommandError) in try files.write(certificate, named: "a", password: "b") } != nil)
        #expect(!FileManager.default.fileExists(atPath: pem))
        certificate.privateKey = nil
        #expect(thrown { () throws(CommandError) in try files.write(certificate, named: "a", password: "b") } != nil)
    }

    @Test(
        arguments: [
            ("0123ABcd", "0123abcd"), ("01:23:AB:CD", "0123abcd"),
            (String(repeating: "F", count: 64), String(repeating: "f", count: 64)), ("0123abc", nil), ("0123abcg", nil),
            ("", nil), ("::::::::", nil), (String(repeating: "f", count: 65), nil), ("0123 abcd", nil),
        ] as [(String, String?)])
    func `a fingerprint has 8 to 64 digits in any spelling`(typedText: String, digits: String?) throws {
        let invocation = try typed(["certificate", "revoke", "--", typedText])
        var read: String?
        let error = thrown { () throws(CommandError) in read = try CertificateCommands.digits(invocation) }
        #expect(read == digits)
        #expect((error?.exitCode == .usage) == (digits == nil))
    }

    @Test func `a file is replaced by the fingerprint of its certificate`() throws {
        let directory = try TemporaryDirectory()
        let authority = try CertificateAuthority.make(commonName: "Test")
        let pem = String(decoding: authority.privateKey + authority.certificate, as: UTF8.self)
        let path = try directory.write(pem, to: "a.pem")
        let digits = try CertificateCommands.digits(try typed(["certificate", "revoke", "--file", path]))
        let fingerprint = try CertificateAuthority.fingerprint(certificate: authority.certificate)
        var expected: [UInt8] = []
        Hex.append(fingerprint.span, to: &expected)
        #expect(digits == String(decoding: expected, as: UTF8.self))
        let other = try directory.write("no certificate", to: "b.pem")
        for words in [["--file", other], ["--file", "/nonexistent"], ["--file", path, "0123abcd"], []] {
            let invocation = try typed(["certificate", "revoke"] + words)
            #expect(thrown { () throws(CommandError) in _ = try CertificateCommands.digits(invocation) } != nil)
        }
    }

    @Test func `a prefix finds the only certificate that starts with it`() throws {
        let invocation = try typed("certificate", "revoke", "x")
        let known = [Self.mail, Self.chat, Self.foreign]
        for certificate in known {
            for count in [10, 63, 64] {
                let digits = String(certificate.fingerprint.prefix(count))
                let found = try CertificateCommands.find(digits, in: known, invocation)
                #expect(found?.fingerprint == certificate.fingerprint)
            }
        }
        let several = thrown { () throws(CommandError) in
            _ = try CertificateCommands.find("01234567", in: known, invocation)
        }
        #expect(several?.exitCode == .usage && several?.problem.contains("2 certificates") == true)
        let none = thrown { () throws(CommandError) in
            _ = try CertificateCommands.find("76543210", in: known, invocation)
        }
        #expect(none?.exitCode == .notFound)
        #expect(try CertificateCommands.find(String(repeating: "e", count: 64), in: known, invocation) == nil)
    }

    @Test func `a list marks certificates as good, expired, revoked or foreign`() {
        #expect(
            CertificateCommands.report(of: CredentialAPI.Certificates(certificates: []), now: .unixEpoch).text
                .contains("posthorn certificate issue"))
        let certificates = CredentialAPI.Certificates(certificates: [Self.mail, Self.chat, Self.foreign])
        let lines = CertificateCommands.report(of: certificates, now: Timestamp(unixSeconds: 1_999)).text
            .split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[1].hasPrefix("0123456789abcdef  ABCDE12345  both "))
        #expect(lines[1].contains("  valid ") && lines[1].hasSuffix("  org.example.Mail"))
        #expect(lines[2].contains("  development  ") && lines[2].contains("  revoked 19"))
        #expect(lines[3].hasPrefix("ffffffffffffffff  foreign ") && lines[3].contains("  revoked 19"))
        let later = CertificateCommands.report(of: certificates, now: Timestamp(unixSeconds: 2_000)).text
            .split(separator: "\n")
        #expect(later[1].contains("  expired "))
    }

    @Test(arguments: [true, false])
    func `the report of an issued certificate has no private key, and only a generated password`(isMade: Bool) throws {
        var certificate = Self.mail
        certificate.certificate = "PEM CERTIFICATE"
        certificate.privateKey = "PEM KEY"
        let files = try CertificateFiles(try typed("certificate", "issue", "a", "--p12", "a.p12", "-o", "a.pem"))
        let report = CertificateCommands.report(
            of: certificate, files: files, password: CertificateFiles.Password(text: "PASS", isMade: isMade))
        for text in [report.text, try report.jsonText] {
            #expect(!text.contains("PEM KEY"))
            #expect(text.contains("PASS") == isMade)
            for part in [certificate.fingerprint, "4A", "a.pem", "a.p12", "org.example.Mail"] {
                #expect(text.contains(part))
            }
        }
    }
}
