// SPDX-License-Identifier: Apache-2.0
// modules: CPushShims PushNet
// checks: Tests/PushNetTests/ProxyHeaderFuzzCheck.swift

/// Tries one input; called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ byteCount: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: byteCount))
    if let failure = ProxyHeaderFuzzCheck.header(input) { fatalError(failure) }
    return 0
}
