// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// What a program writes to standard error: it goes on into the agent's log, up to a limit.
struct ErrorOutput {
    private let program: String
    private let write: ([UInt8]) -> Void
    private var rest = Limits.programErrorByteCountMax
    private var isInLine = false

    /// Begins with the whole limit.
    init(of program: String, write: @escaping ([UInt8]) -> Void) {
        self.program = program
        self.write = write
    }

    /// Passes on what there is room for; what comes after is thrown away, so that the program does not wait for us.
    mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty, rest >= 0 else { return }
        let passed = bytes.prefix(rest)
        if !passed.isEmpty { write(Array(passed)) }
        isInLine = (passed.last.map { $0 != UInt8(ascii: "\n") }) ?? isInLine
        rest -= passed.count
        guard passed.count < bytes.count else { return }
        end()
        rest = -1
        agentLog.warning(
            "program_error_output_cut", ["program": program, "bytes": "\(Limits.programErrorByteCountMax)"])
    }

    /// The program has ended: the log goes on in a line of its own.
    mutating func end() {
        if isInLine { write([UInt8(ascii: "\n")]) }
        isInLine = false
    }
}
