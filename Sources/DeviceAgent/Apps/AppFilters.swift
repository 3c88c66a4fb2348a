// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushCore
internal import PushDBus
internal import PushNet

/// Runs the filters of apps: the D-Bus method `org.posthorn.App1.Filter`, or a program without a shell.
final class AppFilters: AppFilter {
    /// The time limit of a filter; after it, the notification stays unchanged.
    static let timeLimit: Duration = .seconds(5)
    /// The maximum size of a filter's answer in bytes; with a longer answer, the notification stays unchanged.
    static let answerByteCountMax = 64 * 1024

    private let connection: BusConnection?
    private let loop: EventLoop
    private let environment: [String: String]
    private let timeLimit: Duration

    /// Creates the runner with its means of reaching apps.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller; nil without a bus.
    ///   - loop: The loop on whose thread this runs.
    ///   - environment: The agent's environment; programs get it without the agent's private variables.
    ///   - timeLimit: The time limit of each filter.
    init(
        connection: BusConnection?, loop: EventLoop, environment: [String: String],
        timeLimit: Duration = AppFilters.timeLimit
    ) {
        self.connection = connection
        self.loop = loop
        self.environment = environment
        self.timeLimit = timeLimit
    }

    func filter(
        appID: AppID, by filter: AppManifest.Filter, notification: [UInt8],
        completion: @escaping (Result<[UInt8], AppFilterError>) -> Void
    ) {
        switch filter {
        case .bus: ask(appID, notification, completion)
        case .program(let words): run(words, notification, completion)
        }
    }

    private func ask(
        _ appID: AppID, _ notification: [UInt8], _ completion: @escaping (Result<[UInt8], AppFilterError>) -> Void
    ) {
        func fail(_ reason: String) {
            loop.atEndOfTurn { completion(.failure(AppFilterError("the app's filter cannot be called: \(reason)"))) }
        }
        guard let connection else { return fail("the agent has no session bus") }
        guard AppStarter.isBusName(appID) else { return fail("'\(appID)' is not a valid bus name") }
        connection.send(
            appID.text, AppStarter.objectPath(of: appID), AppLauncher.interface, "Filter",
            [.string(String(decoding: notification, as: UTF8.self))], timeout: timeLimit
        ) { answer in
            switch answer {
            case .success(let values): completion(AppFilters.payload(in: values))
            case .failure(let error):
                completion(.failure(AppFilterError("the filter failed: \(error.name): \(error.message)")))
            }
        }
    }

    private static func payload(in values: [BusValue]) -> Result<[UInt8], AppFilterError> {
        guard let text = values.first?.stringValue else {
            return .failure(AppFilterError("the filter must return one string"))
        }
        guard text.utf8.count <= answerByteCountMax else {
            return .failure(AppFilterError("the filter wrote more than \(answerByteCountMax) bytes"))
        }
        return .success(Array(text.utf8))
    }

    private func run(
        _ words: [String], _ notification: [UInt8], _ completion: @escaping (Result<[UInt8], AppFilterError>) -> Void
    ) {
        guard let program = words.first else { preconditionFailure("a manifest names the filter's program") }
        let command = LimitedProcess.Command(
            program, Array(words.dropFirst()), environment: environment, input: notification)
        // The loop retains the process until it has ended.
        _ = LimitedProcess(
            command, on: loop, timeLimit: timeLimit, outputByteCountMax: AppFilters.answerByteCountMax,
            log: agentLog
        ) { result in
            completion(result.mapError { AppFilterError("the filter \($0.message)") })
        }
    }
}
