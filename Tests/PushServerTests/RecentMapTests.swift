// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushServer

@Suite struct RecentMapTests {
    @Test(arguments: [4, 10, 1000])
    func `a map keeps the most recently used entries, up to its limit`(countMax: Int) {
        var map = RecentMap<Int, Int>(countMax: countMax)
        map.insert(-1, for: -1)
        for number in 0..<5000 {
            map.insert(number, for: number)
            let (found, used) = (map.find(number), map.find(-1))
            #expect(map.count <= countMax && found == number)
            #expect(used == -1 || countMax <= 3, "used all the time")
        }
        let last = (5000 - countMax / 2 + 2..<5000).filter { map.find($0) != $0 }
        let first = map.find(0)
        #expect(last.isEmpty && first == nil)
        map.remove(4999)
        let removed = map.find(4999)
        #expect(removed == nil)
    }

    @Test func `a change starts from the entry or from the initial value, and counts as a use`() {
        var map = RecentMap<Int, Int>(countMax: 10)
        for number in 0..<100 {
            map.change(-1, from: 1000) { $0 += 1 }
            map.change(number, from: number) { $0 *= 2 }
            #expect(map.count <= 10)
        }
        let (used, last, first) = (map.find(-1), map.find(99), map.find(0))
        #expect(used == 1100 && last == 198 && first == nil)
    }
}
