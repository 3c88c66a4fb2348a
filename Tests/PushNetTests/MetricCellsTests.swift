// SPDX-License-Identifier: Apache-2.0

@testable import PushNet
import Testing

@Suite struct MetricCellsTests {
    @Test func `a reader sees the numbers of another thread grow, and at last their sums`() {
        let (cell, cells) = (MetricCell(), MetricCells(count: 3))
        let thread = Thread(name: "writer") {
            for number in 0..<30_000 {
                cell.add()
                cells.add(2, to: number % 3)
            }
        }
        var last: Int64 = 0
        while cell.value < 30_000 {
            let value = cells[0]
            #expect(value >= last)
            last = value
        }
        thread.join()
        #expect((0..<3).map { cells[$0] } == [20_000, 20_000, 20_000])
        cells.set(-1, at: 1)
        cell.set(7)
        #expect((0..<3).map { cells[$0] } == [20_000, -1, 20_000] && cell.value == 7)
    }

    @Test func `a table without numbers can exist`() { #expect(MetricCells(count: 0).count == 0) }

    @Test func `an index outside of a table stops the process`() async {
        await #expect(processExitsWith: .failure) { MetricCells(count: 2).add(to: 2) }
    }
}
