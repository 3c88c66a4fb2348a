// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes the requests about the authorities that devices trust.
final class AuthorityExecutor {
    private let devices: DeviceTable
    private let state: StateTable
    private let transaction: StoreTransaction

    init(_ tables: SharedTables, _ transaction: StoreTransaction) {
        devices = tables.devices
        state = tables.state
        self.transaction = transaction
    }

    /// Announces a version of the authorities to all devices.
    func announce(_ version: Int64) throws(SQLError) -> RequestResult {
        if try state.authorityVersion() != version {
            try state.setAuthorityVersion(version)
            transaction.noteDirectoryChange()
        }
        return .success(.done)
    }

    /// Records that a device trusts a version of the authorities.
    func confirm(_ version: Int64, by device: DeviceID) throws(SQLError) -> RequestResult {
        try devices.confirm(authorityVersion: version, by: device)
        return .success(.done)
    }

    func trust() throws(SQLError) -> RequestResult { .success(.trust(try devices.trust())) }
}
