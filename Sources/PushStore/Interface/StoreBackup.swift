// SPDX-License-Identifier: Apache-2.0

/// A request to copy the database while it is in use.
package struct StoreBackup: Sendable {
    /// The progress of a copy.
    package struct Progress: Sendable, Equatable {
        /// The number of pages in the database.
        package var pageCount: Int
        /// The number of pages that are not copied yet; 0 when the copy is complete.
        package var remainingPageCount: Int
    }

    /// The path of the new file.
    ///
    /// No file may exist there.
    package var path: String
    /// Called on the store's thread after each step; must return immediately.
    package var onProgress: @Sendable (Progress) -> Void
    /// Called on the store's thread when the copy ends; must return immediately.
    ///
    /// The argument is nil for a complete copy, and otherwise the reason for the failure. A copy that cannot begin ends
    /// in the same way. The file is closed at that time, but not synchronized to the disk.
    package var onEnd: @Sendable (StoreError?) -> Void

    package init(
        path: String, onProgress: @escaping @Sendable (Progress) -> Void = { _ in },
        onEnd: @escaping @Sendable (StoreError?) -> Void
    ) {
        self.path = path
        self.onProgress = onProgress
        self.onEnd = onEnd
    }
}
