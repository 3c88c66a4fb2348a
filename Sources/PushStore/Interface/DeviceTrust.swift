// SPDX-License-Identifier: Apache-2.0

/// The number of devices that trust the same authorities.
package struct DeviceTrust: Sendable, Equatable {
    /// The last version of the announced set that these devices confirmed; 0 for none.
    package var confirmedVersion: Int64
    /// The SHA-256 of the server's own authority at the enrolment; nil if the server had a configured certificate.
    package var enrolledUnder: [UInt8]?
    package var deviceCount: Int

    package init(confirmedVersion: Int64, enrolledUnder: [UInt8]?, deviceCount: Int) {
        self.confirmedVersion = confirmedVersion
        self.enrolledUnder = enrolledUnder
        self.deviceCount = deviceCount
    }
}
