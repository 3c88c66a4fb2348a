// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Lists directories, without an error for those that cannot be read.
package enum FolderListing {
    /// Returns the names of files and directories except hidden ones; empty if the directory cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.utf8.first != UInt8(ascii: ".") { names.append(name) }
        }
        return names
    }
}
