// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import Testing

@Suite struct RandomNumbersTests {
    @Test func `two sources never repeat a number, over several pages`() {
        let (first, second) = (RandomNumbers(), RandomNumbers())
        let numbers = (0..<1000).flatMap { _ in [first.next(), second.next()] }
        #expect(Set(numbers).count == 2000 && !numbers.contains(0))
    }
}
