// SPDX-License-Identifier: Apache-2.0

internal import CCanberra

/// The properties of a sound for libcanberra; owns one `ca_proplist *`.
@safe struct SoundProperties: ~Copyable {
    let handle: OpaquePointer

    /// Creates an empty list with `ca_proplist_create`.
    init() throws(SoundError) {
        var handle: OpaquePointer?
        try SoundError.check(unsafe ca_proplist_create(&handle))
        guard let handle = unsafe handle else { throw .outOfMemory }
        unsafe self.handle = handle
    }

    deinit { _ = unsafe ca_proplist_destroy(handle) }

    /// Sets one property with `ca_proplist_sets`; rejects a text with a NUL, at which C would end it.
    borrowing func set(_ key: String, _ value: String) throws(SoundError) {
        guard !value.utf8.contains(0) else { throw .invalid("a text with a NUL") }
        try SoundError.check(unsafe ca_proplist_sets(handle, key, value))
    }
}
