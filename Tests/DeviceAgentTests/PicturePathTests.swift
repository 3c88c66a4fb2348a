// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import Foundation
import PushAPI
import PushCore
import TestSupport
import Testing

/// Checks pictures in files that a real filter program names, and paths that nobody may name.
struct PicturePathTests {
    private let directory: TemporaryDirectory
    private static let mutable = #""aps":{"alert":"Photo","mutable-content":1}"#
    /// Shell words of a filter that returns the sender's payload unchanged.
    private static let handsThrough = #"sed 's/^.*"payload"://; s/}$//'"#

    init() throws { directory = try TemporaryDirectory() }

    private func desk(_ script: String, _ server: PictureServer? = nil) throws -> PictureDesk {
        let path = try directory.write(script, to: "filter.sh")
        let host = server.map { #","picture_hosts":["\#($0.host)"]"# } ?? ""
        return try PictureDesk(directory, server, manifest: #"{"filter":["/bin/sh","\#(path)"]\#(host)}"#)
    }

    /// Returns the shell words of a filter that names a file.
    private func naming(_ path: String, _ members: String = "") -> String {
        #"echo '{"aps":{"alert":"Opened"},"attachment-path":"\#(path)"\#(members)}'"#
    }

    /// Makes a copy of a picture for this test, and returns its path.
    private func photo() throws -> String {
        let path = directory.path(of: "photo.png")
        try FileManager.default.copyItem(atPath: "\(RepositoryPaths.root)/docs/images/alert.png", toPath: path)
        return path
    }

    @Test func `a file that the filter names is converted like a fetched one, and comes before an address`()
        async throws
    {
        let server = try await PictureServer()
        let photo = try photo()
        let desk = try desk(naming(photo, #","attachment-url":"\#(server.url("photo"))""#), server)
        try desk.receive(1, payload: "{\(Self.mutable)}")
        try await desk.waitForAlert()
        let path = try #require(desk.screen.alerts.first?.picture)
        #expect(path == directory.path(of: "pictures/1.png") && desk.screen.alerts[0].body == "Opened")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(bytes != (try Data(contentsOf: URL(fileURLWithPath: photo))), "no copy of the file")
        #expect(try desk.ignored(1).isEmpty && server.requests.isEmpty)
    }

    /// A file that is no picture for the agent.
    enum Unsuitable: String, CaseIterable {
        case link, pipe, directory, foreign, tooLarge, text, missing, relative

        var reason: String {
            switch self {
            case .link: "the file is a symbolic link"
            case .pipe, .directory: "it is not a regular file"
            case .foreign: "the file belongs to another user"
            case .tooLarge: "the file is longer than 5 MiB"
            case .text: "it is not a PNG, JPEG or WebP file"
            case .missing: "the file does not exist"
            case .relative: "it is not an absolute path"
            }
        }
    }

    /// Makes an unsuitable file, and returns the path that the filter names.
    private func make(_ file: Unsuitable) throws -> String {
        let path = directory.path(of: file.rawValue)
        switch file {
        case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: try photo())
        case .pipe: #expect(unsafe mkfifo(path, 0o600) == 0)
        case .directory: try directory.makeDirectory(file.rawValue)
        case .foreign where getuid() == 0:
            try FileManager.default.copyItem(atPath: try photo(), toPath: path)
            #expect(unsafe chown(path, 65534, 65534) == 0)
        case .foreign: return "/etc/passwd"
        case .tooLarge:
            try directory.write("", to: file.rawValue)
            #expect(unsafe truncate(path, off_t(Limits.pictureByteCountMax + 1)) == 0)
        case .text: try directory.write("secret", to: file.rawValue)
        case .missing: break
        case .relative:
            _ = try photo()
            return "photo.png"
        }
        return path
    }

    @Test(arguments: Unsuitable.allCases)
    func `any other file gives the reason, and the alert is shown without it`(file: Unsuitable) async throws {
        let desk = try desk(naming(try make(file)))
        try desk.receive(1, payload: "{\(Self.mutable)}")
        try await desk.waitForAlert()
        #expect(desk.screen.alerts.map(\.picture) == [nil])
        let ignored = try desk.ignored(1)
        #expect(ignored.hasPrefix("attachment-path: \(file.reason)"), "\(ignored)")
    }

    @Test func `a file of the maximum size is a picture`() async throws {
        let path = try photo()
        #expect(unsafe truncate(path, off_t(Limits.pictureByteCountMax)) == 0)
        let desk = try desk(naming(path))
        try desk.receive(1, payload: "{\(Self.mutable)}")
        try await desk.waitForAlert()
        let ignored = try desk.ignored(1)
        #expect(desk.screen.alerts[0].picture != nil, "\(ignored)")
    }

    @Test(arguments: ["true", handsThrough, "exit 1", "own"])
    func `a path that the sender names is ignored, also if the filter returns it or another one`(
        script: String
    ) async throws {
        let photo = try photo()
        let desk = try desk(script == "own" ? naming(photo) : script)
        try desk.receive(1, payload: #"{\#(Self.mutable),"attachment-path":"\#(photo)"}"#)
        try await desk.waitForAlert()
        #expect(desk.screen.alerts.map(\.picture) == [nil])
        #expect(try desk.ignored(1) == "attachment-path: only the app's filter can name a file")
    }

    @Test func `a path is ignored without a filter, and an address beside it still counts`() async throws {
        let server = try await PictureServer()
        let desk = try PictureDesk(directory, server)
        let path = try photo()
        let members = #""attachment-url":"\#(server.url("photo"))","attachment-path":"\#(path)""#
        try desk.receive(1, payload: #"{"aps":{"alert":"Photo"},\#(members)}"#)
        try await desk.waitForAlert()
        #expect(desk.screen.alerts[0].picture == directory.path(of: "pictures/1.png"))
        #expect(server.requests == ["/photo"])
        #expect(try desk.ignored(1) == "attachment-path: only the app's filter can name a file")
    }

    @Test func `pictures that are off for the app stay off for files`() async throws {
        let desk = try desk(naming(try photo()))
        try desk.database.choose(.pictures, "off", for: "org.example.Mail")
        try desk.receive(1, payload: "{\(Self.mutable)}")
        try await desk.waitForAlert()
        #expect(desk.screen.alerts.map(\.picture) == [nil])
        #expect(try desk.ignored(1) == "attachment-path: pictures are turned off for the app")
    }
}
