// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushNet
import TestSupport
import Testing

@Suite struct PrivateFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test(arguments: [0, 1, 16 * 1024, 16 * 1024 + 1])
    func `a written file is read back, and only the owner has access`(count: Int) throws {
        let path = directory.path(of: "secret")
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        try PrivateFile.write(bytes, to: path)
        #expect(try PrivateFile.read(path) == bytes)
        #expect(try mode(path) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["secret"])
    }

    @Test func `writing again replaces the whole file`() throws {
        let path = directory.path(of: "secret")
        try PrivateFile.write(Array("longer than the next".utf8), to: path)
        try PrivateFile.write(Array("short".utf8), to: path)
        #expect(try PrivateFile.read(path) == Array("short".utf8))
    }

    @Test(arguments: [(3, true), (2, false)])
    func `a file that is too long is refused`(byteCountMax: Int, fits: Bool) throws {
        let path = directory.path(of: "file")
        try PrivateFile.write([1, 2, 3], to: path)
        if fits {
            #expect(try PrivateFile.read(path, byteCountMax: byteCountMax) == [1, 2, 3])
        } else {
            #expect(throws: NetError.system(call: "read", code: EFBIG, subject: path)) {
                try PrivateFile.read(path, byteCountMax: byteCountMax)
            }
        }
    }

    @Test func `a pipe or a directory is refused as a secret without waiting`() throws {
        let pipe = directory.path(of: "pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(throws: NetError.self) { try PrivateFile.read(pipe) }
        #expect(throws: NetError.self) { try PrivateFile.read(directory.path) }
    }

    @Test func `a missing file is reported with its path`() {
        let path = directory.path(of: "missing")
        #expect(throws: NetError.system(call: "open", code: ENOENT, subject: path)) { try PrivateFile.read(path) }
    }

    @Test func `directories are created with their parents, and found again`() throws {
        let path = directory.path(of: "a/b/c")
        try PrivateFile.makeDirectory(path)
        try PrivateFile.makeDirectory(path)
        #expect(try mode(path) == 0o700)
        #expect(try mode(directory.path(of: "a")) == 0o700)
        #expect(try !PrivateFile.isOpenToOthers(path))
        #expect(unsafe chmod(path, 0o750) == 0)
        #expect(try PrivateFile.isOpenToOthers(path))
    }

    @Test func `a tree is removed completely, and a link's target is not`() throws {
        let target = directory.path(of: "target")
        try PrivateFile.write([1], to: target)
        try PrivateFile.makeDirectory(directory.path(of: "tree/below"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.path(of: "tree/below/link"), withDestinationPath: target)
        PrivateFile.removeTree(directory.path(of: "tree"))
        #expect(!PrivateFile.exists(directory.path(of: "tree")))
        #expect(PrivateFile.exists(target))
    }

    @Test func `a lock has one owner at a time`() throws {
        let path = directory.path(of: "lock")
        var first = try FileLock.take(path)
        #expect(first != nil)
        #expect(try FileLock.take(path) == nil)
        withExtendedLifetime(first) {}
        first = nil
        #expect(try FileLock.take(path) != nil)
    }
}
