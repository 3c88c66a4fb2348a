// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentStore
@testable import DeviceAgent
import Foundation
@testable import LinuxDesktop
import PushAPI
import PushCore
import PushDBus
@testable import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Runs the agent's service on a real bus with the rules for callers, and calls it as callers of all kinds.
final class CallerHarness {
    let bus: DesktopBus
    let files: TemporaryDirectory
    let harness: AgentHarness
    private let rules: CallerRules
    private let service: AgentService
    private let client: BusConnection
    private let drivers: [BusDriver]

    /// Starts the service.
    ///
    /// - Parameter processes: Whether the folder `proc` of `files` describes callers, instead of the system's `/proc`.
    /// - Throws: The error of the bus, the files or the agent.
    init(processes: Bool = false) async throws {
        bus = try await DesktopBus()
        files = try TemporaryDirectory()
        try files.makeDirectory("data/applications")
        try files.makeDirectory("tools")
        harness = try AgentHarness(in: files)
        let connection = try BusConnection(.address(bus.address))
        client = try BusConnection(.address(bus.address))
        drivers = try [connection, client].map { [loop = harness.loop] in try BusDriver(loop: loop, connection: $0) }
        let environment = ["XDG_DATA_HOME": files.path(of: "data"), "XDG_DATA_DIRS": "/nonexistent"]
        rules = CallerRules(
            connection, loop: harness.loop, environment: environment, toolFolder: files.path(of: "tools"),
            processFolder: processes ? files.path(of: "proc") : "/proc")
        service = try AgentService(harness.agent, on: connection, deviceName: "test", callers: rules)
        try harness.agent.start()
        _ = try service.claimName()
    }

    /// Describes this process as one that runs a program with a command line.
    func pretend(_ program: String, _ line: [String], flatpak: String? = nil) throws {
        let process = "proc/\(getpid())"
        for folder in ["root", "cwd"] { try files.makeDirectory("\(process)/\(folder)") }
        try FileManager.default.createSymbolicLink(
            atPath: files.path(of: "\(process)/exe"), withDestinationPath: program)
        try files.write(line.map { "\($0)\0" }.joined(), to: "\(process)/cmdline")
        guard let flatpak else { return }
        let root = "\(process)/root"
        try files.write("[Application]\nname=\(flatpak)\n\n[Instance]\nname=no\n", to: "\(root)/.flatpak-info")
    }

    func addApp(_ appID: String, exec: String) throws {
        try files.write(
            "[Desktop Entry]\nType=Application\nName=App\nExec=\(exec)\n", to: "data/applications/\(appID).desktop")
    }

    /// Calls as this process and returns the last part of the error's name, or an empty text for success.
    func call(_ member: String, _ arguments: [BusValue]) async throws -> String {
        var result: Result<[BusValue], BusError>?
        client.send(AgentInterface.name, AgentInterface.path, AgentInterface.name, member, arguments) { result = $0 }
        try await harness.loop.run("\(member) is answered") { result != nil }
        guard case .failure(let error) = result else { return "" }
        return error.name.split(separator: ".").last.map(String.init) ?? ""
    }

    /// Registers an app as this process and returns the last part of the error's name.
    ///
    /// - Parameters:
    ///   - appID: The app's ID.
    ///   - options: The options of the call, by name.
    /// - Returns: `NotEnrolled` when the rules permit the call.
    /// - Throws: `NeverHappened` when there is no answer.
    func register(_ appID: String, _ options: (String, String)...) async throws -> String {
        try await call("Register", [.string(appID), .dictionary(options.map { ($0.0, .string($0.1)) })])
    }

    /// Makes many calls as this process before reading any answer, and returns the last parts of the errors' names.
    func callAtOnce(_ count: Int, _ member: String, _ arguments: [BusValue]) async throws -> [String] {
        var answers: [String] = []
        for _ in 0..<count {
            client.send(AgentInterface.name, AgentInterface.path, AgentInterface.name, member, arguments) { answer in
                guard case .failure(let error) = answer else { return answers.append("") }
                answers.append(error.name.split(separator: ".").last.map(String.init) ?? "")
            }
        }
        try await harness.loop.run("all are answered") { answers.count == count }
        return answers
    }

    /// Returns whether this process may use the item in the tray.
    func mayUseTray() async throws -> Bool {
        var isAllowed: Bool?
        rules.decideOnTray(for: client.uniqueName) { isAllowed = $0 }
        try await harness.loop.run("the rules decide") { isAllowed != nil }
        return isAllowed ?? false
    }

    func holdName(_ name: String) throws { #expect(try client.requestName(name)) }

    /// Runs a program on the bus to its end, and returns its output.
    func run(_ program: String, _ arguments: [String]) async throws -> String {
        let process = try RunningProcess(
            program, arguments, environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try await harness.loop.run("\(program) ends") { process.exit != nil }
        return process.output + process.errorOutput
    }

    /// Copies a program and returns the path of the copy.
    ///
    /// Another process makes the copy. A parallel test's fork could hold a file open that this process writes, and such
    /// a file cannot be executed.
    ///
    /// - Parameters:
    ///   - program: The program's path.
    ///   - path: The path of the copy in the test's directory.
    /// - Returns: The absolute path of the copy.
    /// - Throws: The error of the copying process.
    func copy(_ program: String, to path: String) async throws -> String {
        let copy = files.path(of: path)
        try await RunningProcess.run("/usr/bin/install", ["-m", "755", program, copy]).succeeded()
        return copy
    }
}
