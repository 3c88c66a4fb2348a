// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import Glibc
internal import LinuxDesktop
internal import PushCore
internal import PushNet

/// The directory with the pictures of inbox entries: one PNG file for each entry, named by its number.
struct PictureFolder {
    private let path: String
    private let byteCountMax: Int

    init(path: String, byteCountMax: Int = Limits.picturesByteCountMax) {
        self.path = path
        self.byteCountMax = byteCountMax
    }

    /// Returns the path of an entry's picture.
    func file(of number: EntryID) -> String { "\(path)/\(number).png" }

    /// Writes an entry's picture, which only this user can read.
    ///
    /// - Parameters:
    ///   - png: The file.
    ///   - number: The number of the entry.
    /// - Returns: The path.
    /// - Throws: The reason why it cannot be written.
    func save(_ png: [UInt8], of number: EntryID) throws(PictureFailure) -> String {
        _ = unsafe mkdir(path, 0o700)
        let file = file(of: number)
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw PictureFailure("it cannot be stored: \(SystemError.text(errno))") }
        let output = FileDescriptor(adopting: descriptor)
        var rest = png[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(output.rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let reason = SystemError.text(errno)
                remove(number)
                throw PictureFailure("it cannot be stored: \(reason)")
            }
            rest = rest.dropFirst(count)
        }
        return file
    }

    func remove(_ number: EntryID) { _ = unsafe unlink(file(of: number)) }

    /// Deletes the pictures of entries that no longer exist, and the oldest ones above the limit on the disk space.
    ///
    /// - Parameter isKept: Returns whether an entry still has a picture.
    /// - Returns: The entries that lost their pictures to the limit.
    func sweep(keeping isKept: (EntryID) -> Bool) -> [EntryID] {
        var kept: [(number: EntryID, byteCount: Int)] = []
        for name in FolderListing.names(in: path) {
            guard name.utf8.elementsEqual("\(Int64(name.dropLast(4)) ?? 0).png".utf8),
                let number = Int64(name.dropLast(4)).map({ EntryID(rawValue: $0) })
            else { continue }
            guard isKept(number) else {
                remove(number)
                continue
            }
            var facts = stat()
            if unsafe lstat(file(of: number), &facts) == 0 { kept.append((number, Int(facts.st_size))) }
        }
        var byteCount = kept.reduce(0) { $0 + $1.byteCount }
        var lost: [EntryID] = []
        for (number, size) in kept.sorted(by: { $0.number < $1.number }) where byteCount > byteCountMax {
            remove(number)
            byteCount -= size
            lost.append(number)
        }
        return lost
    }
}
