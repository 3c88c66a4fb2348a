// SPDX-License-Identifier: Apache-2.0
//
// modules: PushCore PushAPI CPushShims PushNet PushTLS PushWebSocket PushSQL PushSQLite PushStore PushCluster
// checks: Tests/PushClusterTests/Messages/NodeMessageFuzzCheck.swift

/// Tries one input; called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ byteCount: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: byteCount))
    if let failure = NodeMessageFuzzCheck.packet(input) { fatalError(failure) }
    return 0
}
