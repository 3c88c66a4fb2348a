// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Issues certificates with `posthorn certificate issue`, and sends with them through curl.
    struct CertificateTests {
        private static let topic = "org.example.Mail"
        private let server: EphemeralServer
        private let files: TemporaryDirectory

        init() async throws {
            server = try await EphemeralServer(topics: [Self.topic, "org.example.Chat"])
            files = try TemporaryDirectory()
        }

        /// Runs a command of `posthorn` that must succeed.
        @discardableResult
        private func posthorn(_ arguments: [String]) async throws -> ProgramResult {
            try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), arguments + ["--socket", server.line.adminSocket]
            ).succeeded()
        }

        private func issue(_ options: [String] = [], topic: String = topic, to name: String = "a.pem") async throws
            -> String
        {
            let path = files.path(of: name)
            try await posthorn(["certificate", "issue", topic, "--output", path] + options)
            return path
        }

        private func send(
            _ certificate: [String], _ fields: [String: String] = [:], token: String? = nil
        ) async throws -> CurlAnswer {
            try await CurlAnswer(
                host: server.line.host, port: server.line.port, caFile: server.line.caFile,
                token: token ?? server.topic.token, fields: fields, options: certificate)
        }

        @Test func `a certificate sends without a provider token and without a topic`() async throws {
            let path = try await issue()
            let answer = try await send(["--cert", path])
            #expect(answer.status == 200, "\(answer)")
            #expect(try await send([]).reason == "MissingProviderToken")
            let ignored = try await send(["--cert", path], ["authorization": "bearer garbage"])
            #expect(ignored.status == 200, "a token is not looked at: \(ignored)")
            try await eventually("the device has both") { try await server.admin.received().count == 2 }
        }

        @Test func `a PKCS#12 file sends too, with the generated or given password`() async throws {
            let made = files.path(of: "made.p12")
            let result = try await posthorn(["certificate", "issue", Self.topic, "--p12", made, "--json"])
            let password = try result.decoded(Issued.self).password
            #expect(password?.count == 20)
            #expect(try await send(["--cert-type", "P12", "--cert", "\(made):\(password ?? "")"]).status == 200)
            let given = files.path(of: "given.p12")
            let passwordFile = try files.write("correct horse\nbattery", to: "password")
            let second = try await posthorn([
                "certificate", "issue", Self.topic, "--p12", given, "--password-file", passwordFile, "--json",
            ])
            #expect(try second.decoded(Issued.self).password == nil)
            #expect(try await send(["--cert-type", "P12", "--cert", "\(given):correct horse"]).status == 200)
        }

        @Test func `the kind of a certificate limits the push types that it can send`() async throws {
            let single = ["--cert", try await issue()]
            let universal = ["--cert", try await issue(["--kind", "universal"], to: "b.pem")]
            let voip = ["--cert", try await issue(["--kind", "voip"], to: "c.pem")]
            let voipFields = ["apns-push-type": "voip", "apns-topic": "\(Self.topic).voip"]
            #expect(try await send(universal).reason == "MissingTopic")
            #expect(try await send(universal, ["apns-topic": Self.topic]).status == 200)
            #expect(try await send(universal, voipFields).status == 200)
            #expect(try await send(voip, voipFields).status == 200)
            #expect(try await send(voip, ["apns-push-type": "voip"]).status == 200)
            #expect(try await send(single, voipFields).reason == "TopicDisallowed")
            #expect(try await send(voip, ["apns-topic": Self.topic]).reason == "TopicDisallowed")
            for certificate in [single, universal] {
                let other = try await send(
                    certificate, ["apns-topic": "org.example.Chat"], token: server.line.topics[1].token)
                #expect(other.reason == "TopicDisallowed", "\(other)")
            }
        }

        @Test func `a certificate has its own limits, by its fingerprint in either case`() async throws {
            let (limited, other) = (try await issue(), try await issue(to: "b.pem"))
            let der = try await RunningProcess.run(
                RepositoryPaths.tool("openssl"), ["x509", "-in", limited, "-noout", "-fingerprint", "-sha256"]
            ).succeeded().output
            let fingerprint = der.split(separator: "=").last?.filter(\.isHexDigit) ?? ""
            try await posthorn(["quota", "set", "--key", String(fingerprint), "--rate", "1", "--daily", "1"])
            try await UTCDay.waitForRoom()
            let answers = [
                try await send(["--cert", limited]), try await send(["--cert", limited]),
                try await send(["--cert", other]),
            ]
            #expect(answers.map(\.status) == [200, 429, 200], "\(answers)")
            #expect(answers[1].reason == "TooManyRequests")
        }

        @Test func `a development certificate is refused in production`() async throws {
            let development = try await issue(["--environment", "development"])
            #expect(try await send(["--cert", development]).reason == "BadCertificateEnvironment")
            let production = try await issue(["--environment", "production"], to: "b.pem")
            #expect(try await send(["--cert", production]).status == 200)
        }

        @Test func `a revoked certificate is refused, by its file, its fingerprint or its leading digits`() async throws
        {
            for way in 0..<3 {
                let path = try await issue(to: "\(way).pem")
                #expect(try await send(["--cert", path]).status == 200)
                let list = try await posthorn(["certificate", "list", "--json"]).decoded(List.self)
                let fingerprint = try #require(list.certificates.first { $0.revokedAt == nil }?.fingerprint)
                let name = [["--file", path], [fingerprint], [String(fingerprint.prefix(8))]][way]
                try await posthorn(["certificate", "revoke", "--yes"] + name)
                let answer = try await send(["--cert", path])
                #expect(answer.status == 403 && answer.reason == "BadCertificate", "\(answer)")
            }
            let list = try await posthorn(["certificate", "list", "--json"]).decoded(List.self)
            #expect(list.certificates.count == 3 && list.certificates.allSatisfy { $0.revokedAt != nil })
        }

        @Test func `an untrusted certificate is refused with the reason`() async throws {
            let path = files.path(of: "self.pem")
            try await RunningProcess.run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/UID=\(Self.topic)", "-keyout", path + ".key", "-out", path,
                ]
            ).succeeded()
            let answer = try await send(["--cert", path, "--key", path + ".key"])
            #expect(answer.status == 403 && answer.reason == "BadCertificate", "\(answer)")
            #expect(answer.head.contains("self-signed certificate"), "\(answer.head)")
        }

        @Test func `no file is replaced, and a certificate that cannot be saved is revoked`() async throws {
            let path = try files.write("mine", to: "there.pem")
            let result = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"),
                ["certificate", "issue", Self.topic, "--output", path, "--socket", server.line.adminSocket])
            #expect(result.exit == .code(1))
            #expect(readText(path) == "mine")
            let both = files.path(of: "both.pem")
            let clash = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"),
                [
                    "certificate", "issue", Self.topic, "--output", both, "--p12", both, "--socket",
                    server.line.adminSocket,
                ])
            #expect(clash.exit == .code(1))
            #expect(!FileManager.default.fileExists(atPath: both))
            let list = try await posthorn(["certificate", "list", "--json"]).decoded(List.self)
            #expect(list.certificates.count == 1, "the first was never asked for")
            #expect(list.certificates.allSatisfy { $0.revokedAt != nil })
        }

        private struct Issued: Decodable {
            let password: String?

            private enum CodingKeys: String, CodingKey {
                case password = "p12_password"
            }
        }

        private struct List: Decodable {
            let certificates: [Certificate]

            struct Certificate: Decodable {
                let fingerprint: String
                let revokedAt: Int?

                private enum CodingKeys: String, CodingKey {
                    case fingerprint
                    case revokedAt = "revoked_at"
                }
            }
        }
    }
}

/// The server's answer to curl as a provider.
struct CurlAnswer {
    let status: Int
    /// The reason in the body; nil if the body has no reason.
    let reason: String?
    /// The header fields, as curl shows them.
    let head: String

    init(
        host: String, port: Int, caFile: String, token: String, fields: [String: String] = [:], options: [String]
    ) async throws {
        let headers = fields.flatMap { ["-H", "\($0.key): \($0.value)"] }
        let result = try await RunningProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--include", "--http2", "--cacert", caFile, "--data", "{}",
                "https://\(host):\(port)/3/device/\(token)",
            ] + headers + options
        ).succeeded()
        let parts = result.output.components(separatedBy: "\r\n\r\n")
        head = parts[0]
        status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
        let body = try? JSONSerialization.jsonObject(with: Data(parts.dropFirst().joined().utf8)) as? [String: Any]
        reason = body?["reason"] as? String
    }
}
