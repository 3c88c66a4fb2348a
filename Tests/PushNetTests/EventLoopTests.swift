// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import Testing

@Suite struct EventLoopTests {
    @Test func `a handler is notified of input in each turn until it reads`() throws {
        let loop = try EventLoop()
        let pair = try SocketPair()
        let near = pair.near.rawValue
        var turns: [Readiness] = []
        _ = try loop.register(
            near, for: .readable,
            handler: ClosureHandler { [unowned loop] readiness in
                turns.append(readiness)
                if turns.count == 3 {
                    #expect((try? receive(from: near)) == "x")
                    loop.schedule(after: .zero) { loop.stop() }
                }
            })
        try pair.sendToNear()
        runUntilStopped(loop)
        #expect(turns == [.readable, .readable, .readable])
    }

    @Test func `a hang-up is reported to a handler that watches nothing`() throws {
        let loop = try EventLoop()
        let near: FileDescriptor
        do {
            let pair = try SocketPair()
            near = FileDescriptor(adopting: dup(pair.near.rawValue))
        }
        var heard: Readiness?
        _ = try loop.register(
            near.rawValue, for: [],
            handler: ClosureHandler { [unowned loop] readiness in
                heard = readiness
                loop.stop()
            })
        runUntilStopped(loop)
        #expect(heard == .failed)
    }

    @Test func `a socket with free buffer space is writable until that is no longer watched`() throws {
        let loop = try EventLoop()
        let pair = try SocketPair()
        var registration: Registration?
        var calls: [Readiness] = []
        let handler = ClosureHandler { [unowned loop] readiness in
            calls.append(readiness)
            if let registration { #expect(throws: Never.self) { try loop.modify(registration, for: .readable) } }
            loop.schedule(after: .zero) { loop.stop() }
        }
        registration = try loop.register(pair.near.rawValue, for: [.readable, .writable], handler: handler)
        runUntilStopped(loop)
        #expect(calls == [.writable])
    }

    @Test func `a handler that was deregistered by another one in the same turn is not called`() throws {
        let loop = try EventLoop()
        let pairs = [try Unmoved(), try Unmoved()]
        var registrations: [Registration] = []
        var callCount = 0
        for (index, pair) in pairs.enumerated() {
            let handler = ClosureHandler { [unowned loop] _ in
                callCount += 1
                loop.deregister(registrations[1 - index])
                loop.schedule(after: .zero) { loop.stop() }
                #expect((try? pair.value.drainNear()) == "x")
            }
            registrations.append(try loop.register(pair.value.near.rawValue, for: .readable, handler: handler))
            try pair.value.sendToNear()
        }
        runUntilStopped(loop)
        #expect(callCount == 1)
    }

    @Test func `a new registration does not get the event of the slot's previous one`() throws {
        let loop = try EventLoop()
        let pairs = [try Unmoved(), try Unmoved()]
        let quiet = try SocketPair()
        let quietNumber = quiet.near.rawValue
        var registrations: [Registration] = []
        var reused: Registration?
        var wasQuietCalled = false
        for (index, pair) in pairs.enumerated() {
            let handler = ClosureHandler { [unowned loop] _ in
                #expect((try? pair.value.drainNear()) == "x")
                loop.deregister(registrations[1 - index])
                reused = try? loop.register(
                    quietNumber, for: .readable, handler: ClosureHandler { _ in wasQuietCalled = true })
                #expect(reused?.slot == registrations[1 - index].slot)
                loop.schedule(after: .zero) { loop.stop() }
            }
            registrations.append(try loop.register(pair.value.near.rawValue, for: .readable, handler: handler))
            try pair.value.sendToNear()
        }
        runUntilStopped(loop)
        #expect(reused != nil)
        #expect(!wasQuietCalled)
    }

    @Test func `a handler may deregister itself and is released, and its deinit may call the loop`() throws {
        final class Fragile: EventHandler {
            let loop: EventLoop
            var registration: Registration?
            let farewell: () -> Void
            init(_ loop: EventLoop, farewell: @escaping () -> Void) {
                self.loop = loop
                self.farewell = farewell
            }
            deinit {
                loop.schedule(after: .zero) { [loop] in loop.stop() }
                if let registration { loop.deregister(registration) }
                farewell()
            }
            func ready(_ readiness: Readiness) {
                if let registration { loop.deregister(registration) }
            }
        }
        let loop = try EventLoop()
        let pair = try SocketPair()
        var isReleased = false
        do {
            let handler = Fragile(loop) { isReleased = true }
            handler.registration = try loop.register(pair.near.rawValue, for: .readable, handler: handler)
        }
        try pair.sendToNear()
        runUntilStopped(loop)
        #expect(isReleased)
    }

    @Test func `more descriptors than one turn handles are all served`() throws {
        let loop = try EventLoop()
        let pair = try SocketPair()
        try pair.sendToNear()
        var waiting = Set<Int32>()
        var copies: [OwnedDescriptor] = []
        for _ in 0..<300 {
            let copy = OwnedDescriptor(dup(pair.near.rawValue))
            let number = copy.value.rawValue
            copies.append(copy)
            waiting.insert(number)
            var registration: Registration?
            let handler = ClosureHandler { [unowned loop] _ in
                waiting.remove(number)
                if let registration { loop.deregister(registration) }
                if waiting.isEmpty { loop.stop() }
            }
            registration = try loop.register(number, for: .readable, handler: handler)
        }
        runUntilStopped(loop)
        #expect(waiting.isEmpty)
    }

    @Test func `a file that cannot be polled and a duplicate descriptor are refused`() throws {
        let loop = try EventLoop()
        let pair = try SocketPair()
        let file = FileDescriptor(adopting: unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC))
        let handler = ClosureHandler { _ in }
        _ = try loop.register(pair.near.rawValue, for: .readable, handler: handler)
        for (number, code) in [(file.rawValue, EPERM), (pair.near.rawValue, EEXIST)] {
            #expect(throws: NetError.system(call: "epoll_ctl", code: code, subject: "descriptor \(number)")) {
                _ = try loop.register(number, for: .readable, handler: handler)
            }
        }
    }

    @Test func `deregistering twice does nothing, not even to the slot's next owner`() throws {
        let loop = try EventLoop()
        let first = try SocketPair()
        let second = try SocketPair()
        let old = try loop.register(first.near.rawValue, for: .readable, handler: ClosureHandler { _ in })
        loop.deregister(old)
        let handler = ClosureHandler { [unowned loop] _ in loop.stop() }
        let new = try loop.register(second.near.rawValue, for: .readable, handler: handler)
        #expect(new.slot == old.slot)
        loop.deregister(old)
        try second.sendToNear()
        runUntilStopped(loop)
    }

    @Test func `modifying after deregistering stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = try EventLoop()
            let pair = try SocketPair()
            let registration = try loop.register(pair.near.rawValue, for: .readable, handler: ClosureHandler { _ in })
            loop.deregister(registration)
            try loop.modify(registration, for: .writable)
        }
        #expect(says(result, "modified after it was deregistered"))
    }

    @Test func `closing a descriptor before deregistering it stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = try EventLoop()
            var registration: Registration?
            do {
                let pair = try SocketPair()
                registration = try loop.register(
                    pair.near.rawValue, for: .readable, handler: ClosureHandler { _ in })
            }
            if let registration { loop.deregister(registration) }
        }
        #expect(says(result, "closed before it was deregistered"))
    }
}

/// A socket pair in a class, so that closures can capture it.
final class Unmoved {
    let value: SocketPair

    init() throws { value = try SocketPair() }
}

/// A descriptor in a class, so that arrays can hold it.
final class OwnedDescriptor {
    let value: FileDescriptor

    init(_ number: Int32) { value = FileDescriptor(adopting: number) }
}

/// Returns whether the process wrote this text before it ended.
func says(_ result: ExitTest.Result?, _ text: String) -> Bool {
    guard let result else { return false }
    return String(decoding: result.standardErrorContent, as: UTF8.self).contains(text)
}
