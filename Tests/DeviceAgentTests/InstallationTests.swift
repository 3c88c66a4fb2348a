// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import Foundation
@testable import PushAPI
@testable import PushCore
import LoopTestSupport
import TestSupport
import Testing

private final class Dock: BadgePresenter {
    var badges: [String] = []
    func setBadge(_ count: UInt32, appID: AppID) { badges.append("\(appID) \(count)") }
}

@Suite(.serialized) struct InstallationTests {
    private static let app: AppID = "org.example.Mail"
    private static let week = InstallationService.uninstalledAfterSeconds
    private let directory: TemporaryDirectory
    private let server: ScriptedDeviceServer

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ScriptedDeviceServer()
    }

    private func registered(badges: (any BadgePresenter)? = nil) async throws -> AgentHarness {
        let harness = try AgentHarness(in: directory, badges: badges)
        try harness.agent.start()
        _ = try await harness.enrol(with: server).get()
        _ = try await harness.register(Self.app).get()
        return harness
    }

    private func appIDs(_ harness: AgentHarness) throws -> [AppID] { try harness.database.apps.all().map(\.appID) }

    @Test func `an uninstalled app leaves no row, badge, entry, sound or registration`() async throws {
        let dock = Dock()
        let harness = try await registered(badges: dock)
        try await server.push(1, payload: #"{"aps":{"alert":"Hello","badge":3}}"#)
        try await harness.loop.run("it came") { dock.badges.last == "\(Self.app) 3" }
        try harness.database.choose(.sound, "off", for: Self.app)
        let sounds = try soundFolder()
        harness.installed.names = [:]
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000))
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000 + Self.week - 1))
        #expect(try appIDs(harness) == [Self.app])
        #expect(FileManager.default.fileExists(atPath: sounds))
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000 + Self.week))
        try await harness.loop.run("it is forgotten") { (try? appIDs(harness)) == [] }
        #expect(dock.badges.last == "\(Self.app) 0")
        #expect(try harness.database.inbox.newest(countMax: 10).isEmpty)
        #expect(try harness.database.choices.value(of: .sound, appID: Self.app, event: "") == nil)
        #expect(server.requests("DELETE /v1/apps/org.example.Mail").count == 1)
        #expect(!FileManager.default.fileExists(atPath: sounds))
    }

    @Test func `an app that unregisters loses its entries, but keeps its sounds`() async throws {
        let harness = try await registered()
        _ = try await harness.register("org.example.Chat").get()
        try await server.push(1)
        try await harness.loop.run("it is shown") { harness.screen.contains("inbox show 1") }
        let sounds = try soundFolder()
        #expect(
            try await harness.unregister("org.example.Chat")
                == nil)
        #expect(try harness.database.inbox.newest(countMax: 10).count == 1)
        #expect(
            try await harness.unregister(Self.app) == nil)
        #expect(try harness.database.inbox.newest(countMax: 10).isEmpty)
        #expect(FileManager.default.fileExists(atPath: sounds))
    }

    /// Returns the app's folder of sounds, with one sound in it.
    private func soundFolder() throws -> String {
        let folder = directory.path(of: "data/posthorn/sounds/\(Self.app)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("chime".utf8).write(to: URL(filePath: "\(folder)/chime.oga"))
        return folder
    }

    @Test func `an app that named itself gets the name of its desktop file when that is installed`() async throws {
        let harness = try await registered()
        harness.installed.names = [:]
        let name = try await harness.run { agent throws(AgentRefusal) in
            try await agent.registrations.register(
                appID: "org.example.Shop", topic: nil, name: "Your Bank", asker: .app(isSandboxed: false))
        }
        _ = try name.get()
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000))
        #expect(try harness.database.apps.app(id: "org.example.Shop")?.name == "Your Bank")
        harness.installed.names["org.example.Shop"] = "Shop"
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1001))
        let app = try #require(try harness.database.apps.app(id: "org.example.Shop"))
        #expect(app.name == "Shop" && app.isVerified && app.icon == "mail")
    }

    @Test func `an upgrade that removes the file for a while changes nothing`() async throws {
        let harness = try await registered()
        let installed = harness.installed.names
        harness.installed.names = [:]
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000))
        harness.installed.names = installed
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000 + Self.week - 1))
        harness.installed.names = [:]
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000 + Self.week))
        #expect(try harness.database.installations.goneSince(Self.app) == Timestamp(unixSeconds: 1000 + Self.week))
        #expect(try appIDs(harness) == [Self.app])
    }

    @Test func `a script without a desktop file stays registered`() async throws {
        let harness = try await registered()
        _ = try await harness.register("org.example.Backup").get()
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000))
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000 + 10 * Self.week))
        #expect(try appIDs(harness) == ["org.example.Backup", Self.app])
        #expect(try harness.database.installations.goneSince("org.example.Backup") == nil)
    }

    @Test func `the time since an app's removal survives restarts and wrong clocks`() async throws {
        do {
            let harness = try await registered()
            harness.installed.names = [:]
            harness.agent.installations.check(now: Timestamp(unixSeconds: 50 * Self.week))
            // The clock was ahead.
            harness.agent.installations.check(now: Timestamp(unixSeconds: 1000))
            try await harness.stop()
        }
        let harness = try AgentHarness(in: directory)
        harness.installed.names = [:]
        #expect(try harness.database.installations.goneSince(Self.app) == Timestamp(unixSeconds: 1000))
        try harness.database.state.set(.clockTrustedAt, to: Timestamp.now)
        try harness.agent.start()
        try await harness.loop.run("the connection looks, and it is forgotten") { (try? appIDs(harness)) == [] }
    }

    @Test func `a clock that jumps ahead uninstalls nothing until a day has passed`() async throws {
        let harness = try await registered()
        harness.installed.names = [:]
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000))
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1001 + Self.week))
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000 + Self.week + 24 * 3600))
        #expect(try appIDs(harness) == [Self.app])
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1001 + Self.week + 24 * 3600))
        try await harness.loop.run("it is forgotten") { (try? appIDs(harness)) == [] }
    }

    @Test func `an unregistration that fails at the server is retried`() async throws {
        let harness = try await registered()
        harness.installed.names = [:]
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000))
        try await server.fail("/v1/apps/org.example.Mail", status: 503, count: 1)
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1000 + Self.week))
        try await harness.loop.run("the server refused") { server.requests("DELETE /v1/apps").count == 1 }
        #expect(try appIDs(harness) == [Self.app])
        harness.agent.installations.check(now: Timestamp(unixSeconds: 1001 + Self.week))
        try await harness.loop.run("it is forgotten") { (try? appIDs(harness)) == [] }
    }
}
