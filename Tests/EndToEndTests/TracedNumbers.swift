// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

extension InstalledServer {
    private struct Trace: Decodable {
        let events: [Event]

        struct Event: Decodable {
            let event: String
            let sequence: Int64
            let apnsID: String?

            private enum CodingKeys: String, CodingKey {
                case event, sequence
                case apnsID = "apns_id"
            }
        }
    }

    /// Returns the numbers by which devices acknowledge the notifications of an app, in the order of their acceptance.
    ///
    /// They are not consecutive after a kill, and those of a cluster are made of the time.
    ///
    /// - Parameters:
    ///   - ids: The notifications; nil for all.
    ///   - app: The app.
    /// - Returns: The numbers.
    /// - Throws: An error of the request.
    func numbers(of ids: [String]? = nil, app: String) async throws -> [Int64] {
        let answer = try await admin.exchange("GET", "/v1/trace?app=\(app)&limit=1000")
        return try answer.decoded(Trace.self).events
            .filter { $0.event == "accepted" && ids?.contains($0.apnsID ?? "") ?? true }.map(\.sequence)
    }
}
