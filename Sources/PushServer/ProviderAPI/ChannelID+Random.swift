// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushTLS

extension ChannelID {
    /// A random one whose text has neither `+` nor `/`: it stands in paths and on command lines as it is.
    ///
    /// About every second draw is thrown away, which leaves 127 random bits.
    static func random() -> ChannelID {
        while true {
            let id = ChannelID(high: SecureRandom.uint64(), low: SecureRandom.uint64())
            if !id.text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) { return id }
        }
    }
}
