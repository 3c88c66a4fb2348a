// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushDBus
package import PushNet

/// Opens links through the desktop portal, or with `xdg-open` where there is no portal; never through a shell.
///
/// ```
/// OpenURI ──▶ accepted ──▶ Response 0 or 1, or no Response yet ──▶ opened
///    │            └──────▶ Response 2 ──▶ failed
///    └── no portal ──▶ xdg-open ──▶ still runs or status 0 ──▶ opened
/// ```
///
/// - SeeAlso: XDG Desktop Portal, `org.freedesktop.portal.OpenURI` and `org.freedesktop.portal.Request`.
package final class LinkOpener {
    private static let portal = "org.freedesktop.portal.Desktop"
    private static let path = "/org/freedesktop/portal/desktop"
    private static let fallbackProgram = "xdg-open"

    private let connection: BusConnection
    private let loop: EventLoop
    private let environment: [String: String]
    private let entries: DesktopEntries
    private let children: ChildProcesses
    private let answerTimeout: Duration
    /// The requests to the portal without an answer, by the path of their object.
    private var waiting: [String: Request] = [:]
    private var isSubscribed = false
    private var serial = 0

    private struct Request {
        /// Runs once the portal has accepted the request.
        var timer: TimerID?
        var completion: (Result<Void, AppOpenError>) -> Void
    }

    /// Creates the opener with its means of reaching and starting programs.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The agent's environment; `xdg-open` gets it without the agent's private variables.
    ///   - answerTimeout: The time after which a request without an answer counts as opened: the portal may show a
    ///     dialog, in which the user chooses a program.
    package init(
        connection: BusConnection, loop: EventLoop, environment: [String: String],
        answerTimeout: Duration = Limits.portalAnswerTimeout
    ) {
        self.connection = connection
        self.loop = loop
        self.environment = environment
        self.answerTimeout = answerTimeout
        entries = DesktopEntries(environment: environment)
        children = ChildProcesses(loop: loop)
    }

    /// Opens a link once.
    ///
    /// - Parameters:
    ///   - link: The link; its scheme and its host have been checked.
    ///   - activationToken: The token that lets the program raise its window.
    ///   - completion: Called once.
    package func open(
        _ link: String, activationToken: String?, completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        guard subscribe() else { return execute(link, activationToken, completion) }
        serial += 1
        let token = "posthorn\(serial)"
        let sender = connection.uniqueName.dropFirst().map { $0 == "." ? "_" : String($0) }.joined()
        let path = "\(Self.path)/request/\(sender)/\(token)"
        waiting[path] = Request(completion: completion)
        var options: [(String, BusValue)] = [("handle_token", .string(token))]
        if let activationToken { options.append(("activation_token", .string(activationToken))) }
        connection.send(
            Self.portal, Self.path, "org.freedesktop.portal.OpenURI", "OpenURI",
            [.string(""), .string(link), .dictionary(options)]
        ) { [weak self] answer in
            guard let self else { return }
            if case .failure(let error) = answer { return refused(path, link, activationToken, error) }
            let timer = loop.schedule(after: answerTimeout) { [weak self] in self?.answer(path, .success(())) }
            waiting[path]?.timer = timer
        }
    }

    private func refused(_ path: String, _ link: String, _ activationToken: String?, _ error: BusError) {
        guard AppStarter.provesNotReceived(error) else {
            return answer(path, .failure(.linkNotOpened("\(error.name): \(error.message)")))
        }
        guard let request = waiting.removeValue(forKey: path) else { return }
        execute(link, activationToken, request.completion)
    }

    /// Subscribes once to the portal's answers; returns false if the bus refuses.
    private func subscribe() -> Bool {
        if isSubscribed { return true }
        do {
            try connection.subscribe(
                sender: Self.portal, path: nil, interface: "org.freedesktop.portal.Request", member: "Response"
            ) { [weak self] signal in
                // The path distinguishes the requests. A forged answer can only change what the user is told.
                guard let code = signal.arguments.first?.integerValue else { return }
                let isFailure = code != 0 && code != 1
                self?.answer(
                    signal.path,
                    isFailure ? .failure(.linkNotOpened("the desktop portal has no program for it")) : .success(()))
            }
            isSubscribed = true
        } catch {
            return false
        }
        return true
    }

    private func answer(_ path: String, _ result: Result<Void, AppOpenError>) {
        guard let request = waiting.removeValue(forKey: path) else { return }
        if let timer = request.timer { loop.cancel(timer) }
        request.completion(result)
    }

    /// Starts `xdg-open`; an early exit with another status than 0 counts as a failure.
    private func execute(
        _ link: String, _ activationToken: String?, _ completion: @escaping (Result<Void, AppOpenError>) -> Void
    ) {
        let name = Self.fallbackProgram
        guard let program = entries.program(name) else {
            return completion(.failure(.linkNotOpened("there is neither a desktop portal nor \(name)")))
        }
        var launch = ProgramLaunch(program, [name, link], environment: ProgramEnvironment.withoutOwn(environment))
        launch.environment["XDG_ACTIVATION_TOKEN"] = activationToken
        launch.environment["DESKTOP_STARTUP_ID"] = activationToken
        do throws(NetError) {
            try children.start(launch) { status in
                let isFailure = status != nil && status != 0
                completion(
                    isFailure ? .failure(.linkNotOpened("\(name) ended with status \(status ?? 0)")) : .success(()))
            }
        } catch {
            completion(.failure(.linkNotOpened("\(program) cannot be started")))
        }
    }
}
