// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The removal of many rows in steps of about `WriterLimits.rowsChangedPerStepCountMax`.
///
/// Each step searches for remaining rows, so no state is kept between steps. The last step removes the object that the
/// rows belong to. After a crash between two steps, the object still exists without some of its rows, and no answer was
/// sent.
final class Removal: LongWork {
    private let remove: () throws(SQLError) -> Result<Bool, StoreRefusal>

    /// Describes a removal.
    ///
    /// - Parameter remove: Removes some rows; returns whether no row is left.
    init(_ remove: @escaping () throws(SQLError) -> Result<Bool, StoreRefusal>) {
        self.remove = remove
    }

    func step() throws(SQLError) -> RequestResult {
        switch try remove() {
        case .success(false): .unfinished(self)
        case .success(true): .success(.done)
        case .failure(let refusal): .failure(refusal)
        }
    }

    func restart() {}
}
