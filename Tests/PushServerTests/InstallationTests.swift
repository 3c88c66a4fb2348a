// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import TestSupport
import Testing

@testable import PushServer

@Suite struct InstallationTests {
    private static func configuration(_ directory: String, names: [String] = []) throws -> ServerConfiguration {
        try ServerConfiguration(
            file: nil, flags: [(.dataDirectory, directory), (.names, names.joined(separator: " "))], environment: [:],
            isRoot: false, readsDefaultFile: false)
    }

    private static func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func `a first start creates all files, and only the owner can read the secrets`() throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/a/b"
        let installation = try Installation(try Self.configuration(data))
        #expect(try Self.mode(data) == 0o700)
        for secret in ["token.keys", "authority.key", "server.key", "team-id"] {
            #expect(try Self.mode("\(data)/\(secret)") == 0o600)
        }
        #expect(Identifier.isValid(installation.teamID))
        #expect(installation.tokenKeys.keys(for: .production).map(\.count) == [64])
        #expect(installation.authorityFile == data + "/authority.pem")
    }

    @Test func `a second start uses the files of the first`() throws {
        let directory = try TemporaryDirectory()
        let first = try Installation(try Self.configuration(directory.path))
        let certificate = try Data(contentsOf: URL(fileURLWithPath: first.certificateFile))
        let second = try Installation(try Self.configuration(directory.path))
        #expect(second.teamID == first.teamID)
        #expect(second.tokenKeys.keys(for: .production) == first.tokenKeys.keys(for: .production))
        #expect(try Data(contentsOf: URL(fileURLWithPath: second.certificateFile)) == certificate)
    }

    @Test func `other server names get another certificate from the same authority`() throws {
        let directory = try TemporaryDirectory()
        let first = try Installation(try Self.configuration(directory.path, names: ["a.example"]))
        let certificate = try Data(contentsOf: URL(fileURLWithPath: first.certificateFile))
        let authority = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/authority.pem"))
        _ = try Installation(try Self.configuration(directory.path, names: ["a.example", "b.example"]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: first.certificateFile)) != certificate)
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path + "/authority.pem")) == authority)
    }

    @Test func `missing token keys beside an existing database are not replaced`() throws {
        let directory = try TemporaryDirectory()
        _ = try Installation(try Self.configuration(directory.path))
        let keys = directory.path + "/token.keys"
        try FileManager.default.removeItem(atPath: keys)
        try Data().write(to: URL(fileURLWithPath: directory.path + "/posthorn.sqlite"))
        #expect {
            _ = try Installation(try Self.configuration(directory.path))
        } throws: { error in
            (error as? InstallationError)?.path == keys
        }
        #expect(!FileManager.default.fileExists(atPath: keys))
    }

    @Test func `an authority without its key is kept, and suffices while the certificate is valid`() throws {
        let directory = try TemporaryDirectory()
        let first = try Installation(try Self.configuration(directory.path, names: ["a.example"]))
        let authority = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/authority.pem"))
        try FileManager.default.removeItem(atPath: directory.path + "/authority.key")
        _ = try Installation(try Self.configuration(directory.path, names: ["a.example"]))
        #expect {
            _ = try Installation(try Self.configuration(directory.path, names: ["b.example"]))
        } throws: { error in
            (error as? InstallationError)?.path == directory.path + "/authority.key"
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path + "/authority.pem")) == authority)
        #expect(FileManager.default.fileExists(atPath: first.certificateFile))
    }

    @Test func `a replaced authority causes a new certificate`() throws {
        let directory = try TemporaryDirectory()
        let first = try Installation(try Self.configuration(directory.path))
        let certificate = try Data(contentsOf: URL(fileURLWithPath: first.certificateFile))
        for part in ["authority.key", "authority.pem"] {
            try FileManager.default.removeItem(atPath: directory.path + "/" + part)
        }
        _ = try Installation(try Self.configuration(directory.path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: first.certificateFile)) != certificate)
    }

    @Test(arguments: ["", "nothing\n", "00ff\n"])
    func `damaged token keys are refused, not replaced`(text: String) throws {
        let directory = try TemporaryDirectory()
        _ = try Installation(try Self.configuration(directory.path))
        let file = directory.path + "/token.keys"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        #expect {
            _ = try Installation(try Self.configuration(directory.path))
        } throws: { error in
            (error as? InstallationError)?.path == file
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }

    @Test func `a data directory that cannot be created is reported with a remedy`() throws {
        let directory = try TemporaryDirectory()
        try "a file".write(toFile: directory.path + "/file", atomically: true, encoding: .utf8)
        #expect {
            _ = try Installation(try Self.configuration(directory.path + "/file/data"))
        } throws: { error in
            guard let error = error as? InstallationError else { return false }
            return error.path.hasSuffix("/file/data") && error.remedy.contains("data_directory")
        }
    }
}
