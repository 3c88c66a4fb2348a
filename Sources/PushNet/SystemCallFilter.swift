// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import CPushShims
internal import Glibc

/// A filter of system calls, which a process applies to itself before it reads untrusted content.
///
/// If the content takes the process over, it still cannot reach the network, other processes or the session bus,
/// start programs, or write files. A forbidden call fails with `EPERM`. The filter cannot be removed.
///
/// Source: seccomp(2).
package struct SystemCallFilter: Sendable {
    /// The calls that are always allowed.
    private let calls: Set<Int32>
    /// Whether files can be opened for reading, and threads started.
    private let isReader: Bool

    /// Allows computing with the memory, and reading and writing open descriptors.
    package static let computing = SystemCallFilter(calls: basicCalls, isReader: false)

    /// Allows opening files for reading and starting threads, too; libraries of vector images need fonts and threads.
    package static let readingFiles = SystemCallFilter(calls: basicCalls.union(readerCalls), isReader: true)

    /// Applies the filter to all threads of this process.
    ///
    /// - Throws: `NetError.system` if the kernel has no such filters.
    package func install() throws(NetError) {
        let program = instructions
        _ = try syscall("seccomp") {
            unsafe push_install_system_call_filter(program, UInt16(program.count))
        }
    }

    // MARK: The calls

    private static let basicCalls: Set<Int32> = [
        __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_lseek, __NR_close, __NR_fstat,
        __NR_mmap, __NR_mprotect, __NR_munmap, __NR_mremap, __NR_madvise, __NR_brk,
        __NR_futex, __NR_sched_yield, __NR_sched_getaffinity, __NR_getrandom, __NR_clock_gettime,
        // Without these two, a thread that is starting would end the process.
        __NR_set_robust_list, __NR_rseq,
        __NR_rt_sigreturn, __NR_rt_sigprocmask, __NR_sigaltstack, __NR_restart_syscall, __NR_exit, __NR_exit_group,
    ]

    private static let readerCalls: Set<Int32> = olderReaderCalls.union([
        __NR_newfstatat, __NR_statx, __NR_readlinkat, __NR_faccessat, __NR_faccessat2, __NR_getdents64, __NR_fstatfs,
        __NR_setitimer, __NR_gettid,
    ])

    #if arch(x86_64)
        private static let architecture = UInt32(EM_X86_64) | UInt32(__AUDIT_ARCH_64BIT) | UInt32(__AUDIT_ARCH_LE)
        /// The calls that newer architectures have only in another form.
        private static let olderReaderCalls: Set<Int32> = [
            __NR_alarm, __NR_stat, __NR_lstat, __NR_readlink, __NR_access,
        ]
    #elseif arch(arm64)
        private static let architecture = UInt32(EM_AARCH64) | UInt32(__AUDIT_ARCH_64BIT) | UInt32(__AUDIT_ARCH_LE)
        private static let olderReaderCalls: Set<Int32> = []
    #endif

    // MARK: The program

    /// The program, which the kernel runs for each call.
    private var instructions: [sock_filter] {
        var program = [
            Self.load(\.arch), Self.skip(1, if: Self.architecture), Self.end(SECCOMP_RET_KILL_PROCESS),
            Self.load(\.nr),
        ]
        for call in calls.sorted() { program += [Self.skip(0, if: UInt32(call), else: 1), Self.allow] }
        if isReader {
            // The flags of openat(2) are in its third argument, and those of clone(2) in its first.
            program += Self.onCall(
                __NR_openat,
                [
                    Self.load(\.args.2), Self.and(UInt32(O_ACCMODE | O_CREAT | O_TRUNC)),
                    Self.skip(0, if: UInt32(O_RDONLY), else: 1), Self.allow, Self.forbid,
                ])
            program += Self.onCall(
                __NR_clone,
                [
                    Self.load(\.args.0), Self.and(UInt32(CLONE_THREAD)),
                    Self.skip(0, if: UInt32(CLONE_THREAD), else: 1), Self.allow, Self.forbid,
                ])
            // Its flags are in memory, so they cannot be checked. With this error, libraries call clone(2).
            program += Self.onCall(__NR_clone3, [Self.fail(ENOSYS)])
        }
        return program + [Self.forbid]
    }

    private static var allow: sock_filter { end(SECCOMP_RET_ALLOW) }
    private static var forbid: sock_filter { fail(EPERM) }

    private static func fail(_ code: Int32) -> sock_filter { end(UInt32(SECCOMP_RET_ERRNO) | UInt32(code)) }

    /// Returns instructions that run only for one call.
    private static func onCall(_ number: Int32, _ instructions: [sock_filter]) -> [sock_filter] {
        [skip(0, if: UInt32(number), else: UInt8(instructions.count))] + instructions
    }

    /// Returns an instruction that loads the low 32 bits of a member of `seccomp_data`.
    private static func load<Value>(_ member: KeyPath<seccomp_data, Value>) -> sock_filter {
        guard let offset = MemoryLayout<seccomp_data>.offset(of: member) else {
            preconditionFailure("the members of a C structure are stored")
        }
        return sock_filter(code: UInt16(BPF_LD | BPF_W | BPF_ABS), jt: 0, jf: 0, k: UInt32(offset))
    }

    private static func and(_ mask: UInt32) -> sock_filter {
        sock_filter(code: UInt16(BPF_ALU | BPF_AND | BPF_K), jt: 0, jf: 0, k: mask)
    }

    /// Returns an instruction that skips instructions if the loaded value equals another one.
    private static func skip(_ count: UInt8, if value: UInt32, else otherwise: UInt8 = 0) -> sock_filter {
        sock_filter(code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: count, jf: otherwise, k: value)
    }

    private static func end(_ action: UInt32) -> sock_filter {
        sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: action)
    }
}
