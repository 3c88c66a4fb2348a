// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Copies a program's standard error to the caller's own, up to a limit.
struct ErrorOutput {
    private let program: String
    private let log: EventLog
    private let write: ([UInt8]) -> Void
    private var rest = Limits.programErrorByteCountMax
    private var isInLine = false

    init(of program: String, log: EventLog, write: @escaping ([UInt8]) -> Void) {
        self.program = program
        self.log = log
        self.write = write
    }

    /// Copies bytes up to the limit, and discards the rest, so that the program does not block on a full pipe.
    mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty, rest >= 0 else { return }
        let passed = bytes.prefix(rest)
        if !passed.isEmpty { write(Array(passed)) }
        isInLine = (passed.last.map { $0 != UInt8(ascii: "\n") }) ?? isInLine
        rest -= passed.count
        guard passed.count < bytes.count else { return }
        end()
        rest = -1
        log.warning(
            "program_error_output_cut", ["program": program, "bytes": "\(Limits.programErrorByteCountMax)"])
    }

    /// Completes an unfinished line when the program has ended, so that the log continues on a new one.
    mutating func end() {
        if isInLine { write([UInt8(ascii: "\n")]) }
        isInLine = false
    }
}
