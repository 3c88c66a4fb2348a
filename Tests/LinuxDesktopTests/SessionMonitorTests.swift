// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import TestSupport
import Testing

/// A program on the bus that answers one question.
private final class Teller {
    let connection: BusConnection
    /// The answer to each question; nil drops questions.
    var answer: BusValue?
    private(set) var questionCount = 0
    private let driver: BusDriver

    init(_ session: BusSession, _ program: SessionMonitorTests.Program, _ answer: BusValue) throws {
        self.answer = answer
        connection = try BusConnection(.address(session.bus.address))
        driver = try BusDriver(loop: session.loop, connection: connection)
        try connection.serve(
            path: program.path, interface: program.interface, introspection: "<node/>",
            replyingLater: { [weak self] call, reply in
                guard let self, call.member == program.member else {
                    return reply.answer(.failure(BusError(name: BusError.unknownMethodName, message: call.member)))
                }
                questionCount += 1
                if let answer = self.answer { reply.answer(.success([answer])) }
            })
        _ = try connection.requestName(program.name)
    }
}

/// Checks the watched state of the desktop, as the desktop's own programs report it.
struct SessionMonitorTests {
    /// A program with its question, and the signal by which it reports a change.
    struct Program: Sendable, CustomTestStringConvertible {
        var name: String
        var path: String
        var interface: String
        var member: String
        var yes = BusValue.bool(true)
        var no = BusValue.bool(false)
        var signalPath: String?
        var signal = "PropertiesChanged"
        var isLock = false
        var testDescription: String { "\(name) \(member)" }
    }

    private static let properties = "org.freedesktop.DBus.Properties"
    static let programs =
        ["org.gnome.ScreenSaver", "org.freedesktop.ScreenSaver", "org.cinnamon.ScreenSaver"].map {
            Program(
                name: $0, path: "/" + $0.split(separator: ".").joined(separator: "/"), interface: $0,
                member: "GetActive", signal: "ActiveChanged", isLock: true)
        } + [
            Program(
                name: "org.freedesktop.login1", path: "/org/freedesktop/login1/session/auto",
                interface: properties, member: "Get", yes: .variant(.bool(true)), no: .variant(.bool(false)),
                signalPath: "/org/freedesktop/login1/session/_32", isLock: true),
            Program(
                name: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
                interface: properties, member: "Get", yes: .variant(.bool(true)), no: .variant(.bool(false))),
            Program(
                name: "org.freedesktop.Notifications", path: "/fr/emersion/Mako", interface: "fr.emersion.Mako",
                member: "ListModes", yes: .strings(["default", "do-not-disturb"]), no: .strings(["default"])),
            Program(
                name: "org.xfce.Xfconf", path: "/org/xfce/Xfconf", interface: "org.xfce.Xfconf",
                member: "GetProperty", yes: .variant(.bool(true)), no: .variant(.bool(false)),
                signal: "PropertyChanged"),
            Program(
                name: "org.erikreider.swaync.cc", path: "/org/erikreider/swaync/cc",
                interface: "org.erikreider.swaync.cc", member: "GetDnd", signal: "Subscribe"),
        ]

    @Test(arguments: programs)
    func `a program's state applies from its start to its end`(program: Program) async throws {
        let session = try BusSession(await DesktopBus())
        let watch = SessionMonitor()
        let sources = DesktopStateSource.logind + DesktopStateSource.lockers + DesktopStateSource.quiet
        try watch.watch(sources, on: session.connection)
        var changeCount = 0
        watch.onChange = { changeCount += 1 }
        var teller: Teller? = try Teller(session, program, program.yes)
        try await session.run(until: "it holds") { watch.isLocked || watch.isQuiet }
        #expect((watch.isLocked, watch.isQuiet) == (program.isLock, !program.isLock))
        teller?.answer = program.no
        try say(program, teller)
        try await session.run(until: "it holds no longer") { !watch.isLocked && !watch.isQuiet }
        teller?.answer = program.yes
        try say(program, teller)
        try await session.run(until: "it holds again") { watch.isLocked || watch.isQuiet }
        teller = nil
        try await session.run(until: "nobody says so any more") { !watch.isLocked && !watch.isQuiet }
        #expect(changeCount >= 4)
        #expect(teller == nil)
    }

    private func say(_ program: Program, _ teller: Teller?) throws {
        try teller?.connection.emit(
            program.signalPath ?? program.path,
            program.signal == "PropertiesChanged" ? Self.properties : program.interface, program.signal, [])
    }

    private static let logind = programs[3]

    @Test(arguments: [true, false])
    func `the lock state is kept when its bus is lost, until the next bus reports it`(isLocked: Bool) async throws {
        let first = try BusSession(await DesktopBus())
        let watch = SessionMonitor()
        let sources = DesktopStateSource.logind + DesktopStateSource.power
        try watch.watch(sources, on: first.connection)
        var teller: Teller? = try Teller(first, Self.logind, .variant(.bool(isLocked)))
        try await first.run(until: "it was asked") { teller?.questionCount ?? 0 > 0 && watch.isLocked == isLocked }
        let second = try BusSession(await DesktopBus())
        try watch.watch(sources, on: second.connection)
        #expect(watch.isLocked == isLocked, "logind is not back yet")
        // The first bus no longer has a listener.
        teller = nil
        try await first.run(until: "it is gone") { try first.connection.owner(of: Self.logind.name) == nil }
        #expect(watch.isLocked == isLocked)
        teller = try Teller(second, Self.logind, .variant(.bool(!isLocked)))
        try await second.run(until: "it is as logind says") {
            teller?.questionCount ?? 0 > 0 && watch.isLocked == !isLocked
        }
    }

    @Test func `programs that are already on the next bus are queried`() async throws {
        let first = try BusSession(await DesktopBus())
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.logind, on: first.connection)
        let second = try BusSession(await DesktopBus())
        let teller = try Teller(second, Self.logind, Self.logind.yes)
        try await second.run(until: "it is there") { try second.connection.owner(of: Self.logind.name) != nil }
        try watch.watch(DesktopStateSource.logind, on: second.connection)
        try await second.run(until: "it is locked") { watch.isLocked }
        #expect(teller.questionCount == 1)
    }

    @Test func `a signal that another program forges changes nothing`() async throws {
        let session = try BusSession(await DesktopBus())
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.lockers, on: session.connection)
        let program = Self.programs[0]
        let teller = try Teller(session, program, program.no)
        try await session.run(until: "it is there") { try session.connection.owner(of: program.name) != nil }
        try await session.bus.busctl(
            "emit", "--destination=\(session.connection.uniqueName)", program.path, program.interface,
            program.signal, "b", "true"
        ).succeeded()
        teller.answer = program.yes
        #expect(!watch.isLocked)
        try say(program, teller)
        try await session.run(until: "the program's own word counts") { watch.isLocked }
    }

    @Test func `an invalid answer is ignored`() async throws {
        let session = try BusSession(await DesktopBus())
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.lockers, on: session.connection)
        let program = Self.programs[0]
        let teller = try Teller(session, program, program.yes)
        try await session.run(until: "it is locked") { watch.isLocked }
        teller.answer = .string("true")
        try say(program, teller)
        try await session.run(until: "it is not locked") { !watch.isLocked }
    }

    @Test func `a locker that has not answered yet counts as locked`() async throws {
        let session = try BusSession(await DesktopBus())
        let program = Self.programs[0]
        // The locker runs in this thread, so it cannot answer while the watch waits for it.
        let teller = try Teller(session, program, program.no)
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.lockers + DesktopStateSource.quiet, on: session.connection)
        #expect(watch.isLocked)
        #expect(!watch.isQuiet)
        try await session.run(until: "its answer counts") { !watch.isLocked }
        #expect(teller.questionCount == 2)
    }

    @Test func `a locker's last state applies while it does not answer`() async throws {
        let session = try BusSession(await DesktopBus())
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.lockers, on: session.connection)
        let program = Self.programs[0]
        let teller = try Teller(session, program, program.yes)
        try await session.run(until: "it answered") { teller.questionCount == 1 && watch.isLocked }
        teller.answer = nil
        // The second question follows the failure of the first.
        for _ in 1...2 { try say(program, teller) }
        try await session.run(until: "two questions are dropped") { teller.questionCount == 3 }
        #expect(watch.isLocked)
        teller.answer = program.no
        try say(program, teller)
        try await session.run(until: "it answers again") { !watch.isLocked }
    }

    @Test func `the value in a signal counts when the locker does not answer`() async throws {
        let session = try BusSession(await DesktopBus())
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.lockers, on: session.connection)
        let program = Self.programs[0]
        let teller = try Teller(session, program, program.no)
        try await session.run(until: "it answered") { teller.questionCount == 1 && !watch.isLocked }
        teller.answer = nil
        for value in [true, false, true] {
            try teller.connection.emit(program.path, program.interface, program.signal, [.bool(value)])
            try await session.run(until: "it counts") { watch.isLocked == value }
        }
    }

    @Test(.tags(.slow)) func `dunst's pause state is read at the start and followed`() async throws {
        let screen = try await DesktopScreen()
        try await screen.keepRunning(.dunst)
        try await setPaused(true, screen.bus)
        let session = try BusSession(screen.bus)
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.quiet, on: session.connection)
        #expect(watch.isQuiet)
        #expect(!watch.isLocked)
        try await setPaused(false, screen.bus)
        try await session.run(until: "it is not quiet") { !watch.isQuiet }
    }

    @Test(.tags(.slow)) func `Xfce's do-not-disturb state is read at the start and followed`() async throws {
        let screen = try await DesktopScreen()
        try await screen.keepRunning(.xfce)
        try await screen.bus.setXfceQuiet(true)
        let session = try BusSession(screen.bus)
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.quiet, on: session.connection)
        #expect(watch.isQuiet)
        try await screen.bus.setXfceQuiet(false)
        try await session.run(until: "it is not quiet") { !watch.isQuiet }
    }

    private func setPaused(_ isPaused: Bool, _ bus: DesktopBus) async throws {
        try await bus.busctl(
            "set-property", "org.freedesktop.Notifications", "/org/freedesktop/Notifications",
            "org.dunstproject.cmd0", "paused", "b", "\(isPaused)"
        ).succeeded()
    }
}

extension DesktopBus {
    /// Turns Xfce's do-not-disturb on or off.
    func setXfceQuiet(_ isQuiet: Bool) async throws {
        try await busctl(
            "call", "org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf", "SetProperty", "ssv", "xfce4-notifyd",
            "/do-not-disturb", "b", "\(isQuiet)"
        ).succeeded()
    }
}
