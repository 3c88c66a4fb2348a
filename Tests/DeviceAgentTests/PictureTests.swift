// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import Foundation
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
        let desk = try PictureDesk(directory, server)
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
            (nil, "off", "photo", "pictures are turned off for the app"),
        ] as [(String?, String, String, String)])
    func `without the app's host and the user's leave, nothing is fetched, and the alert does not wait`(
        manifest: String?, choice: String, path: String, reason: String
    ) async throws {
        let desk = try PictureDesk(directory, server, manifest: manifest)
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
        let desk = try PictureDesk(directory, server)
        try desk.receive(1, picture: server.url(path))
        try await desk.waitForAlert()
        let entry = try #require(try desk.database.inbox.entry(1))
        #expect(desk.screen.alerts.map(\.picture) == [nil] && entry.picture == nil && entry.state == .shown)
        #expect(entry.ignored.hasPrefix("attachment-url: \(reason)"), "\(entry.ignored)")
    }

    @Test func `an alert whose picture does not arrive in time is shown without it, once`() async throws {
        let desk = try PictureDesk(directory, server, timeout: .milliseconds(300))
        try desk.receive(1, picture: server.url("slow"))
        try desk.receive(2, picture: nil)
        #expect(desk.screen.alerts.map(\.entry) == [2], "an alert without a picture does not wait")
        try await desk.waitForAlert(count: 2)
        #expect(desk.screen.alerts.map(\.picture) == [nil, nil])
        #expect(try desk.database.inbox.entry(1)?.ignored.hasPrefix("attachment-url: it was not ready within") == true)
    }

    @Test func `the fifth picture at a time is not fetched`() async throws {
        let desk = try PictureDesk(directory, server, timeout: .seconds(600))
        for number in 1...4 { try desk.receive(UInt64(number), picture: server.url("slow")) }
        #expect(desk.screen.alerts.isEmpty)
        try desk.receive(5, picture: server.url("photo"))
        #expect(desk.screen.alerts.map(\.entry) == [5])
        #expect(try desk.database.inbox.entry(5)?.ignored.contains("too many other pictures") == true)
    }

    @Test func `an app with slow pictures does not take those of another app`() async throws {
        let desk = try PictureDesk(directory, server, timeout: .seconds(600))
        var other = try #require(try desk.database.apps.app(id: "org.example.Mail"))
        other.appID = "org.example.Chat"
        other.topic = "org.example.Chat"
        other.deviceToken = String(repeating: "cd", count: 32)
        try desk.database.apps.save(other)
        for number in 1...5 { try desk.receive(UInt64(number), picture: server.url("slow")) }
        try desk.receive(6, picture: server.url("photo"), topic: "org.example.Chat")
        try await desk.waitForAlert(count: 2)
        #expect(desk.screen.alerts.map(\.entry) == [5, 6])
        #expect(desk.screen.alerts.map { $0.picture != nil } == [false, true])
    }

    @Test(arguments: ["slow", "drip", "wait3"])
    func `hosts that hang leave their places when their time is over`(path: String) async throws {
        let desk = try PictureDesk(directory, server, timeout: .milliseconds(300))
        for number in 1...4 { try desk.receive(UInt64(number), picture: server.url(path)) }
        try await desk.waitForAlert(count: 4)
        // Requests end at about the same time as the waits of their alerts.
        var number: UInt64 = 4
        try await desk.loop.run("a further one waits for its picture") {
            number += 1
            try? desk.receive(number, picture: server.url("photo"))
            return desk.screen.alerts.count < number
        }
    }

    @Test func `pictures are deleted with their app, and at the start if their entries are gone`() async throws {
        try directory.makeDirectory("pictures")
        do {
            let desk = try PictureDesk(directory, server)
            try desk.receive(1, picture: server.url("photo"))
            try await desk.waitForAlert()
        }
        try directory.write("left by a crash", to: "pictures/77.png")
        let desk = try PictureDesk(directory, server)
        #expect(pictures() == ["1.png"])
        var isGone = false
        let registrations = desk.agent.registrations
        desk.loop.startTask {
            try? await registrations.unregister(appID: "org.example.Mail")
            isGone = true
        }
        try await desk.loop.run("the app is unregistered") { isGone }
        #expect(try desk.database.inbox.entry(1) == nil && pictures().isEmpty)
    }

    @Test func `a new picture that exceeds the limit on the disk space takes the place of the oldest`() async throws {
        var byteCountMax = Limits.picturesByteCountMax
        for count in 1...2 {
            let folder = try TemporaryDirectory()
            let desk = try PictureDesk(folder, server, byteCountMax: byteCountMax)
            for number in 1...count {
                try desk.receive(UInt64(number), picture: server.url("photo"))
                try await desk.waitForAlert(count: number)
            }
            let path = folder.path(of: "pictures/\(count).png")
            #expect(try desk.database.inbox.entry(EntryID(rawValue: Int64(count)))?.picture == path)
            byteCountMax = try Data(contentsOf: URL(fileURLWithPath: path)).count * 3 / 2
            guard count == 2 else { continue }
            #expect(try desk.database.inbox.entry(1)?.picture == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(of: "pictures")) == ["2.png"])
        }
    }

    private func pictures() -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path(of: "pictures"))
        return (names ?? []).sorted()
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
}
