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
    private static let pageByteCount = 4096

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

    /// Calls the body with the functions in nghttp2's form, which are good as long as this object.
    func lend<Result>(_ body: (UnsafeMutablePointer<nghttp2_mem>) -> Result) -> Result {
        var functions = unsafe nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(), malloc: allocateBlock, free: freeBlock,
            calloc: allocateZeroedBlock, realloc: resizeBlock)
        return unsafe body(&functions)
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

    fileprivate func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount <= Self.keptBlockByteCountMax else { return unsafe allocateLarge(byteCount) }
        // `malloc` gives 24, 40, 56 … usable bytes.
        let index = max(byteCount + 7, 16) / 16
        if let block = unsafe pop(index) {
            keptByteCount -= index * 16
            return unsafe block
        }
        return unsafe Glibc.malloc(index * 16 + 8)
    }

    private func allocateLarge(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount == Self.frameBufferByteCount else { return unsafe Glibc.malloc(byteCount) }
        // Pages of its own, so that `forget` touches nothing else.
        unsafe latestFrameBuffer = aligned_alloc(Self.pageByteCount, Self.wholePages(byteCount))
        return unsafe latestFrameBuffer
    }

    fileprivate func free(_ block: UnsafeMutableRawPointer) {
        let index = unsafe (malloc_usable_size(block) - 8) / 16
        guard unsafe index < lists.count, keptByteCount < Self.keptByteCountMax else { return unsafe Glibc.free(block) }
        unsafe block.storeBytes(of: lists[index], as: UnsafeMutableRawPointer?.self)
        unsafe lists[index] = block
        keptByteCount += index * 16
    }

    fileprivate func resize(_ block: UnsafeMutableRawPointer, _ byteCount: Int) -> UnsafeMutableRawPointer? {
        let usableByteCount = unsafe malloc_usable_size(block)
        guard byteCount > usableByteCount else { return unsafe block }
        guard let larger = unsafe allocate(byteCount) else { return nil }
        unsafe larger.copyMemory(from: block, byteCount: usableByteCount)
        unsafe free(block)
        return unsafe larger
    }

    private func pop(_ index: Int) -> UnsafeMutableRawPointer? {
        guard let block = unsafe lists[index] else { return nil }
        unsafe lists[index] = block.load(as: UnsafeMutableRawPointer?.self)
        return unsafe block
    }
}

/// The memory that a callback is for: `mem_user_data`, which the session keeps.
private func withMemory<Result>(_ userData: UnsafeMutableRawPointer?, _ body: (HTTP2Memory) -> Result) -> Result {
    guard let userData = unsafe userData else { preconditionFailure("nghttp2 lost the user data of its memory") }
    return unsafe Unmanaged<HTTP2Memory>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
}

private func allocateBlock(_ byteCount: Int, _ userData: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    unsafe withMemory(userData) { unsafe $0.allocate(byteCount) }
}

private func allocateZeroedBlock(
    _ count: Int, _ byteCount: Int, _ userData: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    let (total, isTooLarge) = count.multipliedReportingOverflow(by: byteCount)
    guard !isTooLarge, let block = unsafe withMemory(userData, { unsafe $0.allocate(total) }) else { return nil }
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: total)
    return unsafe block
}

private func freeBlock(_ block: UnsafeMutableRawPointer?, _ userData: UnsafeMutableRawPointer?) {
    guard let block = unsafe block else { return }
    unsafe withMemory(userData) { unsafe $0.free(block) }
}

private func resizeBlock(
    _ block: UnsafeMutableRawPointer?, _ byteCount: Int, _ userData: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    unsafe withMemory(userData) { memory in
        guard let block = unsafe block else { return unsafe memory.allocate(byteCount) }
        return unsafe memory.resize(block, byteCount)
    }
}
