// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2
internal import Glibc

/// Gives nghttp2 its memory: keeps what it frees for the next stream, and lends out the buffers of idle sessions' frames.
///
/// nghttp2 asks for seven small blocks for each request. They come from lists by size, in front of `malloc`, whose own such
/// lists hold seven blocks each. Not Sendable: one for all sessions of a loop, which keep it.
@safe package final class HTTP2Memory {
    /// Blocks of up to this many bytes are kept; `malloc` makes them 16 apart.
    private static let keptBlockByteCountMax = 1032
    /// How many bytes of free blocks are kept.
    private static let keptByteCountMax = 1 << 20
    /// What nghttp2 asks for to build its frames in: a whole DATA or HEADERS frame with padding.
    private static let frameBufferByteCount = 16_384 + 10
    fileprivate static let pageByteCount = 4096

    /// First free block by size; each begins with the address of the next.
    private let lists: UnsafeMutableBufferPointer<UnsafeMutableRawPointer?>
    private var keptByteCount = 0
    /// The frame buffer that was made last.
    private var latestFrameBuffer: UnsafeMutableRawPointer?

    /// Begins empty.
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

    /// The frame buffer of the session that was just made.
    func takeFrameBuffer() -> UnsafeMutableRawPointer? {
        defer { unsafe latestFrameBuffer = nil }
        return unsafe latestFrameBuffer
    }

    /// Gives the pages of a frame buffer back to the kernel (`madvise`); what was in it is gone, and it may be used.
    static func forget(frameBuffer: UnsafeMutableRawPointer) {
        _ = unsafe madvise(frameBuffer, wholePages(frameBufferByteCount), MADV_DONTNEED)
    }

    private static func wholePages(_ byteCount: Int) -> Int {
        (byteCount + pageByteCount - 1) / pageByteCount * pageByteCount
    }

    /// Takes a block from its list or from `malloc`.
    ///
    /// - Parameters:
    ///   - byteCount: The least size.
    ///   - heldByteCount: Grows by the size of the block, as `free` will take it off.
    /// - Returns: The block, or nil when there is no memory.
    fileprivate func allocate(_ byteCount: Int, _ heldByteCount: inout Int) -> UnsafeMutableRawPointer? {
        guard byteCount <= Self.keptBlockByteCountMax else {
            guard let block = unsafe allocateLarge(byteCount) else { return nil }
            heldByteCount += unsafe Self.listIndex(of: block) * 16
            return unsafe block
        }
        // `malloc` gives 24, 40, 56 … usable bytes.
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

    /// A block of one page of zeros that is no memory of the process until something is written; nil when there is none.
    ///
    /// nghttp2 asks for one for the table of a session's streams, which an idle session never writes.
    fileprivate func allocateZeroedPage(_ heldByteCount: inout Int) -> UnsafeMutableRawPointer? {
        guard let page = unsafe aligned_alloc(Self.pageByteCount, Self.pageByteCount) else { return nil }
        heldByteCount += unsafe Self.listIndex(of: page) * 16
        // Fails where pages are larger.
        if unsafe madvise(page, Self.pageByteCount, MADV_DONTNEED) != 0 {
            unsafe page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.pageByteCount)
        }
        return unsafe page
    }

    /// The list that a block belongs to by its usable size; beyond the last list for large ones.
    private static func listIndex(of block: UnsafeMutableRawPointer) -> Int {
        unsafe (malloc_usable_size(block) - 8) / 16
    }

    private func allocateLarge(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount == Self.frameBufferByteCount else { return unsafe Glibc.malloc(byteCount) }
        // Pages of its own, so that `forget` touches nothing else.
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

/// A session's share of a loop's `HTTP2Memory`; counts the bytes that nghttp2 holds for that session.
@safe final class HTTP2MemoryAccount {
    // Safety: the session that owns the account keeps the memory, too, and longer. A counted reference would cost two
    // atomic steps for each block.
    fileprivate unowned(unsafe) let memory: HTTP2Memory
    /// Bytes of the blocks that nghttp2 has and has not freed.
    fileprivate(set) var heldByteCount = 0

    /// Begins with no block.
    ///
    /// - Parameter memory: Must outlive the account.
    init(of memory: HTTP2Memory) { unsafe self.memory = memory }

    /// Calls the body with the functions in nghttp2's form, which are good as long as this object.
    func lend<Result>(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Result) -> Result {
        var functions = unsafe nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(), malloc: allocateBlock, free: freeBlock,
            calloc: allocateZeroedBlock, realloc: resizeBlock)
        return unsafe body(&functions)
    }
}

/// The account that a callback is for: `mem_user_data`, which the session keeps.
private func withAccount<Result>(_ userData: UnsafeMutableRawPointer?, _ body: (HTTP2MemoryAccount) -> Result) -> Result
{
    guard let userData = unsafe userData else { preconditionFailure("nghttp2 lost the user data of its memory") }
    return unsafe Unmanaged<HTTP2MemoryAccount>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
}

private func allocateBlock(_ byteCount: Int, _ userData: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    unsafe withAccount(userData) { unsafe $0.memory.allocate(byteCount, &$0.heldByteCount) }
}

private func allocateZeroedBlock(
    _ count: Int, _ byteCount: Int, _ userData: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    let (total, isTooLarge) = count.multipliedReportingOverflow(by: byteCount)
    guard !isTooLarge else { return nil }
    if total == HTTP2Memory.pageByteCount {
        return unsafe withAccount(userData) { unsafe $0.memory.allocateZeroedPage(&$0.heldByteCount) }
    }
    guard let block = unsafe allocateBlock(total, userData) else { return nil }
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: total)
    return unsafe block
}

private func freeBlock(_ block: UnsafeMutableRawPointer?, _ userData: UnsafeMutableRawPointer?) {
    guard let block = unsafe block else { return }
    unsafe withAccount(userData) { unsafe $0.memory.free(block, &$0.heldByteCount) }
}

private func resizeBlock(
    _ block: UnsafeMutableRawPointer?, _ byteCount: Int, _ userData: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    unsafe withAccount(userData) { account in
        guard let block = unsafe block else { return unsafe account.memory.allocate(byteCount, &account.heldByteCount) }
        return unsafe account.memory.resize(block, byteCount, &account.heldByteCount)
    }
}
