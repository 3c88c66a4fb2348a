// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// What a process runs, as /proc says it.
struct RunningProgram: Sendable {
    /// The program's own file; for a script that of its interpreter.
    var executable: FileIdentity
    /// What follows the program's name.
    var arguments: [Argument]
    /// The Flatpak that the process is in; nil outside of one.
    var flatpak: String?

    /// A word of the command line, and the file that it names, if it does.
    struct Argument: Sendable {
        var text: String
        var file: FileIdentity?
    }

    /// So many words say which script an interpreter runs.
    private static let argumentCountMax = 16
    private static let fileByteCountMax = 128 * 1024

    /// Reads what a process runs; nil when that cannot be told for sure.
    ///
    /// The directory stays that of this process: should its number go to another one, nothing is read any more.
    ///
    /// - Parameters:
    ///   - process: Its number.
    ///   - folder: Where the system describes processes: /proc.
    init?(process: Int32, in folder: String) {
        guard process > 0 else { return nil }
        let directory = unsafe open("\(folder)/\(process)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        defer { close(directory) }
        let path = "/proc/self/fd/\(directory)"
        guard let flatpak = Self.flatpak(path), let executable = FileIdentity("\(path)/exe"),
            let line = try? PrivateFile.read("\(path)/cmdline", byteCountMax: Self.fileByteCountMax)
        else { return nil }
        self.flatpak = flatpak.name
        self.executable = executable
        arguments = line.split(separator: 0, omittingEmptySubsequences: false).dropFirst().prefix(
            Self.argumentCountMax
        ).map { word in
            let text = String(decoding: word, as: UTF8.self)
            let start = word.first == UInt8(ascii: "/") ? "root" : "cwd"
            return Argument(text: text, file: FileIdentity("\(path)/\(start)/\(text)"))
        }
    }

    /// What `/.flatpak-info` in the process's root says, as portals read it; nil when that cannot be read.
    private static func flatpak(_ path: String) -> (name: String?, Void)? {
        do throws(NetError) {
            let root = "\(path)/root"
            let text = try PrivateFile.read("\(root)/.flatpak-info", byteCountMax: fileByteCountMax)
            // One that names no app is not known.
            return DesktopFile(text, group: "Application").string("name").map { ($0, ()) }
        } catch {
            guard case .system(_, ENOENT, _) = error else { return nil }
            return (nil, ())
        }
    }
}

/// What tells a file from every other, by whatever name it is reached.
struct FileIdentity: Sendable, Equatable {
    private let device: UInt
    private let number: UInt

    /// Nil where there is no regular file.
    init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
    }
}
