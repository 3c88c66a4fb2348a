// SPDX-License-Identifier: Apache-2.0

internal import CCanberra

/// A failure of libcanberra, or an invalid argument that was not passed to it.
package struct SoundError: Error, Equatable, Sendable {
    /// The error number of libcanberra, which is negative.
    package var code: Int32
    /// The error text of libcanberra, or ours for an argument that was not passed to it.
    package var message: String

    /// The action to take after an error.
    package enum Remedy: Sendable {
        /// The sound theme does not have this sound: play another.
        case chooseAnotherSound
        /// The user switched event sounds off: stay silent.
        case staySilent
        /// No sound server answers: try again with the next sound.
        case tryLater
    }

    /// The action to take after this error.
    package var remedy: Remedy {
        switch Int(code) {
        case CA_ERROR_NOTFOUND, CA_ERROR_INVALID, CA_ERROR_CORRUPT, CA_ERROR_TOOBIG, CA_ERROR_NOTSUPPORTED:
            .chooseAnotherSound
        case CA_ERROR_DISABLED: .staySilent
        default: .tryLater
        }
    }
}

// All of libcanberra's error numbers are converted here.
extension SoundError {
    /// Throws if a function of libcanberra failed; the text comes from `ca_strerror`.
    static func check(_ code: Int32) throws(SoundError) {
        guard code != CA_SUCCESS else { return }
        throw SoundError(libraryCode: code)
    }

    /// Creates an error from libcanberra's number, with the text of `ca_strerror`.
    init(libraryCode code: Int32) {
        let text = unsafe ca_strerror(code)
        unsafe self.init(code: code, message: text.map { unsafe String(cString: $0) } ?? "unknown")
    }

    /// The error for exhausted memory.
    static var outOfMemory: SoundError { SoundError(libraryCode: Int32(CA_ERROR_OOM)) }

    /// Returns the error for an invalid text from the caller.
    static func invalid(_ message: String) -> SoundError { SoundError(code: Int32(CA_ERROR_INVALID), message: message) }
}
