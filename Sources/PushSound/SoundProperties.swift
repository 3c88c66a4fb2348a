// SPDX-License-Identifier: Apache-2.0

internal import CCanberra

/// What libcanberra is told about a sound; owns one `ca_proplist *`.
@safe struct SoundProperties: ~Copyable {
    let handle: OpaquePointer

    /// Makes an empty list with `ca_proplist_create`.
    init() throws(SoundError) {
        var handle: OpaquePointer?
        try SoundError.check(unsafe ca_proplist_create(&handle))
        guard let handle = unsafe handle else { throw .outOfMemory }
        unsafe self.handle = handle
    }

    deinit { _ = unsafe ca_proplist_destroy(handle) }

    /// Sets one property with `ca_proplist_sets`; C would end a text with a NUL early, so that is refused.
    borrowing func set(_ key: String, _ value: String) throws(SoundError) {
        guard !value.utf8.contains(0) else { throw .invalid("a text with a NUL") }
        try SoundError.check(unsafe ca_proplist_sets(handle, key, value))
    }
}
