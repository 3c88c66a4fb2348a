// SPDX-License-Identifier: Apache-2.0

/// An order to copy the database while it is in use.
package struct StoreBackup: Sendable {
    /// How far a copy is.
    package struct Progress: Sendable, Equatable {
        /// Pages of the database.
        package var pageCount: Int
        /// Those of them that are not copied yet; 0 when the copy is complete.
        package var remainingPageCount: Int
    }

    /// The new file; there must be none.
    package var path: String
    /// Called on the store's thread after each step; must return at once.
    package var onProgress: @Sendable (Progress) -> Void
    /// Called on the store's thread with what stopped the copy, or nil when it is complete; must return at once.
    ///
    /// Also when it could not begin. The file is closed then, and not synchronized yet.
    package var onEnd: @Sendable (StoreError?) -> Void

    /// Joins the parts.
    package init(
        path: String, onProgress: @escaping @Sendable (Progress) -> Void = { _ in },
        onEnd: @escaping @Sendable (StoreError?) -> Void
    ) {
        self.path = path
        self.onProgress = onProgress
        self.onEnd = onEnd
    }
}
