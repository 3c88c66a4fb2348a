// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushTLS

extension ChannelID {
    /// Returns a random ID without `+` and `/`, which needs no escaping in paths and on command lines.
    static func random() -> ChannelID {
        while true {
            let id = ChannelID(high: SecureRandom.uint64(), low: SecureRandom.uint64())
            if !id.text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) { return id }
        }
    }
}
