// SPDX-License-Identifier: Apache-2.0

import PushCore

/// The checks for single fields of a provider's request.
///
/// FuzzTesting compiles this file too.
extension FuzzChecks {
    /// Compares the validation of each header's value with a second, independent implementation of Apple's page.
    @Sendable static func headerValues(_ input: [UInt8]) -> String? {
        let text = String(validating: input, as: UTF8.self)
        let isNumber = !input.isEmpty && input.allSatisfy { (0x30...0x39).contains($0) }
        let seconds = HeaderValues.expiration(input.span)?.unixSeconds
        if let seconds, !isNumber || text.flatMap(Int64.init) != seconds { return "It is another expiration." }
        if seconds == nil, isNumber, input.count <= 10, input[0] != 0x30 { return "A good expiration is refused." }
        let wanted: UInt8? = text.flatMap { ["10": 10, "5": 5, "1": 1][$0] }
        if HeaderValues.priority(input.span) != wanted { return "It is another priority." }
        let topicBytes = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
        let isTopic = (1...255).contains(input.count) && input.allSatisfy(topicBytes.contains)
        if TopicName.isValid(input.span) != isTopic { return "A topic is accepted by one parser only." }
        if HeaderValues.isCollapseID(input.span) != (1...64).contains(input.count) {
            return "A collapse ID is accepted by one parser only."
        }
        return identifierFailure(input)
    }

    private static func identifierFailure(_ input: [UInt8]) -> String? {
        let lengths = input.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(\.count)
        let isHex = input.allSatisfy { $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }
        if (UniqueID(input.span) != nil) != (isHex && lengths == [8, 4, 4, 4, 12]) {
            return "An ID is accepted by one parser only."
        }
        if let channel = ChannelID(text: input.span) {
            if ChannelID(text: Array(channel.text.utf8).span) != channel { return "A channel is not read again." }
            if input.count != channel.text.utf8.count { return "A channel ID of another length is read." }
        }
        return nil
    }

    /// Checks that a path is parsed as its text says, and that decoded device tokens encode to the same bytes.
    @Sendable static func deviceToken(_ input: [UInt8]) -> String? {
        if let failure = pathFailure(input) { return failure }
        let isToken = input.count == 64 && input.allSatisfy { Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }
        guard let sealed = Hex.decode32(input.span) else { return isToken ? "A device token is refused." : nil }
        if !isToken { return "Something else is taken for a device token." }
        var digits: [UInt8] = []
        Hex.append(sealed.span, to: &digits)
        if digits != input.map({ 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }) { return "It is another device token." }
        // These bytes stand for the result of decryption with any key.
        let plain = InlineArray<16, UInt8> { sealed[$0] }
        guard let contents = DeviceTokenContents(bytes: plain) else {
            let hasTopic = (8..<12).contains { plain[$0] != 0 }
            return plain[0] < 0x80 && hasTopic ? "Good contents are refused." : nil
        }
        return (0..<16).allSatisfy { contents.bytes[$0] == plain[$0] } ? nil : "The contents are others."
    }

    private static func pathFailure(_ input: [UInt8]) -> String? {
        let (before, after): (String, String)
        let range: Range<Int>
        switch ProviderPath.parse(input.span) {
        case .device(let token): (before, range, after) = ("/3/device/", token, "")
        case .broadcast(let topic): (before, range, after) = ("/4/broadcasts/apps/", topic, "")
        case .channels(let topic): (before, range, after) = ("/1/apps/", topic, "/channels")
        case .allChannels(let topic): (before, range, after) = ("/1/apps/", topic, "/all-channels")
        case .missingDeviceToken:
            return ["/3/device", "/3/device/"].contains { Array($0.utf8) == input } ? nil : "A token is missed."
        case .unknownBelowApps, .unknown:
            return nil
        }
        let middle = Array(input[range])
        if middle.isEmpty || middle.contains(UInt8(ascii: "/")) { return "A part of the path is none." }
        return Array(before.utf8) + middle + Array(after.utf8) == input ? nil : "The path is another."
    }
}
