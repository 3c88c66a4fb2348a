// SPDX-License-Identifier: Apache-2.0

/// Has an app change a notification before it is shown.
package protocol AppFilter: AnyObject {
    /// Asks the app, within a time limit.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - filter: How it is asked.
    ///   - notification: A JSON object.
    ///   - completion: Called once, never before this returns: the payload to show, empty for the provider's; or what
    ///     went wrong.
    func filter(
        appID: String, by filter: AppManifest.Filter, notification: [UInt8],
        completion: @escaping (Result<[UInt8], AppFilterError>) -> Void)
}

/// Why a filter changed nothing, in one line.
package struct AppFilterError: Error, Sendable, Equatable {
    /// The line.
    package var message: String

    /// Takes the line.
    package init(_ message: String) { self.message = message }
}
