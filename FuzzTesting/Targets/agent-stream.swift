// SPDX-License-Identifier: Apache-2.0
//
// modules: PushCore PushAPI PayloadLint CommandLineKit CPushShims PushNet PushTLS PushCurl PushWebSocket PushSQL PushSQLite PushDBus PushSound PushINI LinuxDesktop AgentStore AgentBus DeviceAgent
// checks: Tests/DeviceAgentTests/AgentStreamFuzzCheck.swift

/// Tries one input; called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ byteCount: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: byteCount))
    if let failure = AgentStreamFuzzCheck.stream(input) { fatalError(failure) }
    return 0
}
