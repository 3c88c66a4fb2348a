// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxDesktop
internal import PushNet

/// The program of a process and its arguments, as /proc describes them.
struct RunningProgram: Sendable {
    /// The program's executable file; for a script, that of its interpreter.
    var executable: FileIdentity
    /// The words of the command line after the program's name.
    var arguments: [Argument]
    /// The Flatpak that contains the process; nil outside a Flatpak.
    var flatpak: String?

    /// A word of the command line, with the file that it names, if any.
    struct Argument: Sendable {
        var text: String
        var file: FileIdentity?
    }

    /// The number of words that identify the script of an interpreter.
    private static let argumentCountMax = 16
    private static let fileByteCountMax = 128 * 1024

    /// Reads the program of a process; nil if it cannot be identified reliably.
    ///
    /// The open directory belongs to this process only. If its number is reused, reads through the directory fail.
    ///
    /// - Parameters:
    ///   - process: The process ID.
    ///   - folder: The directory in which the system describes processes, /proc.
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

    /// Returns the app's name in `/.flatpak-info` of the process's root, as portals do; nil if the file cannot be read.
    private static func flatpak(_ path: String) -> (name: String?, Void)? {
        do throws(NetError) {
            let root = "\(path)/root"
            let text = try PrivateFile.read("\(root)/.flatpak-info", byteCountMax: fileByteCountMax)
            // A Flatpak without an app name cannot be identified.
            return DesktopFile(text, group: "Application").string("name").map { ($0, ()) }
        } catch {
            guard case .system(_, ENOENT, _) = error else { return nil }
            return (nil, ())
        }
    }
}

/// The identity of a file, independent of the path by which it is reached.
struct FileIdentity: Sendable, Equatable {
    private let device: UInt
    private let number: UInt

    /// Creates the identity of a regular file; nil if the path names none.
    init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
    }
}
