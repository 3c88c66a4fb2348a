// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// Executes the requests about the authorities that devices trust.
final class AuthorityExecutor {
    private let devices: DeviceTable
    private let state: StateTable
    private let transaction: StoreTransaction
    private let authentication: DeviceAuthentication

    init(_ tables: SharedTables, _ transaction: StoreTransaction, _ authentication: DeviceAuthentication) {
        devices = tables.devices
        state = tables.state
        self.transaction = transaction
        self.authentication = authentication
    }

    func execute(_ request: AuthorityRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .announce(let version):
            guard try state.authorityVersion() != version else { break }
            try state.setAuthorityVersion(version)
            transaction.noteDirectoryChange()
        case .confirm(let secretHash, let version):
            guard let device = try authentication.identify(secretHash) else { return .failure(.unauthorized) }
            try devices.confirm(authorityVersion: version, by: device)
        case .trust:
            return .success(.trust(try devices.trust()))
        }
        return .success(.done)
    }
}
