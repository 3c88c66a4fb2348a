// SPDX-License-Identifier: Apache-2.0

internal import CCanberra

/// A connection to the sound server, made with the first sound; owns one `ca_context *`.
@safe final class SoundContext {
    private let handle: OpaquePointer

    /// Creates a context with `ca_context_create`, which does not connect yet.
    init(applicationName: String) throws(SoundError) {
        let properties = try SoundProperties()
        try properties.set(CA_PROP_APPLICATION_NAME, applicationName)
        // The role lets the sound server duck other sounds for it, and mute all event sounds as the user chose.
        try properties.set(CA_PROP_MEDIA_ROLE, "event")
        var handle: OpaquePointer?
        try SoundError.check(unsafe ca_context_create(&handle))
        guard let handle = unsafe handle else { throw .outOfMemory }
        let code = unsafe ca_context_change_props_full(handle, properties.handle)
        guard code == CA_SUCCESS else {
            _ = unsafe ca_context_destroy(handle)
            throw SoundError(libraryCode: code)
        }
        unsafe self.handle = handle
    }

    deinit { _ = unsafe ca_context_destroy(handle) }

    /// Starts a sound with `ca_context_play_full`, without waiting for its end.
    func play(_ properties: borrowing SoundProperties) throws(SoundError) {
        try SoundError.check(unsafe ca_context_play_full(handle, 0, properties.handle, nil, nil))
    }
}
