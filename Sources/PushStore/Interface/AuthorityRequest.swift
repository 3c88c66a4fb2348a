// SPDX-License-Identifier: Apache-2.0

/// A request about the authorities that the server announces to devices.
package enum AuthorityRequest: Sendable {
    /// Announces a version of the set to all devices; answered by `done`.
    case announce(version: Int64)
    /// Records that a device trusts a version of the set; answered by `done`.
    case confirm(secretHash: [UInt8], version: Int64)
    /// Counts the devices by what they trust; answered by `trust`.
    case trust
}

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
