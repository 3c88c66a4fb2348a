// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxDesktop
internal import PushCore
internal import PushNet
internal import PushSound

/// Checks sounds and copies them into apps' directories; a check is worthwhile because a sound is heard often.
struct SoundInstaller {
    /// The maximum duration, the same as for notification sounds on other systems.
    static let durationMillisecondsMax = 30_000
    /// The minimum peak; a quieter sound is hardly audible.
    static let peakMin: Float = 0.01

    /// A sound that an app can name.
    struct Known: Equatable {
        var name: String
        /// Whether the sound belongs to the app; otherwise it is built in.
        var isOfApp: Bool
    }

    /// Names with a special meaning in settings and payloads.
    private static let reservedNames = ["default", "standard", "none", "as-sent"]

    private let folder: String?
    private let builtIn: BuiltInSounds
    private let apps: AppSounds
    private let themes: [String]

    /// Reads `XDG_DATA_HOME`, `XDG_DATA_DIRS` and `HOME`.
    init(environment: [String: String]) {
        let data = DesktopFolders(environment: environment)
        folder = data.dataHome.map { "\($0)/posthorn/sounds" }
        themes = data.data.map { "\($0)/sounds" }
        apps = AppSounds(environment: environment)
        builtIn = BuiltInSounds(environment: environment)
    }

    /// Returns the sounds that an app can name, its own first; only the built-in ones for nil.
    func sounds(of appID: AppID?) -> [Known] {
        let names = appID.map(ownSounds) ?? []
        let builtIn = builtIn.names.filter { !names.contains($0) }
        return names.map { Known(name: $0, isOfApp: true) } + builtIn.map { Known(name: $0, isOfApp: false) }
    }

    private func ownSounds(of appID: AppID) -> [String] {
        let files = folder.map { FolderListing.names(in: "\($0)/\(appID)") } ?? []
        let stems = files.filter(AppSounds.isValidName).map(AppSounds.themeName)
        return Set(stems.filter { apps.file($0, appID: appID) != nil }).sorted()
    }

    /// Returns whether a name is a sound of the app, a built-in one, or one of any installed sound theme.
    func knows(_ name: String, of appID: AppID?) -> Bool {
        guard AppSounds.isValidName(name) else { return false }
        if apps.file(name, appID: appID) != nil || builtIn.file(name) != nil { return true }
        let files = ["oga", "ogg", "wav"].map { "\(AppSounds.themeName(name)).\($0)" }
        return themes.contains { folder in
            FolderListing.names(in: folder).contains { theme in
                let places = FolderListing.names(in: "\(folder)/\(theme)").map { "\(folder)/\(theme)/\($0)" }
                return places.contains { place in files.contains { unsafe access("\(place)/\($0)", R_OK) == 0 } }
            }
        }
    }

    /// Checks a file and copies it into an app's directory, where it replaces a sound of the same name.
    ///
    /// - Parameters:
    ///   - path: The sound file.
    ///   - appID: The app that gets the sound.
    ///   - name: The sound's name in payloads; if empty, the file's name without its extension.
    /// - Returns: The sound's name.
    /// - Throws: `SoundInstallError` with the problem and its fix.
    func install(_ path: String, for appID: AppID, name: String) throws(SoundInstallError) -> String {
        let fileName = path.split(separator: "/").last.map(String.init) ?? ""
        let name = name.isEmpty ? AppSounds.themeName(fileName) : name
        guard AppSounds.isValidName(name) else {
            throw SoundInstallError(
                "'\(name)' is not a valid name (letters, digits, '.', '_' and '-'): give one with --name.")
        }
        guard !Self.reservedNames.contains(AppSounds.themeName(name)) else {
            throw SoundInstallError("'\(name)' is a reserved name: give another one with --name.")
        }
        guard let folder else { throw SoundInstallError("this user has no data directory: set HOME or XDG_DATA_HOME.") }
        let bytes = try read(path)
        let sound = try check(path)
        if let same = installedSound(withSameBytesAs: bytes, in: folder, besides: "\(appID)/\(name)") {
            throw SoundInstallError("it is the same as \(same). Choose another: users recognize an app by its sound.")
        }
        do {
            try PrivateFile.makeDirectory("\(folder)/\(appID)")
            try PrivateFile.write(bytes, to: "\(folder)/\(appID)/\(name).\(sound.format.rawValue)", mode: 0o644)
        } catch {
            throw SoundInstallError("it cannot be copied: \(error)")
        }
        // A file in another format would take precedence.
        for other in ["oga", "ogg", "wav"] where other != sound.format.rawValue {
            _ = unsafe unlink("\(folder)/\(appID)/\(name).\(other)")
        }
        return name
    }

    /// Removes a sound of an app; returns false if the app has none of that name.
    func remove(_ name: String, of appID: AppID) -> Bool {
        guard let folder, AppSounds.isValidName(name) else { return false }
        return ["oga", "ogg", "wav"].reduce(false) { isAny, suffix in
            unsafe unlink("\(folder)/\(appID)/\(name).\(suffix)") == 0 || isAny
        }
    }

    /// Removes all sounds of an app that was unregistered.
    func removeAll(of appID: AppID) {
        guard let folder, DesktopEntry.isValidID(appID.text) else { return }
        for name in FolderListing.names(in: "\(folder)/\(appID)") { unsafe unlink("\(folder)/\(appID)/\(name)") }
        _ = unsafe rmdir("\(folder)/\(appID)")
    }

    private func read(_ path: String) throws(SoundInstallError) -> [UInt8] {
        do {
            return try PrivateFile.read(path, byteCountMax: AppSounds.fileByteCountMax)
        } catch {
            let isThere = unsafe access(path, R_OK) == 0
            let limit = isThere ? ", and at most \(AppSounds.fileByteCountMax >> 20) MiB are read" : ""
            throw SoundInstallError("\(error)\(limit).")
        }
    }

    private func check(_ path: String) throws(SoundInstallError) -> SoundFile {
        let sound: SoundFile
        do throws(SoundFileError) {
            sound = try SoundFile(path: path, durationMillisecondsMax: Self.durationMillisecondsMax)
        } catch {
            switch error {
            case .unreadable(let text): throw SoundInstallError("it is not a sound file: \(text)")
            case .otherFormat(let name):
                throw SoundInstallError(
                    "it is \(name). Convert it to Ogg Vorbis, for example with oggenc, or to WAV with 16-bit PCM.")
            }
        }
        guard sound.durationMilliseconds <= Self.durationMillisecondsMax else {
            throw SoundInstallError(
                "it is \(sound.durationMilliseconds / 1000) s long, and the maximum is "
                    + "\(Self.durationMillisecondsMax / 1000) s: cut it to a second or two.")
        }
        guard sound.peak >= Self.peakMin else { throw SoundInstallError("it is almost silent: make it louder.") }
        guard sound.clippedSampleCount == 0 else {
            throw SoundInstallError(
                "it is clipped at \(sound.clippedSampleCount) samples and would crackle: make it quieter.")
        }
        return sound
    }

    /// Returns a built-in sound, or one of an app, with the same bytes.
    private func installedSound(withSameBytesAs bytes: [UInt8], in folder: String, besides own: String) -> String? {
        for name in builtIn.names {
            if let file = builtIn.file(name), (try? PrivateFile.read(file)) == bytes { return "the built-in '\(name)'" }
        }
        for app in FolderListing.names(in: folder) {
            for name in FolderListing.names(in: "\(folder)/\(app)") where "\(app)/\(AppSounds.themeName(name))" != own {
                let path = "\(folder)/\(app)/\(name)"
                guard let other = try? PrivateFile.read(path, byteCountMax: AppSounds.fileByteCountMax) else {
                    continue
                }
                if other == bytes { return "'\(AppSounds.themeName(name))' of \(app)" }
            }
        }
        return nil
    }
}

/// The reason why a sound cannot be installed, and its fix.
struct SoundInstallError: Error, Equatable {
    /// The sentence for the user.
    let message: String

    /// Creates an error from its reason, which begins in lower case.
    init(_ reason: String) { message = "Cannot install the sound: \(reason)" }
}
