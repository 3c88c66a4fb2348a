// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import Foundation
import LinuxDesktop
import LoopTestSupport
import PushAPI
import PushCore
import PushNet
import TestSupport
import Testing

/// Runs an agent that gets pictures from a real https server and converts them in real processes.
struct PictureTests {
    private let directory: TemporaryDirectory
    private let server: PictureServer

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await PictureServer()
    }

    @Test func `an alert waits for its picture, which is deleted with its entry`() async throws {
        let desk = try Desk(directory, server)
        try desk.receive(1, picture: server.url("photo"))
        #expect(desk.screen.alerts.isEmpty)
        try await desk.waitForAlert()
        let path = try #require(desk.screen.alerts.first?.picture)
        #expect(path == directory.path(of: "pictures/1.png"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try desk.database.inbox.entry(1)?.picture == path)
        _ = try desk.agent.inbox.remove([1])
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(
        arguments: [
            (#"{"picture_hosts":["images.example.org"]}"#, "on", "photo", "the app does not name the host localhost"),
            ("", "on", "photo", "the app does not name the host localhost"),
            (nil, "off", "photo", "pictures are switched off for the app"),
        ] as [(String?, String, String, String)])
    func `without the app's host and the user's leave, nothing is fetched, and the alert does not wait`(
        manifest: String?, choice: String, path: String, reason: String
    ) async throws {
        let desk = try Desk(directory, server, manifest: manifest)
        try desk.database.choose(.pictures, choice, for: "org.example.Mail")
        try desk.receive(1, picture: server.url(path))
        #expect(desk.screen.alerts.map(\.picture) == [nil])
        #expect(try desk.database.inbox.entry(1)?.ignored.contains("attachment-url: \(reason)") == true)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [
        ("big", "the answer is longer than"), ("page", "it is not a PNG, JPEG or WebP file"),
        ("max", "it is damaged or too large"), ("missing", "the host answered 404"),
    ])
    func `an alert whose picture fails is shown without it, and the entry says why`(
        path: String, reason: String
    ) async throws {
        let desk = try Desk(directory, server)
        try desk.receive(1, picture: server.url(path))
        try await desk.waitForAlert()
        let entry = try #require(try desk.database.inbox.entry(1))
        #expect(desk.screen.alerts.map(\.picture) == [nil] && entry.picture == nil && entry.state == .shown)
        #expect(entry.ignored.hasPrefix("attachment-url: \(reason)"), "\(entry.ignored)")
    }

    @Test func `an alert whose picture does not arrive in time is shown without it, once`() async throws {
        let desk = try Desk(directory, server, timeout: .milliseconds(300))
        try desk.receive(1, picture: server.url("slow"))
        try desk.receive(2, picture: nil)
        #expect(desk.screen.alerts.map(\.entry) == [2], "an alert without a picture does not wait")
        try await desk.waitForAlert(count: 2)
        #expect(desk.screen.alerts.map(\.picture) == [nil, nil])
        #expect(try desk.database.inbox.entry(1)?.ignored.contains("did not arrive within") == true)
    }

    @Test func `the fifth picture at a time is not fetched`() async throws {
        let desk = try Desk(directory, server, timeout: .seconds(600))
        for number in 1...4 { try desk.receive(UInt64(number), picture: server.url("slow")) }
        #expect(desk.screen.alerts.isEmpty)
        try desk.receive(5, picture: server.url("photo"))
        #expect(desk.screen.alerts.map(\.entry) == [5])
        #expect(try desk.database.inbox.entry(5)?.ignored.contains("too many other pictures") == true)
    }

    @Test func `above the limit on the disk space, the oldest pictures are deleted`() throws {
        let folder = PictureFolder(path: directory.path(of: "pictures"), byteCountMax: 250)
        for number in 1...3 {
            _ = try folder.save([UInt8](repeating: 1, count: 100), of: EntryID(rawValue: Int64(number)))
        }
        try directory.write("other", to: "pictures/notes.txt")
        #expect(folder.sweep { $0 != 9 } == [1])
        #expect(folder.sweep { $0 == 3 }.isEmpty)
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path(of: "pictures")).sorted()
        #expect(left == ["3.png", "notes.txt"])
    }

    /// An agent with a screen that records its alerts.
    private struct Desk {
        let screen = AlertCollector()
        let database: AgentDatabase
        let agent: Agent
        private let loop: EventLoop

        init(
            _ directory: TemporaryDirectory, _ server: PictureServer, manifest: String? = nil,
            timeout: Duration = .seconds(60)
        ) throws {
            loop = try EventLoop()
            database = try AgentDatabase(path: directory.path(of: "agent.sqlite"))
            var environment = AgentEnvironment(presenter: screen)
            environment.pictures = PictureQueue.Means(
                fetcher: PictureFetcher(loop: loop, access: ServerAccess(), caFile: server.caFile),
                converter: PictureConverter(
                    loop: loop, program: RepositoryPaths.program("posthorn-panel"),
                    environment: ["PATH": "/usr/bin:/bin"]),
                folder: PictureFolder(path: directory.path(of: "pictures")), timeout: timeout)
            agent = Agent(
                loop: loop, database: database, secretFile: SecretFile(path: directory.path(of: "secret")),
                authorityFile: EnrolledAuthority(path: directory.path(of: "authority.pem")), environment: environment)
            try agent.start()
            var app = Sample.app
            app.manifestText = Array((manifest ?? #"{"picture_hosts":["\#(server.host)"]}"#).utf8)
            try database.apps.save(app)
        }

        func receive(_ number: UInt64, picture: String?) throws {
            let member = picture.map { #","attachment-url":"\#($0)""# } ?? ""
            let payload = #"{"aps":{"alert":"Photo \#(number)"}\#(member)}"#
            #expect(agent.link.streamReceived([.notification(Sample.notification(number, payload: payload))]))
        }

        func waitForAlert(count: Int = 1) async throws {
            try await loop.run("the alert is shown") { screen.alerts.count >= count }
            #expect(screen.alerts.count == count)
        }
    }
}
