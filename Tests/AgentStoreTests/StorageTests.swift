// SPDX-License-Identifier: Apache-2.0

import PushSQL
@testable import AgentStore
import Foundation
import PushAPI
import PushCore
import PushSQLite
import TestSupport
import Testing

@Suite struct StorageTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `the state directory is created for the user only`() throws {
        let state = directory.path(of: "a/b/state")
        let directories = AgentDirectories(environment: ["HOME": directory.path, "XDG_STATE_HOME": state])
        try directories.makeState()
        try directories.makeState()
        #expect(directories.databasePath == "\(state)/posthorn/agent.sqlite")
        #expect(try mode(of: "\(state)/posthorn") == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(state)/posthorn")
        try directories.makeState()
        #expect(try mode(of: "\(state)/posthorn") == 0o700)
    }

    @Test(arguments: [nil, "", "relative/path"])
    func `without an absolute XDG_STATE_HOME the state directory is in the home directory`(variable: String?) {
        var environment = ["HOME": "/home/anna"]
        environment["XDG_STATE_HOME"] = variable
        environment["XDG_CONFIG_HOME"] = variable
        let directories = AgentDirectories(environment: environment)
        #expect(directories.state == "/home/anna/.local/state/posthorn")
        #expect(directories.configurationPath == "/home/anna/.config/posthorn/agent.ini")
    }

    @Test func `a directory that cannot be created is an error that names it`() throws {
        try directory.write("", to: "file")
        let directories = AgentDirectories(environment: ["XDG_STATE_HOME": directory.path(of: "file")])
        let error = #expect(throws: StorageError.self) { try directories.makeState() }
        #expect(error?.message.contains("\(directory.path)/file/posthorn") == true)
    }

    @Test func `a second agent is refused while the first one runs`() throws {
        let path = directory.path(of: "agent.lock")
        var first: AgentLock? = try AgentLock(path: path)
        let error = #expect(throws: StorageError.self) { try AgentLock(path: path) }
        guard case .alreadyRunning(path) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        withExtendedLifetime(first) {}
        first = nil
        #expect(throws: Never.self) { try AgentLock(path: path) }
    }

    @Test func `the secret is readable for this user only, and is replaced as a whole`() throws {
        let path = directory.path(of: "device-secret")
        let file = SecretFile(path: path)
        #expect(try file.read() == nil)
        try file.write("first")
        try file.write("second")
        #expect(try file.read() == "second")
        #expect(try mode(of: path) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["device-secret"])
        try file.remove()
        try file.remove()
        #expect(try file.read() == nil)
    }

    @Test func `a partial secret of a crash does not block a new one`() throws {
        try directory.write("half", to: "device-secret.new", permissions: 0o644)
        let file = SecretFile(path: directory.path(of: "device-secret"))
        try file.write("whole")
        #expect(try file.read() == "whole")
        #expect(try mode(of: directory.path(of: "device-secret")) == 0o600)
    }

    @Test(arguments: ["", "\n", " \r\n\u{0}"]) func `a secret needs visible characters`(text: String) throws {
        try directory.write(text, to: "device-secret")
        #expect(try SecretFile(path: directory.path(of: "device-secret")).read() == nil)
    }

    @Test(.timeLimit(.minutes(1))) func `a pipe or a directory as the secret is refused without waiting`() throws {
        let path = directory.path(of: "device-secret")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(throws: StorageError.self) { try SecretFile(path: path).read() }
        try directory.makeDirectory("folder")
        #expect(throws: StorageError.self) { try SecretFile(path: directory.path(of: "folder")).read() }
    }

    @Test(arguments: [0o600, 0o640, 0o604, 0o666, 0o677])
    func `permissions of others on a secret are removed`(permissions: Int) throws {
        try directory.write("s3cret", to: "device-secret", permissions: permissions)
        let path = directory.path(of: "device-secret")
        #expect(try SecretFile(path: path).read() == "s3cret")
        #expect(try mode(of: path) == 0o600)
    }

    @Test func `a file that is too long for a secret is refused`() throws {
        try directory.write(String(repeating: "x", count: 4097), to: "device-secret")
        #expect(throws: StorageError.self) { try SecretFile(path: directory.path(of: "device-secret")).read() }
    }

    @Test func `a link in place of the secret is not followed`() throws {
        try directory.write("elsewhere", to: "other")
        let path = directory.path(of: "device-secret")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory.path(of: "other"))
        #expect(throws: StorageError.self) { try SecretFile(path: path).read() }
    }

    @Test func `a database of a later version is refused and not changed`() throws {
        let file = try DatabaseFile()
        do { _ = try file.open() }
        try raiseVersion(file.path)
        let error = #expect(throws: StorageError.self) { try file.open() }
        guard case .newerDatabase(_, 99, 1) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [0o600, 0o640, 0o604, 0o666])
    func `permissions of others on a database and its log are removed`(permissions: Int) throws {
        let file = try DatabaseFile()
        do { try file.open().apps.save(Sample.app) }
        // A crash leaves these files behind.
        let names = [file.path, "\(file.path)-wal", "\(file.path)-shm"]
        for name in names {
            if !FileManager.default.fileExists(atPath: name) {
                #expect(FileManager.default.createFile(atPath: name, contents: nil))
            }
            #expect(unsafe chmod(name, mode_t(permissions)) == 0)
        }
        let database = try file.open()
        #expect(try database.apps.app(id: Sample.app.appID) != nil)
        for name in names where FileManager.default.fileExists(atPath: name) { #expect(try mode(of: name) == 0o600) }
    }

    @Test(arguments: ["no database at all, and long enough to tell", ""])
    func `a damaged database is reported, with the data that is lost with it`(header: String) throws {
        let file = try DatabaseFile()
        do { try file.open().apps.save(Sample.app) }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file.path))
        // The damage is in the first page, or in the schema table within.
        try handle.seek(toOffset: header.isEmpty ? 100 : 0)
        try handle.write(contentsOf: header.isEmpty ? Data(repeating: 0xFF, count: 400) : Data(header.utf8))
        try handle.close()
        let error = #expect(throws: StorageError.self) { try file.open() }
        guard case .damagedDatabase = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.message.contains(file.path) == true)
        #expect(error?.remedy.contains(file.path) == true && error?.remedy.contains("enrol") == true)
    }

    /// Writes user_version into the file's header, big-endian at byte 60.
    private func raiseVersion(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 60)
        try file.write(contentsOf: Data([0, 0, 0, 99]))
        try file.close()
    }

    @Test func `saved data survives closing and reopening`() throws {
        let file = try DatabaseFile()
        let identity = Identity(serverURL: "https://a", deviceID: "00000000000000ab", caFile: "/ca")
        do {
            let database = try file.open()
            try database.identity.save(identity)
            try database.apps.save(Sample.app)
            try database.choose(.badge, "off", for: Sample.app.appID)
            try database.choose(.alert, "none", for: Sample.app.appID)
            try database.choose(.master, "off")
            try database.outbox.append(sequence: 3, .suppressed, reason: "master-off")
        }
        let database = try file.open()
        #expect(try database.identity.load() == identity)
        #expect(try database.settings.isOn(.master) == false)
        let app = try #require(try database.apps.app(topic: "org.example.Mail"))
        let settings = try database.settings.settings(of: app)
        #expect(!settings.allowsBadge && settings.allowsSound && settings.alertStyle == .none)
        #expect(try database.outboxLines() == ["3 suppressed master-off"])
    }

    @Test func `registering again keeps settings and badge`() throws {
        let database = try DatabaseFile().open()
        try database.apps.save(Sample.app)
        try database.choose(.sound, "off", for: Sample.app.appID)
        _ = try database.apps.setBadge(3, of: Sample.app.appID, sequence: 1, acceptedAt: .unixEpoch)
        var again = Sample.app
        again.name = "Mail 2"
        try database.apps.save(again)
        let app = try #require(try database.apps.app(id: Sample.app.appID))
        #expect(app.name == "Mail 2" && app.badge == 3)
        #expect(try database.settings.settings(of: app).allowsSound == false)
    }

    @Test func `app IDs that look alike are different apps`() throws {
        let database = try DatabaseFile().open()
        try database.apps.save(Sample.app)
        #expect(try database.apps.app(id: "ORG.EXAMPLE.MAIL") == nil)
        #expect(try database.apps.app(id: "org.example.Mail\u{301}") == nil)
    }

    @Test func `the outbox keeps the newest acknowledgements up to its limit`() throws {
        let database = try DatabaseFile().open()
        let surplus: Int64 = 3
        try database.transaction { () throws(SQLError) in
            for sequence in 1...(OutboxTable.rowCountMax + surplus) {
                try database.outbox.append(sequence: sequence, .delivered)
            }
        }
        #expect(try database.outbox.oldest(countMax: 1)?.acknowledgements.first?.id == surplus + 1)
    }
}
