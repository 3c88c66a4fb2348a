// SPDX-License-Identifier: Apache-2.0

internal import CCanberra

/// What libcanberra answered.
package struct SoundError: Error, Equatable, Sendable {
    /// libcanberra's error number, negative.
    package var code: Int32
    /// libcanberra's text for it, or ours where the sound was not even asked for.
    package var message: String

    /// What to do about it.
    package enum Remedy: Sendable {
        /// The sound theme has no such sound: play another.
        case chooseAnotherSound
        /// The person switched event sounds off: stay silent.
        case staySilent
        /// No sound server answers: try again with the next sound.
        case tryLater
    }

    /// What to do about it.
    package var remedy: Remedy {
        switch Int(code) {
        case CA_ERROR_NOTFOUND, CA_ERROR_INVALID, CA_ERROR_CORRUPT, CA_ERROR_TOOBIG, CA_ERROR_NOTSUPPORTED:
            .chooseAnotherSound
        case CA_ERROR_DISABLED: .staySilent
        default: .tryLater
        }
    }
}

// The one place where libcanberra's numbers become ours.
extension SoundError {
    /// Throws when a function of libcanberra failed; the text is `ca_strerror`'s.
    static func check(_ code: Int32) throws(SoundError) {
        guard code != CA_SUCCESS else { return }
        throw SoundError(libraryCode: code)
    }

    /// Copies the text of libcanberra's number with `ca_strerror`.
    init(libraryCode code: Int32) {
        let text = unsafe ca_strerror(code)
        unsafe self.init(code: code, message: text.map { unsafe String(cString: $0) } ?? "unknown")
    }

    /// Memory ran out.
    static var outOfMemory: SoundError { SoundError(libraryCode: Int32(CA_ERROR_OOM)) }

    /// The caller's text is none that may be played.
    static func invalid(_ message: String) -> SoundError { SoundError(code: Int32(CA_ERROR_INVALID), message: message) }
}
