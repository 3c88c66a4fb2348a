// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import PushNet

@Suite struct ProcessLimitsTests {
    private let files: TemporaryDirectory

    init() throws { files = try TemporaryDirectory() }

    private func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: files.path(of: path))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    private func limit(_ membership: String) -> Int? {
        ProcessLimits.controlGroupByteCount(membership: membership, root: files.path)
    }

    @Test func `the smallest limit of the control group and its parents applies`() throws {
        try write("max\n", to: "a/b/memory.max")
        try write("3000\n", to: "a/b/memory.high")
        try write("2000\n", to: "a/memory.max")
        try write("max\n", to: "a/memory.high")
        #expect(limit("0::/a/b\n") == 2000)
        #expect(limit("0::/\n") == nil)
        #expect(limit("") == nil)
        #expect(limit("nonsense\n::\n") == nil)
    }

    @Test func `limits of the first version of control groups are read too`() throws {
        try write("5000\n", to: "memory/memory.limit_in_bytes")
        #expect(limit("3:cpu,memory:/docker/x\n2:pids:/\n") == 5000)
        #expect(limit("3:cpu:/docker/x\n") == nil)
    }

    @Test func `this process has descriptors and resident memory`() throws {
        #expect(ProcessLimits.descriptorCountMax > 16)
        #expect(try #require(ProcessLimits.residentByteCount) > 1 << 20)
        #expect(try #require(ProcessLimits.machineByteCount) > 1 << 26)
    }
}
