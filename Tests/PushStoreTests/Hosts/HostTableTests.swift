// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore
import TestSupport
import Testing

struct HostTableTests {
    private let table = HostTable()

    private func device(_ number: Int) -> DeviceID { DeviceID(rawValue: UInt64(number) << 12) }

    @Test func `a table that grew and shrank many times has what a dictionary has`() {
        var reader = HostTable.Reader(table)
        var expected: [DeviceID: UInt32] = [:]
        var random = SeededGenerator(seed: 1)
        for step in 0..<200_000 {
            // The number of devices rises and falls.
            let span = step / 20_000 % 2 == 0 ? 1...10_000 : 1...100
            let device = device(Int.random(in: span, using: &random))
            if Bool.random(using: &random) {
                let host = UInt32.random(in: 0..<4, using: &random)
                table.insert(host, of: device)
                expected[device] = host
            } else if let host = expected.removeValue(forKey: device) {
                table.remove(device, hostedBy: host)
            }
            #expect(reader.host(of: device) == expected[device])
        }
        for number in 1...10_000 { #expect(reader.host(of: device(number)) == expected[device(number)]) }
    }

    @Test func `a loop does not remove a device that another loop hosts now`() {
        var reader = HostTable.Reader(table)
        table.insert(0, of: device(1))
        table.insert(1, of: device(1))
        table.remove(device(1), hostedBy: 0)
        #expect(reader.host(of: device(1)) == 1)
    }

    @Test func `readers in other threads find stable devices while others change`() async {
        let (table, stable) = (table, (1...500).map(device))
        for device in stable { table.insert(7, of: device) }
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var reader = HostTable.Reader(table)
                    var missing = 0
                    for _ in 0..<200 { missing += stable.count { reader.host(of: $0) != 7 } }
                    return missing
                }
            }
            group.addTask {
                for number in (1 << 40)..<(1 << 40) + 59_000 {
                    table.insert(1, of: DeviceID(rawValue: UInt64(number)))
                    table.remove(DeviceID(rawValue: UInt64(number)), hostedBy: 1)
                }
                return 0
            }
            for await missing in group { #expect(missing == 0) }
        }
    }
}
