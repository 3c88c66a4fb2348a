// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The number of rows and a checksum of their values, which does not depend on the order of the rows.
struct RowSum: Equatable {
    private(set) var count = 0
    private var checksum: UInt64 = 0

    mutating func add(_ row: [SQLValue]) {
        var sum = Checksum()
        for value in row {
            switch value {
            case .null: sum.add(0)
            case .number(let number):
                sum.add(1)
                sum.add(UInt64(bitPattern: number))
            case .text(let text):
                sum.add(2)
                sum.add(text.utf8.span)
            case .bytes(let bytes):
                sum.add(3)
                sum.add(bytes.span)
            }
        }
        count += 1
        checksum &+= sum.value
    }
}
