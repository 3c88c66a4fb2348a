// SPDX-License-Identifier: Apache-2.0
//
// modules: PushCore PushAPI PayloadLint CommandLineKit CPushShims PushNet PushTLS PushHTTP PushWebSocket PushSQL PushSQLite PushCurl PushINI PushStore PushCluster PushServing PushServer
// checks: Tests/PushServerTests/DeviceAPIFuzzCheck.swift

/// Tries one input; called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ byteCount: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: byteCount))
    if let failure = DeviceAPIFuzzCheck.requests(input) { fatalError(failure) }
    return 0
}
