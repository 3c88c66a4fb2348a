// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushStore
import PushTLS
import TestSupport
import Testing

@testable import PushServer

@Suite struct AuthorityKeeperTests {
    private let directory: TemporaryDirectory
    private let now = Timestamp(unixSeconds: 1_800_000_000)

    init() throws { directory = try TemporaryDirectory() }

    private func installation() throws -> Installation {
        try Installation(
            ServerConfiguration(
                file: nil, flags: [(.dataDirectory, directory.path), (.names, "localhost")], environment: [:],
                isRoot: false, readsDefaultFile: false))
    }

    private func keeper() throws -> AuthorityKeeper { try AuthorityKeeper(installation()) {} }

    private func roles(_ keeper: AuthorityKeeper) -> [String] {
        keeper.description([], now: now).authorities.map { "\($0.role) \($0.announced) \($0.serving)" }
    }

    @Test func `nothing is announced before the first change`() throws {
        let keeper = try keeper()
        #expect(keeper.version == 0 && keeper.announcement(now: now).authorities.isEmpty)
        #expect(roles(keeper) == ["current false true"])
    }

    @Test func `a rotation announces both authorities, then uses the next one, and survives restarts`() throws {
        var keeper = try keeper()
        let first = keeper.servedOwnFingerprint
        try keeper.begin(now: now)
        try keeper.begin(now: now)
        #expect(roles(keeper) == ["current true true", "next true false"])
        #expect(keeper.announcement(now: now).authorities.count == 2 && keeper.version == now.unixMilliseconds)
        keeper = try self.keeper()
        try keeper.complete(now: now.advanced(bySeconds: 1))
        #expect(keeper.servedOwnFingerprint != first)
        #expect(roles(keeper) == ["previous true false", "current true true"])
        #expect(throws: AuthorityKeeper.Refusal.self) { try keeper.complete(now: now) }
        keeper = try self.keeper()
        #expect(roles(keeper) == ["previous true false", "current true true"])
        let later = now.advanced(bySeconds: 31 * 86_400)
        #expect(keeper.announcement(now: later).authorities.count == 1)
        let own = try AuthorityCertificate.all(in: Array(directory.read("authorities.pem").utf8))
        #expect(own.count == 2, "provider certificates of the previous authority stay valid")
    }

    @Test func `a start completes a rotation that was decided before a crash`() throws {
        let keeper = try keeper()
        let next = try { () throws in
            try keeper.begin(now: now)
            return try Installation.fingerprint(directory.path(of: "authority-next.pem"))
        }()
        for isKeyMoved in [false, true] {
            var state = try AuthorityState(in: directory.path)
            state.current = Hex.text(next)
            try state.store(in: directory.path)
            if isKeyMoved {
                // A crash between the two moves.
                try FileManager.default.copyItem(
                    atPath: directory.path(of: "authority.pem"), toPath: directory.path(of: "authority-next.pem"))
            }
            let installation = try installation()
            #expect(try installation.authorityFingerprint() == next)
            #expect(!FileManager.default.fileExists(atPath: directory.path(of: "authority-next.pem")))
            let chain = Array(directory.read("server.pem").utf8)
            let authority = try AuthorityCertificate(Array(directory.read("authority.pem").utf8))
            #expect(try AuthorityCertificate.chain(chain, leadsTo: authority))
        }
    }

    @Test func `an announced file counts by what devices confirmed, and the authority in use stays`() throws {
        let keeper = try keeper()
        let other = try CertificateAuthority.make(commonName: "Other")
        try keeper.announce(
            .init(role: .file, certificate: String(decoding: other.certificate, as: UTF8.self)), now: now)
        #expect(roles(keeper) == ["current true true", "file true false"])
        let version = keeper.version
        let trust = [
            DeviceTrust(confirmedVersion: version, enrolledUnder: nil, deviceCount: 2),
            DeviceTrust(confirmedVersion: 0, enrolledUnder: keeper.servedOwnFingerprint, deviceCount: 3),
            DeviceTrust(confirmedVersion: 0, enrolledUnder: nil, deviceCount: 4),
        ]
        let described = keeper.description(trust, now: now)
        #expect(described.authorities.map(\.devices) == [5, 2])
        #expect(described.devices == 9 && described.cutOff == 4)
        let ids = described.authorities.map(\.id)
        #expect(throws: AuthorityKeeper.Refusal.self) { try keeper.remove(ids[0], now: now) }
        try keeper.remove(ids[1], now: now)
        #expect(roles(keeper) == ["current true true"] && keeper.version > version)
    }

    @Test(arguments: ["", "garbage"]) func `a text without a certificate of an authority is refused`(text: String)
        throws
    {
        let keeper = try keeper()
        #expect(throws: AuthorityKeeper.Refusal.self) {
            try keeper.announce(.init(role: .file, certificate: text), now: now)
        }
        #expect(keeper.version == 0)
    }

    @Test func `at most eight authorities are announced`() throws {
        let keeper = try keeper()
        for number in 1..<Limits.announcedAuthorityCountMax {
            let other = try CertificateAuthority.make(commonName: "Other \(number)")
            try keeper.announce(
                .init(role: .file, certificate: String(decoding: other.certificate, as: UTF8.self)), now: now)
        }
        #expect(throws: AuthorityKeeper.Refusal.self) { try keeper.announce(.init(role: .system), now: now) }
    }
}
