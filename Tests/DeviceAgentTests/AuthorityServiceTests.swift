// SPDX-License-Identifier: Apache-2.0

import AgentBus
import AgentStore
import Foundation
import LoopTestSupport
import PushAPI
import PushCore
import PushTLS
import TestSupport
import Testing

@testable import DeviceAgent

/// Checks that the agent follows the authorities that its server announces, and no set that would cut it off.
@Suite final class AuthorityServiceTests {
    private let directory: TemporaryDirectory
    private let server: ScriptedDeviceServer
    private let own: String

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ScriptedDeviceServer()
        own = readText(server.caFile)
    }

    private func announce(_ certificates: [String], version: Int64) async throws {
        try await announce(certificates.map { .init(certificate: $0) }, version: version)
    }

    /// Announces a set, whose version may differ from that of the notice.
    private func announce(_ authorities: [DeviceAPI.Authority], version: Int64, notice: Int64? = nil) async throws {
        let set = DeviceAPI.Authorities(version: version, system: false, authorities: authorities)
        try await server.setAuthorities(String(decoding: JSONEncoder().encode(set), as: UTF8.self))
        try await server.push(event: "authorities", data: #"{"version":\#(notice ?? version)}"#)
    }

    private func authority(_ name: String) throws -> String {
        String(decoding: try CertificateAuthority.make(commonName: name).certificate, as: UTF8.self)
    }

    private func enrolled() async throws -> AgentHarness {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        let fingerprint = try CertificateAuthority.fingerprint(certificate: Array(own.utf8))
        let code = EnrolmentCode(secret: "K7QM2XHD9FPT", authorityFingerprint: fingerprint).text
        _ = try await harness.enrol(server.url, code: code).get()
        try await harness.loop.run("the stream is open") { harness.isConnected() }
        return harness
    }

    private func version(_ harness: AgentHarness) throws -> Int64? {
        try harness.database.state.value(of: .authorityVersion)
    }

    @Test(.tags(.slow)) func `a set is confirmed, replaces the authority of the code, and survives a restart`()
        async throws
    {
        let other = try CertificateAuthority.make(commonName: "Next")
        try await follow(own, String(decoding: other.certificate, as: UTF8.self))
        // Only the announced set is left.
        try FileManager.default.removeItem(atPath: directory.path(of: "authority.pem"))
        let next = try AgentHarness(in: directory)
        try next.agent.start()
        try await next.loop.run("the stream is open again") { next.isConnected() }
        try next.agent.enrolment.forget()
        #expect(!FileManager.default.fileExists(atPath: directory.path(of: "trusted.pem")))
        #expect(try next.database.authorities.all().isEmpty && version(next) == 0)
    }

    private func follow(_ certificates: String...) async throws {
        let harness = try await enrolled()
        try await announce(certificates, version: 7)
        try await harness.loop.run("it is confirmed") { (try? self.version(harness)) == 7 }
        #expect(server.requests("PUT /v1/authorities") == [#"PUT /v1/authorities {"version":7}"#])
        #expect(try harness.database.authorities.all().count == certificates.count)
        let mode = try FileManager.default.attributesOfItem(atPath: directory.path(of: "trusted.pem"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
        try await harness.stop()
    }

    @Test(.tags(.slow)) func `a set under which the server cannot be reached is not adopted`() async throws {
        let harness = try await enrolled()
        let other = try CertificateAuthority.make(commonName: "Other")
        let foreign = String(decoding: other.certificate, as: UTF8.self)
        // A fetch begins after the earlier attempt has ended, even if its version was announced before.
        for (version, certificate) in [foreign, "garbage", foreign].enumerated() {
            try await announce([certificate], version: Int64(version) + 9)
            try await harness.loop.run("it is fetched") {
                self.server.requests("GET /v1/authorities").count > version
            }
        }
        #expect(server.requests("PUT /v1/authorities").isEmpty)
        #expect(try version(harness) ?? 0 == 0)
        try await server.endStreams()
        try await harness.loop.run("the connection ends") { !harness.isConnected() }
        try await harness.loop.run("the stream is open again") { harness.isConnected() }
    }

    @Test(.tags(.slow)) func `at most one set that the server did not confirm is trusted, until one is confirmed`()
        async throws
    {
        let harness = try await enrolled()
        var junk = ""
        for version in 1...3 {
            junk = try normalized(authority("Junk \(version)"))
            try await server.fail("PUT /v1/authorities", status: 500)
            try await announce([own, junk], version: Int64(version))
            try await harness.loop.run("it is refused") {
                self.server.requests("PUT /v1/authorities").count == version
            }
        }
        let trusted = try harness.database.authorities.all()
        #expect(try Set(trusted.map(\.certificate)) == [normalized(own), junk])
        #expect(trusted.allSatisfy { !$0.isConfirmed })
        #expect(try version(harness) ?? 0 == 0)
        try await announce([own], version: 4)
        try await harness.loop.run("it is confirmed") { (try? self.version(harness)) == 4 }
        #expect(try harness.database.authorities.all() == [TrustedAuthority(certificate: normalized(own))])
    }

    private func normalized(_ certificate: String) throws -> String {
        String(decoding: try AuthorityCertificate(Array(certificate.utf8)).pem, as: UTF8.self)
    }

    @Test(.tags(.slow)) func `a set with an odd value is refused as a whole`() async throws {
        let harness = try await enrolled()
        let leaf = try CertificateAuthority.make(commonName: "Issuer")
        let (issued, _) = try CertificateAuthority.issueServerCertificate(
            names: ["localhost"], authorityCertificate: leaf.certificate, authorityPrivateKey: leaf.privateKey)
        let other = try authority("Other")
        let good = DeviceAPI.Authority(certificate: own)
        let many = try (0..<Limits.announcedAuthorityCountMax).map {
            DeviceAPI.Authority(certificate: try authority("\($0)"))
        }
        let sets: [(Int64, [DeviceAPI.Authority])] = [
            (0, [good]), (-1, [good]), (20, [good, .init(certificate: String(decoding: issued, as: UTF8.self))]),
            (21, [.init(certificate: own + other)]), (22, [.init(certificate: own, until: .init(unixSeconds: -1))]),
            (23, [.init(certificate: own, until: .init(unixSeconds: 0))]), (24, [good] + many), (25, []),
            // The server's own authority has ended, so this set would cut the device off.
            (26, [.init(certificate: own, until: .init(unixSeconds: 1)), .init(certificate: other)]),
        ]
        for (number, set) in sets.enumerated() {
            try await announce(set.1, version: set.0, notice: Int64(number) + 1)
            try await harness.loop.run("it is fetched") {
                self.server.requests("GET /v1/authorities").count > number
            }
        }
        try await announce([good], version: 30)
        try await harness.loop.run("it is confirmed") { (try? self.version(harness)) == 30 }
        #expect(server.requests("PUT /v1/authorities") == [#"PUT /v1/authorities {"version":30}"#])
    }

    // MARK: The user's decision

    private static let noAuthorities = #"{"version":0,"system":false,"authorities":[]}"#

    @Test func `an authority is not trusted because another one is checked at the same time`() async throws {
        let harness = try await enrolled()
        try await server.setAuthorities(Self.noAuthorities)
        let bad = try directory.write(authority("Bad"), to: "bad.pem")
        for _ in 0..<5 {
            var results: [String: Bool] = [:]
            for file in [bad, server.caFile] {
                harness.start { agent throws(AgentRefusal) in
                    try await agent.authorities.trust(code: "", caFile: file)
                } completion: { result in
                    if case .success = result { results[file] = true } else { results[file] = false }
                }
            }
            try await harness.loop.run("both are checked") { results.count == 2 }
            #expect(results == [bad: false, server.caFile: true])
        }
        #expect(!readText(directory.path(of: "trusted.pem")).contains(readText(bad)))
    }

    @Test func `a decision for another authority does not outlive the enrolment`() async throws {
        let harness = try await enrolled()
        try await server.setAuthorities(Self.noAuthorities)
        var result: Result<Void, AgentRefusal>?
        harness.start { [server] agent throws(AgentRefusal) in
            try await agent.authorities.trust(code: "", caFile: server.caFile)
        } completion: {
            result = $0
        }
        try harness.agent.enrolment.forget()
        try await harness.loop.run("it ended") { result != nil }
        #expect(try harness.database.authorities.all().isEmpty)
    }

    // MARK: The file of the trusted authorities

    private struct Sources {
        let database: AgentDatabase
        let files: EnrolledAuthority
        let identity: Identity
    }

    private func sources() throws -> Sources {
        let path = try directory.write("-enrolled-", to: "enrolled.pem")
        return Sources(
            database: try AgentDatabase(path: directory.path(of: "other.sqlite")),
            files: EnrolledAuthority(path: directory.path(of: "authority.pem")),
            identity: Identity(serverURL: "https://push.example.org", deviceID: "00", caFile: path))
    }

    private func trusted(
        _ sources: Sources, at seconds: Int64 = 100, _ configuration: TrustStore.Configuration = .init()
    ) throws -> String {
        let store = TrustStore(sources.database, sources.files, configuration)
        let trust = try store.trust(for: sources.identity, now: Timestamp(unixSeconds: seconds))
        return trust.caFile.map { readText($0).filter { $0 != "\n" } } ?? "system"
    }

    @Test func `an authority is trusted until its end, but never none`() throws {
        let sources = try sources()
        #expect(try trusted(sources) == "-enrolled-")
        try sources.database.authorities.replaceAll([
            TrustedAuthority(certificate: "-a-", until: Timestamp(unixSeconds: 50)),
            TrustedAuthority(certificate: "-b-", until: Timestamp(unixSeconds: 150)),
        ])
        #expect(try trusted(sources) == "-b--enrolled-", "nothing was confirmed, so the enrolment counts")
        try sources.database.state.set(.authorityVersion, to: 3)
        #expect(try trusted(sources, at: 49) == "-a--b-")
        #expect(try trusted(sources, at: 50) == "-b-")
        #expect(try trusted(sources, at: 150) == "-a--b-", "a wrong clock must not end all trust")
    }

    @Test(arguments: [(nil, true), ("https://push.example.org/", true), ("https://other.example.org", false)])
    func `ca_file of agent_ini is trusted in addition, for its own server`(url: String?, counts: Bool) throws {
        let sources = try sources()
        try sources.database.authorities.replaceAll([TrustedAuthority(certificate: "-a-")])
        try sources.database.state.set(.authorityVersion, to: 3)
        let file = try directory.write("-configured-", to: "configured.pem")
        let text = try trusted(sources, .init(serverURL: url, caFile: file))
        #expect(text == (counts ? "-a--configured-" : "-a-"))
        #expect(try trusted(sources, .init(caFile: directory.path(of: "missing.pem"))) == "-a-")
    }

    @Test func `the authorities of the system are trusted only if the set contains them`() throws {
        let sources = try sources()
        try sources.database.state.set(.authorityVersion, to: 3)
        try sources.database.authorities.replaceAll([TrustedAuthority(certificate: nil)])
        #expect(try trusted(sources) == "system")
        try sources.database.authorities.replaceAll([
            TrustedAuthority(certificate: nil), TrustedAuthority(certificate: "-a-"),
        ])
        let store = TrustStore(sources.database, sources.files, .init())
        let trust = try store.trust(for: sources.identity, now: .unixEpoch)
        #expect(trust.includesSystem && trust.caFile == sources.files.trustedPath)
    }
}
