// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import PushCluster

/// The files with the key of the cluster, in each state in which a killed process may leave them.
struct ClusterKeyFilesTests {
    private let directory: TemporaryDirectory
    private let files: ClusterKeyFiles
    private let old: ClusterKey
    private let next: ClusterKey

    init() throws {
        directory = try TemporaryDirectory()
        files = ClusterKeyFiles(path: directory.path(of: "cluster.key"))
        old = try ClusterKey.make(file: files.path)
        next = try ClusterKey.make(file: files.nextPath)
    }

    private func rows(sealedBy key: ClusterKey, rotation: Int64 = 0) throws -> SealedRows {
        var rows = SealedRows(version: 1, rotation: rotation)
        let seals = try SealedSecrets(key)
        for name in ["token.keys", "team-id"] { rows.sealed[name] = try seals.seal([1, 2, 3], name: name) }
        if rotation != 0 {
            let name = SealedRows.Name.nextKeyCheck
            rows.sealed[name] = try SealedSecrets(next).seal([4], name: name)
        }
        return rows
    }

    /// The names of the files.
    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
    }

    @Test func `during a rotation, the old key opens the secrets, and the next one is recognized`() throws {
        let rows = try rows(sealedBy: old, rotation: 1)
        let opened = try files.open(rows)
        #expect(opened.key.bytes == old.bytes)
        #expect(opened.secrets == ["token.keys": [1, 2, 3], "team-id": [1, 2, 3]])
        #expect(rows.isNext(next) && !rows.isNext(old))
        try files.use(opened.key)
        #expect(names == ["cluster.key", "cluster.key.next"])
    }

    @Test func `after a rotation, the next key opens the secrets, and is used`() throws {
        let opened = try files.open(try rows(sealedBy: next))
        #expect(opened.key.bytes == next.bytes)
        try files.use(opened.key)
        #expect(names == ["cluster.key", "cluster.key.previous"])
        #expect(try files.current().bytes == next.bytes)
        #expect(try ClusterKey(file: files.previousPath).bytes == old.bytes)
        try files.use(opened.key)
        #expect(try ClusterKey(file: files.previousPath).bytes == old.bytes)
    }

    @Test func `a process that was killed while it changed the files is repeated`() throws {
        // Killed after the first file was written.
        try old.write(to: files.previousPath)
        try files.use(try files.open(try rows(sealedBy: next)).key)
        #expect(names == ["cluster.key", "cluster.key.previous"])
        #expect(try ClusterKey(file: files.previousPath).bytes == old.bytes)
        // Killed before the file of the next key was removed.
        try next.write(to: files.nextPath)
        try files.use(try files.open(try rows(sealedBy: next)).key)
        #expect(names == ["cluster.key", "cluster.key.previous"])
        #expect(try ClusterKey(file: files.previousPath).bytes == old.bytes)
        #expect(try files.current().bytes == next.bytes)
    }

    @Test func `the next key is enough, and an unusable one does no harm while the old key is in use`() throws {
        try Data("x".utf8).write(to: URL(filePath: files.nextPath))
        #expect(try files.open(try rows(sealedBy: old)).key.bytes == old.bytes)
        #expect(throws: ClusterKeyError.self) { try files.open(try rows(sealedBy: next)) }
        try next.write(to: files.nextPath)
        try FileManager.default.removeItem(atPath: files.path)
        try files.use(try files.open(try rows(sealedBy: next)).key)
        #expect(names == ["cluster.key"])
    }

    @Test func `a missing and a wrong key are told apart`() throws {
        files.forgetNext()
        let other = try ClusterKey.make(file: directory.path(of: "other"))
        #expect {
            try files.open(try rows(sealedBy: other))
        } throws: { ($0 as? ClusterKeyError)?.problem.contains("does not open") == true }
        try FileManager.default.removeItem(atPath: files.path)
        #expect {
            try files.open(try rows(sealedBy: old))
        } throws: { ($0 as? ClusterKeyError)?.problem.contains("missing") == true }
    }
}
