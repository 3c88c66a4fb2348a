// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushSQLite
import TestSupport
import Testing

/// Checks the agent's files on a disk whose power is cut right after the agent has reported them as saved.
@Suite(.enabled(if: CutDisk.isPossible, "cutting the power needs root, loop devices and mkfs.ext4"))
struct PowerCutTests {
    private let disk: CutDisk

    init() throws { disk = try CutDisk() }

    private func cut() throws {
        try disk.cutPower()
        try disk.comeBack()
    }

    @Test func `a written secret survives a power cut, and a removed one stays removed`() throws {
        let file = SecretFile(path: disk.path(of: "device-secret"))
        try file.write("first")
        try cut()
        #expect(try file.read() == "first")
        try file.write("second")
        try cut()
        #expect(try file.read() == "second")
        try file.remove()
        try cut()
        #expect(try file.read() == nil)
    }

    @Test func `a committed notification survives a power cut`() throws {
        let path = disk.path(of: "agent.sqlite")
        for number in 1...3 as ClosedRange<UInt64> {
            do {
                let database = try AgentDatabase(path: path)
                if number == 1 { try database.apps.save(Sample.app) }
                let arrival = Arrival.notification(Sample.notification(number))
                #expect(try Receiver(database).receive([arrival], now: .unixEpoch).newCount == 1)
                try disk.cutPower()
            }
            try disk.comeBack()
            let database = try AgentDatabase(path: path)
            #expect(try database.inbox.newest(countMax: 10).count == Int(number))
            #expect(try database.outboxLines().count == Int(number))
        }
    }
}
