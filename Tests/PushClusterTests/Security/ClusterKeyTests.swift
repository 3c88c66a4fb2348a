// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import PushCluster

struct ClusterKeyTests {
    private let files: TemporaryDirectory
    private let path: String

    init() throws {
        files = try TemporaryDirectory()
        path = files.path(of: "cluster.key")
    }

    private func mode() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `a new key is in a private file, and is read from it again`() throws {
        let key = try ClusterKey.make(file: path)
        #expect(key.bytes.count == 32)
        #expect(try mode() == 0o600)
        #expect(try ClusterKey(file: path).bytes == key.bytes)
        #expect(try ClusterKey.make(file: files.path(of: "other.key")).bytes != key.bytes)
    }

    @Test func `a key is never overwritten`() throws {
        let key = try ClusterKey.make(file: path)
        #expect(throws: ClusterKeyError.self) { try ClusterKey.make(file: path) }
        #expect(try ClusterKey(file: path).bytes == key.bytes)
    }

    @Test(arguments: [0o604, 0o640, 0o660, 0o601])
    func `a file that is open to others is refused`(mode: Int) throws {
        _ = try ClusterKey.make(file: path)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        #expect {
            try ClusterKey(file: path)
        } throws: { ($0 as? ClusterKeyError)?.remedy == "Run chmod 600 \(path)." }
    }

    @Test(arguments: ["", "\n", String(repeating: "0", count: 63), String(repeating: "0", count: 66), "xyz"])
    func `a file without a key is refused`(content: String) throws {
        try Data(content.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(throws: ClusterKeyError.self) { try ClusterKey(file: path) }
    }

    @Test func `a missing file is named in the error`() {
        #expect { try ClusterKey(file: path) } throws: { ($0 as? ClusterKeyError)?.description.contains(path) == true }
    }
}
