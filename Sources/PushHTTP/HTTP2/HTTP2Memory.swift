// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2
internal import Glibc

/// The memory of nghttp2: keeps freed blocks for the next stream, and can release the frame buffers of idle sessions.
///
/// nghttp2 allocates seven small blocks for each request. They come from lists by size, in front of `malloc`, whose own
/// lists of this kind hold seven blocks each. Without these lists, `make gate` counts 7 more allocations and 1,700 more
/// instructions (4 %) for each request.
///
/// Not Sendable: all sessions of a loop share one object and keep it.
@safe package final class HTTP2Memory {
    /// The largest block that is kept, in bytes; `malloc` makes block sizes 16 bytes apart.
    private static let keptBlockByteCountMax = 1032
    /// The largest number of bytes in free blocks.
    private static let keptByteCountMax = 1 << 20
    /// The size of the buffer in which nghttp2 builds frames: a whole DATA or HEADERS frame with padding.
    private static let frameBufferByteCount = 16_384 + 10
    fileprivate static let pageByteCount = 4096

    /// The first free block of each size; each block begins with the address of the next.
    private let lists: UnsafeMutableBufferPointer<UnsafeMutableRawPointer?>
    private var keptByteCount = 0
    /// The frame buffer that was allocated last.
    private var latestFrameBuffer: UnsafeMutableRawPointer?

    /// Creates memory with empty lists.
    package init() {
        unsafe lists = .allocate(capacity: Self.keptBlockByteCountMax / 16 + 1)
        unsafe lists.initialize(repeating: nil)
    }

    deinit {
        for index in unsafe lists.indices {
            while let block = unsafe pop(index) { unsafe Glibc.free(block) }
        }
        unsafe lists.deallocate()
    }

    /// Returns the frame buffer of the session that was just created.
    func takeFrameBuffer() -> UnsafeMutableRawPointer? {
        defer { unsafe latestFrameBuffer = nil }
        return unsafe latestFrameBuffer
    }

    /// Returns the pages of a frame buffer to the kernel (`madvise`); the contents are lost, and the buffer stays
    /// usable.
    static func forget(frameBuffer: UnsafeMutableRawPointer) {
        _ = unsafe madvise(frameBuffer, wholePages(frameBufferByteCount), MADV_DONTNEED)
    }

    private static func wholePages(_ byteCount: Int) -> Int {
        (byteCount + pageByteCount - 1) / pageByteCount * pageByteCount
    }

    /// Allocates a block from its list or from `malloc`.
    ///
    /// - Parameters:
    ///   - byteCount: The minimum size.
    ///   - heldByteCount: A counter that grows by the actual size of the block, which `free` subtracts again.
    /// - Returns: The block, or nil if no memory is available.
    fileprivate func allocate(_ byteCount: Int, _ heldByteCount: inout Int) -> UnsafeMutableRawPointer? {
        guard byteCount <= Self.keptBlockByteCountMax else {
            guard let block = unsafe allocateLarge(byteCount) else { return nil }
            heldByteCount += unsafe Self.listIndex(of: block) * 16
            return unsafe block
        }
        // `malloc` returns blocks of 24, 40, 56 … usable bytes.
        let index = max(byteCount + 7, 16) / 16
        if let block = unsafe pop(index) {
            keptByteCount -= index * 16
            heldByteCount += index * 16
            return unsafe block
        }
        guard let block = unsafe Glibc.malloc(index * 16 + 8) else { return nil }
        heldByteCount += unsafe Self.listIndex(of: block) * 16
        return unsafe block
    }

    /// Allocates a block of one page of zeros, which takes no physical memory until it is written; nil if no memory is
    /// available.
    ///
    /// nghttp2 allocates one for the table of a session's streams, which an idle session never writes.
    ///
    /// - Parameter heldByteCount: A counter that grows by the actual size of the block.
    /// - Returns: The page, or nil if no memory is available.
    fileprivate func allocateZeroedPage(_ heldByteCount: inout Int) -> UnsafeMutableRawPointer? {
        guard let page = unsafe aligned_alloc(Self.pageByteCount, Self.pageByteCount) else { return nil }
        heldByteCount += unsafe Self.listIndex(of: page) * 16
        // `madvise` fails where pages are larger.
        if unsafe madvise(page, Self.pageByteCount, MADV_DONTNEED) != 0 {
            unsafe page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.pageByteCount)
        }
        return unsafe page
    }

    /// Returns the index of the list for a block's usable size; beyond the last list for large blocks.
    private static func listIndex(of block: UnsafeMutableRawPointer) -> Int {
        unsafe (malloc_usable_size(block) - 8) / 16
    }

    private func allocateLarge(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount == Self.frameBufferByteCount else { return unsafe Glibc.malloc(byteCount) }
        // Whole pages, so that `forget` affects no other block.
        unsafe latestFrameBuffer = aligned_alloc(Self.pageByteCount, Self.wholePages(byteCount))
        return unsafe latestFrameBuffer
    }

    fileprivate func free(_ block: UnsafeMutableRawPointer, _ heldByteCount: inout Int) {
        let index = unsafe Self.listIndex(of: block)
        heldByteCount -= index * 16
        guard unsafe index < lists.count, keptByteCount < Self.keptByteCountMax else { return unsafe Glibc.free(block) }
        unsafe block.storeBytes(of: lists[index], as: UnsafeMutableRawPointer?.self)
        unsafe lists[index] = block
        keptByteCount += index * 16
    }

    fileprivate func resize(
        _ block: UnsafeMutableRawPointer, _ byteCount: Int, _ heldByteCount: inout Int
    ) -> UnsafeMutableRawPointer? {
        let usableByteCount = unsafe malloc_usable_size(block)
        guard byteCount > usableByteCount else { return unsafe block }
        guard let larger = unsafe allocate(byteCount, &heldByteCount) else { return nil }
        unsafe larger.copyMemory(from: block, byteCount: usableByteCount)
        unsafe free(block, &heldByteCount)
        return unsafe larger
    }

    private func pop(_ index: Int) -> UnsafeMutableRawPointer? {
        guard let block = unsafe lists[index] else { return nil }
        unsafe lists[index] = block.load(as: UnsafeMutableRawPointer?.self)
        return unsafe block
    }
}

/// A session's account with a loop's `HTTP2Memory`: counts the bytes that nghttp2 holds for that session.
@safe final class HTTP2MemoryAccount {
    // Safety: the session that owns the account also keeps the memory, and for longer. A counted reference would cost
    // two atomic operations for each block.
    private let memory: Unmanaged<HTTP2Memory>
    /// The number of bytes in the blocks that nghttp2 has not freed yet.
    private(set) var heldByteCount = 0

    /// Creates an account without blocks.
    ///
    /// - Parameter memory: The memory, which must outlive the account.
    init(of memory: HTTP2Memory) { unsafe self.memory = .passUnretained(memory) }

    /// Calls the body with the functions in nghttp2's form, which stay valid as long as this object.
    func lend<Result>(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Result) -> Result {
        var functions = unsafe nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(), malloc: allocateBlock, free: freeBlock,
            calloc: allocateZeroedBlock, realloc: resizeBlock)
        return unsafe body(&functions)
    }

    fileprivate func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        unsafe memory._withUnsafeGuaranteedRef { unsafe $0.allocate(byteCount, &heldByteCount) }
    }

    fileprivate func allocateZeroedPage() -> UnsafeMutableRawPointer? {
        unsafe memory._withUnsafeGuaranteedRef { unsafe $0.allocateZeroedPage(&heldByteCount) }
    }

    fileprivate func free(_ block: UnsafeMutableRawPointer) {
        unsafe memory._withUnsafeGuaranteedRef { unsafe $0.free(block, &heldByteCount) }
    }

    fileprivate func resize(_ block: UnsafeMutableRawPointer, _ byteCount: Int) -> UnsafeMutableRawPointer? {
        unsafe memory._withUnsafeGuaranteedRef { unsafe $0.resize(block, byteCount, &heldByteCount) }
    }
}

/// Calls the body with the account of a callback, from `mem_user_data`; the session keeps the account.
private func withAccount<Result>(_ userData: UnsafeMutableRawPointer?, _ body: (HTTP2MemoryAccount) -> Result) -> Result
{
    guard let userData = unsafe userData else { preconditionFailure("nghttp2 passed a nil user data pointer") }
    return unsafe Unmanaged<HTTP2MemoryAccount>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
}

private func allocateBlock(_ byteCount: Int, _ userData: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    unsafe withAccount(userData) { unsafe $0.allocate(byteCount) }
}

private func allocateZeroedBlock(
    _ count: Int, _ byteCount: Int, _ userData: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    let (total, isTooLarge) = count.multipliedReportingOverflow(by: byteCount)
    guard !isTooLarge else { return nil }
    if total == HTTP2Memory.pageByteCount {
        return unsafe withAccount(userData) { unsafe $0.allocateZeroedPage() }
    }
    guard let block = unsafe allocateBlock(total, userData) else { return nil }
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: total)
    return unsafe block
}

private func freeBlock(_ block: UnsafeMutableRawPointer?, _ userData: UnsafeMutableRawPointer?) {
    guard let block = unsafe block else { return }
    unsafe withAccount(userData) { unsafe $0.free(block) }
}

private func resizeBlock(
    _ block: UnsafeMutableRawPointer?, _ byteCount: Int, _ userData: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    unsafe withAccount(userData) { account in
        guard let block = unsafe block else { return unsafe account.allocate(byteCount) }
        return unsafe account.resize(block, byteCount)
    }
}
