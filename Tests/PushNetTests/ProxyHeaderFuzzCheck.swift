// SPDX-License-Identifier: Apache-2.0

@testable import PushNet

/// A check of the reading of proxies' headers, for the fuzzer and for the replay of its cases.
enum ProxyHeaderFuzzCheck {
    /// Reads a header as it arrives, and checks that bytes behind it change nothing.
    ///
    /// - Parameter input: The first bytes of a connection.
    /// - Returns: The violation, or nil.
    static func header(_ input: [UInt8]) -> String? {
        var byteCount = 0
        while byteCount <= input.count {
            guard let progress = try? ProxyHeader.parse(Array(input[..<byteCount]).span) else { return nil }
            switch progress {
            case .needs(let more):
                guard more > byteCount else { return "It needs \(more) bytes, and has \(byteCount)." }
                guard more <= ProxyHeader.byteCountMax else { return "It needs \(more) bytes." }
                byteCount = more
            case .complete(let end, _):
                guard end <= byteCount else { return "The header has \(end) bytes of \(byteCount)." }
                let whole = try? ProxyHeader.parse(input.span)
                return whole == progress ? nil : "Later bytes change the header."
            }
        }
        return nil
    }
}
