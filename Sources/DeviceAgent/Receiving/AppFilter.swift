// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

/// Changes notifications through their app before they are shown.
protocol AppFilter: AnyObject {
    /// Asks the app to change a notification, within a time limit.
    ///
    /// - Parameters:
    ///   - appID: The app to ask.
    ///   - filter: The filter from the app's manifest.
    ///   - notification: The notification as a JSON object.
    ///   - completion: Called exactly once, and never before this function returns. It gets the payload to show, which
    ///     is empty if the provider's payload stays, or the error.
    func filter(
        appID: AppID, by filter: AppManifest.Filter, notification: [UInt8],
        completion: @escaping (Result<[UInt8], AppFilterError>) -> Void)
}

/// The reason why a filter changed nothing, in one line.
struct AppFilterError: Error, Sendable, Equatable {
    var message: String

    init(_ message: String) { self.message = message }
}
