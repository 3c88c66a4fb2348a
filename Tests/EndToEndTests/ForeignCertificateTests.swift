// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Checks certificates in the admin API on the wire, of other authorities, and beside a configured certificate.
    struct ForeignCertificateTests {
        private static let topic = "org.example.Mail"
        private let files: TemporaryDirectory

        init() throws { files = try TemporaryDirectory() }

        private func openssl(_ arguments: [String]) async throws {
            try await RunningProcess.run("/usr/bin/openssl", arguments).succeeded()
        }

        /// Makes an authority and a certificate issued by it: files `NAME-ca.pem` and `NAME.pem`, the latter with its
        /// key.
        private func makeForeign(_ name: String, extensions: String, subject: String) async throws {
            let (key, path) = (files.path(of: "\(name).key"), files.path(of: "\(name).crt"))
            let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            try await openssl(
                ["req", "-x509"] + curve + [
                    "-subj", "/CN=\(name)", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout",
                    files.path(of: "\(name)-ca.key"), "-out", files.path(of: "\(name)-ca.pem"),
                ])
            try await openssl(
                ["req", "-new"] + curve + ["-subj", subject, "-keyout", key, "-out", files.path(of: "\(name).csr")])
            let extensionsPath = try files.write(extensions, to: "\(name).cnf")
            try await openssl([
                "x509", "-req", "-in", files.path(of: "\(name).csr"), "-CA", files.path(of: "\(name)-ca.pem"), "-CAkey",
                files.path(of: "\(name)-ca.key"), "-CAcreateserial", "-extfile", extensionsPath, "-days", "30",
                "-out", path,
            ])
            try files.write(readText(path) + readText(key), to: "\(name).pem")
        }

        private func send(to server: InstalledServer, caFile: String, token: String, certificate: String) async throws
            -> CurlAnswer
        {
            try await CurlAnswer(
                host: "127.0.0.1", port: server.port, caFile: caFile, token: token,
                options: ["--cert", files.path(of: certificate)])
        }

        /// Adds an app and returns a device token of it.
        private func deviceToken(_ server: InstalledServer, caFile: String) async throws -> String {
            try await server.posthorn("app", "add", Self.topic)
            let code = try await server.enrolmentCode()
            let device = try await curl(
                ["-d", #"{"code":"\#(code)","name":"test","platform":"linux"}"#], "devices", server, caFile
            ).decoded(Device.self)
            let answer = try await curl(
                ["-X", "PUT", "-H", "authorization: Bearer \(device.secret)"], "apps/\(Self.topic)", server, caFile)
            return try answer.decoded(Registration.self).deviceToken
        }

        private func curl(
            _ arguments: [String], _ path: String, _ server: InstalledServer, _ caFile: String
        ) async throws -> ProgramResult {
            try await RunningProcess.run(
                "/usr/bin/curl", ["-sS", "--cacert", caFile, "\(server.url)/v1/\(path)"] + arguments
            ).succeeded()
        }

        @Test func `a certificate of a configured authority can send until it is revoked`() async throws {
            let client = "extendedKeyUsage=clientAuth\n"
            try await makeForeign("known", extensions: client, subject: "/UID=\(Self.topic)")
            try await makeForeign("unknown", extensions: client, subject: "/UID=\(Self.topic)")
            let server = try await InstalledServer(options: ["--client-ca-files", files.path(of: "known-ca.pem")])
            let caFile = server.authorityFile
            let token = try await deviceToken(server, caFile: caFile)
            let good = try await send(to: server, caFile: caFile, token: token, certificate: "known.pem")
            #expect(good.status == 200, "\(good)")
            let unknown = try await send(to: server, caFile: caFile, token: token, certificate: "unknown.pem")
            #expect(unknown.reason == "BadCertificate", "\(unknown)")
            let revoked = try await server.posthorn("certificate", "revoke", "--file", files.path(of: "known.pem"))
            #expect(revoked.output.contains("of another CA"))
            let refused = try await send(to: server, caFile: caFile, token: token, certificate: "known.pem")
            #expect(refused.status == 403 && refused.reason == "BadCertificate", "\(refused)")
            #expect(try await server.posthorn("certificate", "list").output.contains("foreign"))
            try await server.process.killNow()
            try await server.start()
            let still = try await send(to: server, caFile: caFile, token: token, certificate: "known.pem")
            #expect(still.reason == "BadCertificate", "it stays revoked: \(still)")
        }

        @Test func `beside a configured certificate the server still issues and trusts its own`() async throws {
            let names = "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"
            try await makeForeign("public", extensions: names, subject: "/CN=127.0.0.1")
            let server = try await InstalledServer(options: [
                "--certificate-file", files.path(of: "public.crt"), "--private-key-file", files.path(of: "public.key"),
            ])
            let caFile = files.path(of: "public-ca.pem")
            let token = try await deviceToken(server, caFile: caFile)
            try await server.posthorn("certificate", "issue", Self.topic, "--output", files.path(of: "client.pem"))
            let answer = try await send(to: server, caFile: caFile, token: token, certificate: "client.pem")
            #expect(answer.status == 200, "\(answer)")
            let status = try await server.admin.exchange("GET", "/v1/status")
            #expect(status["ca_file"] == nil, "nobody need trust the authority: \(status)")
            let own = try await send(to: server, caFile: caFile, token: token, certificate: "public.pem")
            #expect(own.reason == "BadCertificate", "the server's own certificate is for servers: \(own)")
        }

        @Test func `the admin API refuses an invalid request with a remedy`() async throws {
            let server = try await InstalledServer()
            try await server.posthorn("app", "add", Self.topic)
            let path = "/v1/certificates"
            let digits = String(repeating: "ab", count: 32)
            let cases: [(Int, String, String, String, String?)] = [
                (400, "BadRequest", "POST", path, "{}"), (404, "UnknownTopic", "POST", path, #"{"topic":"x"}"#),
                (400, "BadRequest", "POST", path, #"{"topic":"\#(Self.topic)","kind":"app"}"#),
                (400, "BadRequest", "POST", path, #"{"topic":"\#(Self.topic)","days":0}"#),
                (400, "BadRequest", "POST", path, #"{"topic":"\#(Self.topic)","days":826}"#),
                (400, "BadRequest", "POST", path, #"{"topic":"\#(Self.topic)","environment":"sandbox"}"#),
                (404, "UnknownCertificate", "DELETE", "\(path)/\(digits)", nil),
                (404, "UnknownCertificate", "DELETE", "\(path)/\(digits.dropLast())", nil),
                (404, "UnknownCertificate", "DELETE", "\(path)/x", nil),
                (400, "BadRequest", "POST", "\(path)/revoked", "{}"),
                (400, "BadFingerprint", "POST", "\(path)/revoked", #"{"fingerprint":"\#(digits.dropLast())"}"#),
                (400, "BadFingerprint", "POST", "\(path)/revoked", #"{"fingerprint":"\#(digits.dropLast())g"}"#),
                (405, "MethodNotAllowed", "GET", "\(path)/revoked", nil),
                (405, "MethodNotAllowed", "GET", "\(path)/\(digits)", nil),
                (405, "MethodNotAllowed", "DELETE", path, nil), (404, "NotFound", "GET", "\(path)/a/b", nil),
            ]
            for (status, error, method, target, body) in cases {
                let answer = try await server.admin.exchange(method, target, body)
                #expect(answer.status == status && answer["error"] == error, "\(method) \(target): \(answer)")
            }
            #expect(try await server.admin.exchange("GET", path).body == #"{"certificates":[]}"#)
            let body = #"{"topic":"\#(Self.topic)","days":825,"kind":"voip","environment":"production"}"#
            let issued = try await server.admin.exchange("POST", path, body)
            #expect(issued.status == 201 && issued["fingerprint"]?.count == 64, "\(issued)")
            #expect(issued["environment"] == "production" && issued["private_key"]?.contains("PRIVATE KEY") == true)
            let list = try await server.admin.exchange("GET", path).body
            #expect(list.contains("\(Self.topic).voip") && !list.contains("PRIVATE KEY"))
            try FileManager.default.removeItem(atPath: server.files.path(of: "data/authority.key"))
            let unmade = try await server.admin.exchange("POST", path, body)
            #expect(unmade.status == 500 && unmade["error"] == "CertificateNotMade", "\(unmade)")
            #expect(unmade["detail"]?.contains("authority.key: The file is missing") == true)
        }

        private struct Device: Decodable {
            let secret: String

            private enum CodingKeys: String, CodingKey {
                case secret = "device_secret"
            }
        }

        private struct Registration: Decodable {
            let deviceToken: String

            private enum CodingKeys: String, CodingKey {
                case deviceToken = "device_token"
            }
        }
    }
}
