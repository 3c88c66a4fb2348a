// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import PushCore

extension FuzzChecks {
    /// Checks that acknowledgements survive writing and reading, and that both readers accept JSON only.
    @Sendable static func streamMessage(_ input: [UInt8]) -> String? {
        let isObject = (try? JSONValidator.validateObject(input.span)) != nil
        if (try? StreamMessage.fromServer(input.span)) == nil, isObject { return "An object of a server is refused." }
        guard let acknowledgements = try? StreamMessage.fromDevice(input.span) else { return nil }
        if !isObject { return "Something else than an object is accepted." }
        var output: [UInt8] = []
        StreamMessage.append(acknowledgements, to: &output)
        guard let again = try? StreamMessage.fromDevice(output.span) else { return "The written text is not read." }
        let isSame = again.elementsEqual(acknowledgements) {
            $0.id == $1.id && $0.outcome == $1.outcome && $0.reason == $1.reason
        }
        return isSame ? nil : "The written text is read as something else."
    }
}
