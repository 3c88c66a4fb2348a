// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushServing

/// The refusals that all resources of the admin API share.
enum AdminAnswer {
    /// Refuses a request for an unknown path.
    static func refusePath(_ exchange: HTTPExchange) {
        ControlAnswer.refuse(
            exchange, status: 404, "NotFound",
            "Unknown path. See docs/reference/admin-api.md in the source of Posthorn.")
    }

    /// Refuses a request that has parameters but takes none.
    static func refuseParameters(_ exchange: HTTPExchange) {
        ControlAnswer.refuse(exchange, status: 400, "BadParameter", "This request takes no parameters.")
    }

    /// Refuses a method that the path does not allow.
    static func refuseMethod(_ exchange: HTTPExchange, allowed: StaticString) {
        exchange.addField("allow", allowed)
        ControlAnswer.refuse(exchange, status: 405, "MethodNotAllowed", "Allowed methods: \(allowed).")
    }

    /// Returns whether a name is valid, or answers 400 if it is not.
    static func isNameGood(_ name: String, _ exchange: HTTPExchange) -> Bool {
        let isGood = (1...Limits.displayNameByteCountMax).contains(name.utf8.count)
        if !isGood {
            ControlAnswer.refuse(
                exchange, status: 400, "BadName", "Invalid name: use 1 to \(Limits.displayNameByteCountMax) bytes.")
        }
        return isGood
    }
}
