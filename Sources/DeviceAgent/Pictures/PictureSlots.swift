// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The slots for pictures that are fetched and converted at the same time: some for each app, so that an app with slow
/// pictures does not take those of others.
///
/// Only the loop's thread uses the slots.
final class PictureSlots {
    private var counts: [AppID: Int] = [:]

    /// Takes a slot; nil if the app, or all apps together, use as many as allowed.
    func take(_ app: AppID) -> PictureSlot? {
        guard counts[app, default: 0] < Limits.pictureFetchCountMax,
            counts.values.reduce(0, +) < Limits.allPictureFetchCountMax
        else { return nil }
        counts[app, default: 0] += 1
        return PictureSlot { [weak self] in self?.giveBack(app) }
    }

    private func giveBack(_ app: AppID) {
        guard let count = counts[app] else { return }
        counts[app] = count > 1 ? count - 1 : nil
    }
}

/// A slot, which is free again when this object is released.
final class PictureSlot {
    private let onRelease: () -> Void

    fileprivate init(onRelease: @escaping () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
