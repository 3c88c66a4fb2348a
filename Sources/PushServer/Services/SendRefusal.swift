// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The reasons why the send API refuses a request, in addition to those of `RejectionReason`.
enum SendRefusal: String, CaseIterable {
    case badRequest = "BadRequest"
    case unauthorized = "Unauthorized"
    case wrongApp = "WrongApp"
    case notFound = "NotFound"
    case requestTimeout = "RequestTimeout"
    case tooLarge = "TooLarge"
    case tooManyDevices = "TooManyDevices"
    case tooMany = "TooMany"
    case busy = "Busy"
    case unavailable = "Unavailable"

    /// Creates the reason for a refusal by the store.
    init(_ refusal: StoreRefusal) {
        self =
            switch refusal {
            case .busy: .busy
            case .tooMany: .tooMany
            default: .unavailable
            }
    }

    var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .wrongApp: 403
        case .notFound: 404
        case .requestTimeout: 408
        case .tooLarge, .tooManyDevices: 413
        case .tooMany, .busy: 429
        case .unavailable: 503
        }
    }
}
