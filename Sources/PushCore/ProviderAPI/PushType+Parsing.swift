// SPDX-License-Identifier: Apache-2.0

extension PushType {
    /// Parses the value of `apns-push-type`, ignoring ASCII case; returns nil for an unknown type.
    package init?(_ text: Span<UInt8>) {
        for type in PushType.allCases where text.isEqualIgnoringCase(to: type.rawValue) {
            self = type
            return
        }
        return nil
    }
}
