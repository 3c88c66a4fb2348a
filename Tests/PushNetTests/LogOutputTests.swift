// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import PushNet

/// Checks log lines that pass through a real pipe.
@Suite struct LogOutputTests {
    /// A pipe whose log end is blocking, as standard error is, and whose reading end is non-blocking.
    private final class LogPipe {
        let log: EventLog
        private let reading: Int32
        private let writing: Int32

        init(threshold: EventLog.Level = .debug) throws {
            var ends: [Int32] = [-1, -1]
            let code = unsafe Glibc.pipe(&ends)
            try #require(code == 0)
            (reading, writing) = (ends[0], ends[1])
            try #require(fcntl(reading, F_SETFL, O_NONBLOCK) == 0)
            log = EventLog(threshold: threshold, isJournal: true, descriptor: writing)
        }

        deinit {
            close(reading)
            close(writing)
        }

        /// Reads until a condition holds for the lines read so far.
        func lines(until isEnough: ([String]) -> Bool = { _ in true }) -> [String] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let deadline = ContinuousClock.now + .seconds(30)
            while ContinuousClock.now < deadline {
                var wish = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
                if unsafe poll(&wish, 1, 10) > 0 {
                    let count = unsafe read(reading, &buffer, buffer.count)
                    if count > 0 { bytes += buffer[..<count] }
                } else if isEnough(Self.split(bytes)) {
                    break
                }
            }
            return Self.split(bytes)
        }

        private static func split(_ bytes: [UInt8]) -> [String] {
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    private static func number(of line: String) -> Int? {
        line.firstMatch(of: /event=test n=([0-9]+)/).flatMap { Int($0.1) }
    }

    private static func droppedCount(in lines: [String]) -> Int {
        lines.filter { $0.contains("log_lines_dropped") }.compactMap {
            $0.firstMatch(of: /event=log_lines_dropped count=([0-9]+)/).flatMap { Int($0.1) }
        }
        .reduce(0, +)
    }

    @Test func `an unread pipe blocks no caller, and the number of dropped lines is reported after it is read`() throws
    {
        let pipe = try LogPipe()
        pipe.log.startThread()
        let text = String(repeating: "x", count: 100)
        for number in 0..<20_000 { pipe.log.info("test", ["n": "\(number)", "text": text]) }
        // The wait has a limit, because the pipe is not read yet.
        pipe.log.flush(within: .milliseconds(100))
        let lines = pipe.lines { $0.compactMap(Self.number).count + Self.droppedCount(in: $0) == 20_000 }
        let numbers = lines.compactMap(Self.number)
        #expect(numbers.count > 5000 && numbers.count < 20_000)
        #expect(numbers == numbers.sorted())
        #expect(numbers.count + Self.droppedCount(in: lines) == 20_000)
        #expect(lines.allSatisfy { Self.number(of: $0) != nil || $0.contains("event=log_lines_dropped") })
        pipe.log.info("test", ["n": "20000"])
        pipe.log.flush(within: .seconds(30))
        #expect(pipe.lines().compactMap(Self.number) == [20_000])
        pipe.log.endThread()
    }

    @Test func `a log without a thread blocks no caller either, and counts dropped lines`() throws {
        let pipe = try LogPipe()
        for number in 0..<5000 { pipe.log.warning("test", ["n": "\(number)"]) }
        let first = pipe.lines()
        #expect(first.count > 100 && first.count < 5000)
        pipe.log.info("test", ["n": "5000"])
        let second = pipe.lines()
        #expect(second.count == 2 && second.first?.contains("log_lines_dropped") == true)
        #expect(first.count + Self.droppedCount(in: second) == 5000)
    }

    @Test func `each thread's lines keep their order, and a flush loses none`() throws {
        let pipe = try LogPipe()
        pipe.log.startThread()
        let log = pipe.log
        let threads = (0..<4).map { thread in
            Thread(name: "test-\(thread)") {
                for number in 0..<100 { log.info("test", ["n": "\(thread * 1000 + number)"]) }
            }
        }
        for thread in threads { thread.join() }
        pipe.log.flush(within: .seconds(30))
        let numbers = pipe.lines().compactMap(Self.number)
        #expect(numbers.count == 400)
        for thread in 0..<4 {
            #expect(numbers.filter { $0 / 1000 == thread } == (0..<100).map { thread * 1000 + $0 })
        }
        pipe.log.endThread()
    }

    @Test func `a flood of one event makes a few lines, and its count comes at the end`() throws {
        let pipe = try LogPipe(threshold: .info)
        pipe.log.startThread()
        for _ in 0..<78_000 { pipe.log.info("test", ["n": "0"], about: "device") }
        pipe.log.flush(within: .seconds(30))
        let lines = pipe.lines()
        #expect(lines == ["<6>event=test n=0", "<6>event=log_lines_left_out of=test count=77999"])
        pipe.log.endThread()
    }
}
