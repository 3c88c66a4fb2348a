// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushTLS

extension ChannelID {
    /// A random one whose text has neither `+` nor `/`, so that it goes into paths and command lines as it is.
    static func random() -> ChannelID {
        while true {
            let id = ChannelID(high: SecureRandom.uint64(), low: SecureRandom.uint64())
            if !id.text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) { return id }
        }
    }
}
