// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The resource limits of this process, and its current use.
package enum ProcessLimits {
    /// The number of descriptors that may be open (`RLIMIT_NOFILE`, soft).
    package static var descriptorCountMax: Int {
        var limits = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limits) == 0 else { return 1024 }
        return Int(clamping: limits.rlim_cur)
    }

    /// Enlarges the kernel's table of the process's descriptors, which never shrinks, as far as the limit permits.
    ///
    /// The kernel doubles a full table. In a process with several threads, the thread that accepts a connection then
    /// waits for a grace period of RCU, which took 40 to 140 ms on a busy machine.
    ///
    /// - Parameter count: The number of descriptors that fit into the table afterwards.
    package static func prepareDescriptors(_ count: Int) {
        let last = min(count, descriptorCountMax) - 1
        guard last >= 0, let spare = FileDescriptor.spare() else { return }
        // The duplicate has at least this number.
        let duplicate = fcntl(spare.rawValue, F_DUPFD_CLOEXEC, Int32(clamping: last))
        if duplicate >= 0 { _ = FileDescriptor(adopting: duplicate) }
    }

    /// The physical memory of the machine in bytes; nil if it is unknown.
    package static var machineByteCount: Int? {
        let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
        guard pages > 0, size > 0 else { return nil }
        let (byteCount, isOverflow) = pages.multipliedReportingOverflow(by: size)
        return isOverflow ? nil : byteCount
    }

    /// Returns the lowest memory limit of this process's control groups in bytes; nil without a readable limit.
    ///
    /// Both versions of control groups are read, including the parents of the process's own group: `memory.high` and
    /// `memory.max` (systemd's `MemoryHigh=` and `MemoryMax=`), or `memory.limit_in_bytes`.
    ///
    /// - Parameters:
    ///   - membership: The text of `/proc/self/cgroup`; nil to read it.
    ///   - root: The directory where control groups are mounted.
    /// - Returns: The number of bytes.
    package static func controlGroupByteCount(membership: String? = nil, root: String = "/sys/fs/cgroup") -> Int? {
        guard let text = membership ?? readText("/proc/self/cgroup") else { return nil }
        var smallest: Int?
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let limits: [Int]
            if parts[0] == "0", parts[1].isEmpty {
                limits = limitsUpwards(from: parts[2], below: root, files: ["memory.high", "memory.max"])
            } else if parts[1].split(separator: ",").contains("memory") {
                limits = limitsUpwards(from: parts[2], below: "\(root)/memory", files: ["memory.limit_in_bytes"])
            } else {
                continue
            }
            if let found = limits.min() { smallest = min(smallest ?? found, found) }
        }
        return smallest
    }

    private static func limitsUpwards(from group: Substring, below root: String, files: [String]) -> [Int] {
        var names = group.split(separator: "/")
        var limits: [Int] = []
        while true {
            let directory = ([root] + names.map(String.init)).joined(separator: "/")
            for file in files {
                // The word `max` means no limit and is not a number.
                guard let text = readText("\(directory)/\(file)"), let line = text.split(separator: "\n").first else {
                    continue
                }
                if let number = Int(line) { limits.append(number) }
            }
            guard names.popLast() != nil else { return limits }
        }
    }

    /// The resident memory of this process in bytes; nil if it cannot be read.
    package static var residentByteCount: Int? {
        let words = readText("/proc/self/statm")?.split(separator: " ")
        guard let words, words.count > 1, let pages = Int(words[1]) else { return nil }
        return pages * max(1, sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The number of open descriptors; nil if it is unknown.
    package static var openDescriptorCount: Int? {
        let path = "/proc/self/fd"
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return nil }
        // Since Linux 6.2, the size of this directory is the number, which saves reading it.
        if information.st_size > 0 { return Int(information.st_size) }
        guard let directory = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(directory) }
        // The directory lists its own descriptor too, besides "." and "..".
        var count = -3
        while unsafe readdir(directory) != nil { count += 1 }
        return max(0, count)
    }

    /// The processor time of all threads of this process, in nanoseconds.
    package static var processorNanoseconds: Int64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Reads the first 4 KiB of a small file of the kernel.
    private static func readText(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileDescriptor(adopting: descriptor)
        return unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = unsafe read(file.rawValue, buffer.baseAddress, buffer.count)
            guard count >= 0 else { return nil }
            return unsafe String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
